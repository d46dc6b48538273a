/** The map of our accounts to the customer's chart of accounts, given whole. */
import { z } from 'zod';
import { listUnmappedAccounts, readAccountMap, setAccountMap } from '../../ledger/stated/account-map.ts';
import { defineChange } from '../define-change.ts';
import { defineItem } from '../define-item.ts';
import { ok } from '../describe-operation.ts';
import { platform } from '../fields.ts';
import { presentPlatform } from '../mask-texts.ts';
import { accountMap } from '../rows/ledger.ts';

const text = z.string('must be a text, or null').trim().min(1, 'must be a text, or null').nullable().default(null);

export const accounts = defineItem({
  route: '/accounts',
  summary: "The map of the ledger's accounts to the customer's chart of accounts",
  item: accountMap,
  async read({ db }, { caller }) {
    const { accounts: rows, ...change } = await readAccountMap(db);
    const unmapped = await listUnmappedAccounts(db, rows);
    return { accounts: rows.map((row) => presentPlatform(caller, row)), unmapped, ...change };
  },
});

export const mapAccounts = defineChange({
  name: 'accounts.map',
  roles: ['accountant'],
  route: 'PUT /accounts',
  summary: 'Replace the map',
  input: z.strictObject({
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
  }),
  answers: ok('The map', accountMap),
  change: (inner, map, { caller }) => setAccountMap(inner, { ...map, actor: caller.id }),
  target: ({ rows, changed }) => ({ target: `${rows} rows`, detail: changed ? 'changed' : 'unchanged' }),
  answer: (context, _made, { by }) => accounts.read(context, by),
});
