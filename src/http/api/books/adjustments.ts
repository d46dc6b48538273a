import type { Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { maskNote } from '../../../domain/person/mask-mismatch.ts';
import {
  ADJUSTMENT_KINDS,
  adjustBooks,
  listAdjustments,
  reverseAdjustment,
} from '../../../ledger/stated/adjust-books.ts';
import { compareStatements, listStatements, storeStatement } from '../../../ledger/stated/state-balance.ts';
import { auditPersonalAccess, canSeePersonalData, getActor, requireRole } from '../../access/authorize.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { presentPage, presentWritten, readPage } from '../../parse-page.ts';
import { parseBody } from '../../parse-request.ts';
import { day, newPlatform, note, platform, signedAmount } from '../fields.ts';

export const adjustmentSchema = z.object({
  platform,
  day,
  kind: z.enum(ADJUSTMENT_KINDS, `must be one of ${ADJUSTMENT_KINDS.join(', ')}`),
  amount: signedAmount.refine((cents) => cents !== 0n, 'must not be zero'),
  note,
  new_platform: newPlatform,
});
export const reversalSchema = z.object({ reverses: z.string().min(1), note });

export const statementSchema = z.object({
  platform,
  at: z.iso.datetime({ offset: true, error: 'must be an instant: 2026-11-21T18:00:00-03:00' }),
  balance: signedAmount,
  new_platform: newPlatform,
});

/** Routes for data that people enter beside the provider's list: adjustments, and statements of the balance that its panel shows. */
export function adjustmentRoutes(context: Context): Router {
  const router = createRouter();
  router.post('/adjustments', requireRole('accountant'), async (request, response) => {
    const actor = getActor(response);
    const body = (request.body ?? {}) as { reverses?: unknown };
    const given =
      body.reverses === undefined || body.reverses === null
        ? { entered: parseBody(request, adjustmentSchema) }
        : { reversed: parseBody(request, reversalSchema) };
    const id = await auditChange(
      context,
      (inner) => (given.entered ? enter(inner, given.entered, actor) : reverse(inner, given.reversed, actor)),
      (target) => ({ actor, action: 'adjustments.create', target }),
    );
    await compareStatements(context);
    const [adjustment] = await listAdjustments(context.db, 1, undefined, id);
    response.status(201).json(presentWritten(adjustment, 'the adjustment'));
  });
  router.get('/adjustments', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listAdjustments(db, ...page));
    await auditPersonalAccess(context, response, 'adjustments.list', 'notes');
    const shown = rows
      .map((row) => presentPlatform(response, row))
      .map((one) => (canSeePersonalData(response) ? one : { ...one, note: maskNote(one.note) }));
    response.json(presentPage('adjustments', shown, next));
  });

  router.post('/statements', requireRole('accountant'), async (request, response) => {
    const { at, balance, platform, new_platform } = parseBody(request, statementSchema);
    const actor = getActor(response);
    const stated = { platform, at: new Date(at), balanceCents: balance, actor, newPlatform: new_platform };
    const id = await auditChange(
      context,
      (inner) => storeStatement(inner, stated),
      (target) => ({ actor, action: 'statements.create', target }),
    );
    await compareStatements(context);
    const [statement] = await listStatements(context, 1, undefined, id);
    response.status(201).json(presentWritten(statement, 'the statement'));
  });
  router.get('/statements', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, listStatements);
    const shown = rows.map((row) => presentPlatform(response, row));
    response.json(presentPage('statements', shown, next));
  });
  return router;
}

function enter(context: Context, body: z.infer<typeof adjustmentSchema>, actor: string) {
  const { amount: amountCents, new_platform, ...rest } = body;
  return adjustBooks(context, { ...rest, amountCents, actor, newPlatform: new_platform });
}

function reverse(context: Context, { reverses, note: why }: z.infer<typeof reversalSchema>, actor: string) {
  return reverseAdjustment(context, reverses, { note: why, actor });
}
