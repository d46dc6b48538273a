import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { MISMATCH_SEVERITY, MISMATCH_STATES, type MismatchKind } from '../../domain/mismatch.ts';
import { listTransactionIds } from '../../domain/person/mask-mismatch.ts';
import { findMismatch, listMismatches, type PresentedMismatch } from '../../mismatches/read-mismatches.ts';
import { RESOLVED_MAX, resolveMany } from '../../mismatches/resolve-many.ts';
import {
  acknowledgeMismatch,
  MISMATCH_NOTE_CHARS_MAX,
  resolveMismatchByHand,
} from '../../mismatches/resolve-mismatch-by-hand.ts';
import { instant } from '../../operations/fields.ts';
import { maskMismatches } from '../../operations/mask-texts.ts';
import { withoutSeq } from '../../operations/present-row.ts';
import { acceptMismatchOrSurplus } from '../../reconciliation/windows/accept-surplus.ts';
import { refuse } from '../../texts/refuse.ts';
import { auditShownTransactions, canSeePersonalData, getActor, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseBody, parseQuery } from '../parse-request.ts';

const KINDS = Object.keys(MISMATCH_SEVERITY) as [MismatchKind, ...MismatchKind[]];

export const mismatchQuerySchema = z.object({
  state: z.enum(MISMATCH_STATES, `must be one of ${MISMATCH_STATES.join(', ')}`).optional(),
  kind: z.enum(KINDS, 'is no kind of mismatch').optional(),
  severity: z.enum(['medium', 'high', 'critical'], 'must be medium, high or critical').optional(),
  transaction_id: z.string().min(1).optional(),
});

export const notedSchema = z.object({ note: z.string().max(MISMATCH_NOTE_CHARS_MAX).optional() });
export const resolvedSchema = notedSchema.extend({
  actual: z.unknown().optional().describe('the `actual` that you saw: 409 if it has changed since'),
});
export const acceptedSchema = notedSchema.extend({
  actual: z.unknown().refine((value) => value !== undefined, 'is required: the `actual` that you saw'),
});

const SELECTIONS = 'name either ids, or a kind';
export const resolvedManySchema = z
  .strictObject({
    ids: z.array(z.string().min(1)).min(1).max(RESOLVED_MAX, `must be at most ${RESOLVED_MAX} ids`).optional(),
    kind: z.enum(KINDS, 'is no kind of mismatch').optional(),
    cause: z.string().min(1).max(160).optional().describe('the scope of the alert: a run, or a severity and an hour'),
    opened_before: instant.optional().describe('default: now'),
    note: notedSchema.shape.note.describe('required where a critical one is selected'),
  })
  .refine(({ ids, kind }) => (ids === undefined) !== (kind === undefined), SELECTIONS)
  .refine(({ ids, cause, opened_before }) => !ids || (cause ?? opened_before) === undefined, SELECTIONS);

export function mismatchRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/mismatches', requireRole('viewer'), async (request, response) => {
    const { transaction_id: transactionId, ...filter } = parseQuery(request, mismatchQuerySchema);
    const { rows, next } = await readPage(context, request, ({ db }, limit, after) =>
      listMismatches(db, { ...filter, transactionId, limit, after }),
    );
    await auditShownTransactions(context, response, 'mismatches.list', {
      target: JSON.stringify(Object.keys(request.query)),
      transactions: rows.flatMap(listTransactionIds),
    });
    response.json(presentPage('mismatches', await presentMismatches(context, response, rows), next));
  });

  router.get('/mismatches/:id', requireRole('viewer'), async (request: Request<{ id: string }>, response) => {
    await sendMismatch(context, request.params.id, response, 'mismatches.show');
  });

  router.post('/mismatches/resolve', requireRole('operator'), async (request, response) => {
    const { ids, kind, cause, opened_before: before, note } = parseBody(request, resolvedManySchema);
    const openedBefore = before === undefined ? undefined : new Date(before);
    // the schema requires a kind without ids
    const selection = ids ? { ids } : { kind: kind as MismatchKind, cause, openedBefore };
    response.json(await resolveMany(context, selection, { actor: getActor(response), note }));
  });

  for (const [action, handle, schema] of [
    ['acknowledge', acknowledgeMismatch, notedSchema],
    ['resolve', resolveMismatchByHand, resolvedSchema],
    ['accept', acceptMismatchOrSurplus, acceptedSchema],
  ] as const) {
    router.post(
      `/mismatches/:id/${action}`,
      requireRole('operator'),
      async (request: Request<{ id: string }>, response) => {
        const given = parseBody(request, schema);
        const actor = getActor(response);
        const { id } = request.params;
        await auditChange(context, (inner) => handle(inner, id, { note: undefined, ...given, actor }), {
          actor,
          action: `mismatches.${action}`,
          target: id,
        });
        context.wakeUps.alerts.notify();
        await sendMismatch(context, request.params.id, response);
      },
    );
  }
  return router;
}

/** @param access the action to audit; undefined where the request was audited as a change. */
async function sendMismatch(
  context: Context,
  id: string,
  response: Response,
  access?: 'mismatches.show',
): Promise<void> {
  const mismatch = await findMismatch(context.db, id);
  if (!mismatch) throw refuse('mismatch_unknown');
  if (access !== undefined) {
    const transactions = listTransactionIds(mismatch);
    await auditShownTransactions(context, response, access, { target: mismatch.id, transactions });
  }
  const [shown] = await presentMismatches(context, response, [mismatch]);
  response.json(shown);
}

/** Presents mismatches, masked for viewers. */
export async function presentMismatches(
  context: Context,
  response: Response,
  mismatches: PresentedMismatch[],
): Promise<Omit<PresentedMismatch, 'seq'>[]> {
  const shown = canSeePersonalData(response) ? mismatches : await maskMismatches(context.db, mismatches);
  return shown.map(withoutSeq);
}
