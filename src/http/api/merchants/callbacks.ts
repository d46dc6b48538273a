import type express from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { audit, auditChange, auditParts } from '../../../access/audit.ts';
import { presentAttempt, presentCallback } from '../../../callbacks/manage/present-callback.ts';
import {
  CALLBACK_STATES,
  findCallback,
  listAttempts,
  listCallbacks,
} from '../../../callbacks/manage/read-callbacks.ts';
import { redeliver } from '../../../callbacks/manage/redeliver.ts';
import { assertReplays, replay } from '../../../callbacks/manage/replay.ts';
import type { Context } from '../../../context.ts';
import { findMerchant } from '../../../merchants/read-merchants.ts';
import { authorizeFilter } from '../../../operations/authorize-search.ts';
import {
  auditShownTransactions,
  canSeePersonalData,
  getActor,
  getCaller,
  requireRole,
} from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { presentPage, readPage } from '../../parse-page.ts';
import { parseBody, parseQuery } from '../../parse-request.ts';
import { filterSchema } from './merchants.ts';

export const callbackQuerySchema = z.object({
  merchant: z.string().optional(),
  transaction_id: z.string().optional(),
  state: z.enum(CALLBACK_STATES).optional(),
  type: z.string().optional(),
});

const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** The fields of a replay, and what holds between them. */
export const replayRangeFields = {
  from: instant,
  to: instant,
  states: z
    .array(z.enum(['delivered', 'failed']))
    .min(1)
    .optional(),
  dry_run: z.boolean().default(false),
};
export const REPLAY_ORDER = {
  check: ({ from, to }: { from: Date; to: Date }): boolean => from < to,
  fault: { path: ['to'], error: 'must be after from' },
};

export const replaySchema = z
  .strictObject({ merchant: z.string(), filter: filterSchema.optional(), ...replayRangeFields })
  .refine(REPLAY_ORDER.check, REPLAY_ORDER.fault);

/** Callbacks with their attempts; redelivery of one, and replay of a range. */
export function callbackRoutes(context: Context): express.Router {
  const router = createRouter();
  router.get('/callbacks', requireRole('viewer'), async (request, response) => {
    const { transaction_id: transactionId, ...filter } = parseQuery(request, callbackQuerySchema);
    const { rows, next } = await readPage(context, request, ({ db }, limit, before) =>
      listCallbacks(db, { ...filter, transactionId }, { limit, before }),
    );
    response.json(presentPage('callbacks', rows.map(presentCallback), next));
  });
  router.get('/callbacks/:id', requireRole('viewer'), async (request, response) => {
    const callback = await findCallback(context.db, idOf(request));
    const attempts = await listAttempts(context.db, callback.seq);
    const withBody = canSeePersonalData(response);
    const list = attempts.map((attempt) => presentAttempt(attempt, { withBody }));
    // a merchant's response is free text, and may name people
    const transactions = [callback.transaction_id];
    await auditShownTransactions(context, response, 'callbacks.show', { target: idOf(request), transactions });
    response.json({ ...presentCallback(callback), attempt_list: list });
  });
  // before the routes with an id, which would match `replay` as one
  router.post('/callbacks/replay', requireRole('operator'), (request, response) =>
    replayRange(context, request, response),
  );
  router.post('/callbacks/:id/redeliver', requireRole('operator'), async (request, response) => {
    const done = { actor: getActor(response), action: 'callback.redelivered', target: idOf(request) };
    const callback = await auditChange(context, (inner) => redeliver(inner, idOf(request)), done);
    response.status(202).json(presentCallback(callback));
  });
  return router;
}

async function replayRange(context: Context, request: Request, response: Response): Promise<void> {
  const { dry_run: dryRun, ...range } = parseBody(request, replaySchema);
  const actor = getActor(response);
  const { from, to, filter } = range;
  // a count reveals whether anything matches the filter: it is a search, dry or not
  const merchant = await findMerchant(context.db, range.merchant);
  await authorizeFilter(context, getCaller(response), filter);
  const asked = JSON.stringify({ from, to, dry_run: dryRun, filter: Object.keys(filter ?? {}) });
  const done = { actor, action: 'callbacks.replay_requested', target: merchant.id, detail: asked };
  if (dryRun) await audit(context, done);
  else await auditChange(context, (inner) => assertReplays(inner, merchant.id), done);
  // a range may be long: each part is its own transaction
  const inParts = auditParts(context, (count) => {
    const detail = JSON.stringify({ from, to, count });
    return { actor, action: 'callbacks.replayed', target: range.merchant, detail };
  });
  const count = await replay(context, { ...range, dryRun }, dryRun ? undefined : inParts);
  response.status(dryRun ? 200 : 202).json({ merchant: range.merchant, count, dry_run: dryRun });
}

function idOf(request: Request): string {
  return String(request.params.id);
}
