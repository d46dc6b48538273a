import type { Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { centsOf } from '../../../domain/cents-of.ts';
import { parseAmount } from '../../../domain/money.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { listContracts, stateContract, withdrawContract } from '../../../ledger/stated/commission-contracts.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { presentPage, presentWritten, readPage } from '../../parse-page.ts';
import { parseBody } from '../../parse-request.ts';
import { day, NO_AMOUNT } from '../fields.ts';

const BASIS_POINTS_MAX = 10_000;

export const contractSchema = z
  .object({
    platform: z
      .string()
      .min(1)
      .max(PLATFORM_CHARS_MAX)
      .nullable()
      .default(null)
      .describe('null: every platform without one of its own'),
    operation: z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`),
    fixed: z.string('must be a decimal text: "0.10"').transform(centsOf(parseAmount, NO_AMOUNT)),
    basis_points: z.int('must be a whole number of hundredths of a percent').min(0).max(BASIS_POINTS_MAX),
    from: day,
    to: day.nullable().default(null),
  })
  .refine(({ from, to }) => to === null || to >= from, { path: ['to'], error: 'is before from' });
export const contractWithdrawalSchema = z.object({ withdraws: z.string().min(1) });

/** Contracts of the provider's commissions. A newer one takes precedence over older ones; one can be withdrawn. */
export function commissionRoutes(context: Context): Router {
  const router = createRouter();
  router.post('/commissions', requireRole('admin'), async (request, response) => {
    const actor = getActor(response);
    const body = (request.body ?? {}) as { withdraws?: unknown };
    const given =
      body.withdraws === undefined || body.withdraws === null
        ? { stated: parseBody(request, contractSchema) }
        : { withdrawn: parseBody(request, contractWithdrawalSchema) };
    const action = given.stated ? 'commissions.create' : 'commissions.withdraw';
    const id = await auditChange(
      context,
      (inner) => (given.stated ? state(inner, given.stated, actor) : withdraw(inner, given.withdrawn)),
      (target) => ({ actor, action, target }),
    );
    const [contract] = await listContracts(context.db, 1, undefined, id);
    response.status(201).json(presentWritten(contract, 'the contract'));
  });
  router.get('/commissions', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listContracts(db, ...page));
    const shown = rows.map((row) => presentPlatform(response, row));
    response.json(presentPage('commissions', shown, next));
  });
  return router;
}

async function state(context: Context, body: z.infer<typeof contractSchema>, actor: string): Promise<string> {
  const { fixed: fixedCents, basis_points: basisPoints, ...rest } = body;
  return await stateContract(context, { ...rest, fixedCents, basisPoints, actor });
}

async function withdraw(context: Context, { withdraws }: z.infer<typeof contractWithdrawalSchema>): Promise<string> {
  await withdrawContract(context, withdraws);
  return withdraws;
}
