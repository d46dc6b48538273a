import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { ConfereError } from '../../domain/errors.ts';
import { MISMATCH_SEVERITY, MISMATCH_STATES, type MismatchKind } from '../../domain/mismatch.ts';
import { findMismatch, listMismatches, type PresentedMismatch } from '../../mismatches/read-mismatches.ts';
import { acknowledgeMismatch, resolveMismatchByHand } from '../../mismatches/resolve-mismatch-by-hand.ts';
import { acceptMismatchOrSurplus } from '../../reconciliation/windows/accept-surplus.ts';
import { auditFull } from '../access/audit-full.ts';
import { actorOf, allow, seesPersons } from '../access/authorize.ts';
import { maskMismatches } from '../access/mask-texts.ts';
import { createRouter } from '../create-router.ts';
import { cutPage, page, readNumberedPage } from '../pages.ts';
import { parseBody, parseQuery } from '../validate.ts';

const KINDS = Object.keys(MISMATCH_SEVERITY) as [MismatchKind, ...MismatchKind[]];

export const mismatchQuerySchema = z.object({
  state: z.enum(MISMATCH_STATES, `must be one of ${MISMATCH_STATES.join(', ')}`).optional(),
  kind: z.enum(KINDS, 'is no kind of mismatch').optional(),
  severity: z.enum(['medium', 'high', 'critical'], 'must be medium, high or critical').optional(),
  transaction_id: z.string().min(1).optional(),
});

export const notedSchema = z.object({ note: z.string().max(4000).optional() });
export const acceptedSchema = notedSchema.extend({ actual: z.unknown().optional() });

export function mismatchRoutes(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.get('/mismatches', allow('viewer'), async (request, response) => {
    const { transaction_id, ...filter } = parseQuery(request, mismatchQuerySchema);
    const { limit, after } = readNumberedPage(request);
    const found = await listMismatches(reading.db, {
      ...filter,
      transactionId: transaction_id,
      limit: limit + 1,
      after,
    });
    const { rows, last } = cutPage(found, limit);
    await auditFull(context, response, 'mismatches.list', JSON.stringify(Object.keys(request.query)));
    response.json(page('mismatches', await showMismatches(context, response, rows), last?.seq));
  });

  router.get('/mismatches/:id', allow('viewer'), async (request: Request<{ id: string }>, response) => {
    await answer(context, request.params.id, response, 'mismatches.show');
  });

  for (const [action, settle, schema] of [
    ['acknowledge', acknowledgeMismatch, notedSchema],
    ['resolve', resolveMismatchByHand, notedSchema],
    ['accept', acceptMismatchOrSurplus, acceptedSchema],
  ] as const) {
    router.post(`/mismatches/:id/${action}`, allow('operator'), async (request: Request<{ id: string }>, response) => {
      const given = parseBody(request, schema);
      const actor = actorOf(response);
      const { id } = request.params;
      await auditChange(context, (inner) => settle(inner, id, { note: undefined, ...given, actor }), {
        actor,
        action: `mismatches.${action}`,
        target: id,
      });
      context.wakeUps.alerts.notify();
      await answer(context, request.params.id, response);
    });
  }
  return router;
}

/** @param looked the look to be audited, where nothing else was done that is. */
async function answer(context: Context, id: string, response: Response, looked?: string): Promise<void> {
  const mismatch = await findMismatch(context.db, id);
  if (!mismatch) throw new ConfereError('not_found', 'there is no such mismatch');
  if (looked !== undefined) await auditFull(context, response, looked, mismatch.id);
  const [shown] = await showMismatches(context, response, [mismatch]);
  response.json(shown);
}

/** Mismatches as this caller may see them. */
export async function showMismatches(
  context: Context,
  response: Response,
  mismatches: PresentedMismatch[],
): Promise<Omit<PresentedMismatch, 'seq'>[]> {
  const shown = seesPersons(response) ? mismatches : await maskMismatches(context.db, mismatches);
  return shown.map(({ seq: _, ...mismatch }) => mismatch);
}
