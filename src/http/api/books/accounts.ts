import type { Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import {
  describeMapChange,
  listUnmappedAccounts,
  readAccountMap,
  setAccountMap,
} from '../../../ledger/stated/account-map.ts';
import { platform } from '../../../operations/fields.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parseBody } from '../../parse-request.ts';

const text = z.string('must be a text, or null').trim().min(1, 'must be a text, or null').nullable().default(null);

export const accountMapSchema = z.strictObject({
  accounts: z.array(
    z.strictObject({
      account: z.string('must be an account of the ledger').describe('without its platform: Assets:Provider:Held'),
      platform: platform.nullable().default(null).describe('null: each platform without a row of its own'),
      code: text.describe("the account in the customer's chart"),
      category: text.describe('its category, for Conta Azul'),
      cost_center: text,
      history: text.describe('the number of a standard text, for Calima'),
    }),
    'must be a list of rows',
  ),
});

/** The map of our accounts to the customer's chart of accounts, given whole. */
export function accountRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/accounts', requireRole('viewer'), async (_request, response) => {
    response.json(await presentAccountMap(context, response));
  });

  router.put('/accounts', requireRole('accountant'), async (request, response) => {
    const actor = getActor(response);
    const { accounts } = parseBody(request, accountMapSchema);
    await auditChange(
      context,
      (inner) => setAccountMap(inner, { accounts, actor }),
      (result) => ({ actor, ...describeMapChange(result) }),
    );
    response.json(await presentAccountMap(context, response));
  });
  return router;
}

async function presentAccountMap(context: Context, response: Response) {
  const { accounts, ...change } = await readAccountMap(context.db);
  const unmapped = await listUnmappedAccounts(context.db, accounts);
  return { accounts: accounts.map((row) => presentPlatform(getCaller(response), row)), unmapped, ...change };
}
