/**
 * The portal's API: a merchant reads and changes what is its own, with a token of the role `merchant`. Each handler has the
 * scope of its request and no database.
 */
import type { Request, RequestHandler, Response, Router } from 'express';
import { z } from 'zod';
import { UNDELIVERED } from '../../../callbacks/health/count-undelivered.ts';
import type { FilterPreview } from '../../../callbacks/manage/preview-filter.ts';
import { CALLBACK_STATES } from '../../../callbacks/manage/read-callbacks.ts';
import type { Delivery } from '../../../callbacks/manage/read-delivery.ts';
import { PREVIEW_DAYS } from '../../../callbacks/manage/read-previewed-events.ts';
import { formatAmount } from '../../../domain/money.ts';
import { presentOwnMerchant } from '../../../merchants/present-merchant.ts';
import { REPLAY_ORDER, replayRange as replayRangeFields } from '../../../operations/callbacks.ts';
import { day, filterInput as filterSchema } from '../../../operations/fields.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { refuse } from '../../../texts/refuse.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage, presentPage } from '../../parse-page.ts';
import { parseBody, parseQuery } from '../../parse-request.ts';

export const ownCallbackQuerySchema = z.object({
  reference: z.string().max(512).optional(),
  extra: z.string().max(2048).optional(),
  transaction_id: z.string().max(128).optional(),
  state: z.enum(CALLBACK_STATES).optional(),
  type: z.string().max(128).optional(),
  from: day.optional().describe('the first day of their creation'),
  to: day.optional().describe('the last day of their creation'),
});
export const ownReplaySchema = z.strictObject(replayRangeFields).refine(REPLAY_ORDER.check, REPLAY_ORDER.fault);
export const ownFilterSchema = z.strictObject({
  filter: filterSchema.describe('within what operators allow; {}: all of that'),
  dry_run: z.boolean().default(false).describe('only preview'),
});

/** @param before what each request passes first: its authentication, the check of its query, the parser of its body. */
export function portalRoutes({ calendar }: PortalContext, before: RequestHandler[]): Router {
  const router = createRouter();
  router.use('/portal', ...before);
  router.get('/portal', (_request, response) => void response.json(presentOwnMerchant(getScope(response).merchant)));
  router.get('/portal/health', async (_request, response) => {
    const scope = getScope(response);
    response.json(presentHealth(scope, await scope.readDelivery()));
  });
  router.get('/portal/callbacks', async (request, response) => {
    const { transaction_id: transactionId, ...query } = parseQuery(request, ownCallbackQuerySchema);
    const found = await getScope(response).listCallbacks({ ...query, transactionId }, parsePage(request));
    response.json(presentPage('callbacks', found.callbacks, found.next));
  });
  // before the routes with an id, which would match `replay` as one
  router.post('/portal/callbacks/replay', replayRange);
  router.get('/portal/callbacks/:id', async (request: Request<{ id: string }>, response) => {
    const { callback, attempts, message } = await getScope(response).showCallback(request.params.id);
    response.json({ ...callback, message: message ?? null, attempt_list: attempts });
  });
  router.post('/portal/callbacks/:id/redeliver', async (request: Request<{ id: string }>, response) => {
    const redeliver = getScope(response).change('callback.redelivered', (own) => own.redeliver(request.params.id), {
      target: (done) => done.target,
    });
    response.status(202).json((await redeliver).callback);
  });
  addActions(router, calendar);
  router.use('/portal', () => {
    throw refuse('address_unknown');
  });
  return router;
}

function addActions(router: Router, calendar: PortalContext['calendar']): void {
  router.post('/portal/rotate-secret', async (_request, response) => {
    const rotated = await getScope(response).change('merchant.secret_rotated', (own) => own.rotateSecret());
    response.json({ secret: rotated.secret, old_secret_until: rotated.oldUntil.toISOString() });
  });
  router.post('/portal/test', async (_request, response) => {
    const sent = await getScope(response).change('merchant.tested', (own) => own.sendTest());
    response.status(202).json(sent.callback);
  });
  for (const [name, state] of [
    ['pause', 'paused'],
    ['resume', 'enabled'],
  ] as const) {
    router.post(`/portal/${name}`, async (_request, response) => {
      const merchant = await getScope(response).change(`merchant.${state}`, (own) => own.setState(state));
      response.json(presentOwnMerchant(merchant));
    });
  }
  router.put('/portal/filter', async (request, response) => {
    const { filter, dry_run: isDryRun } = parseBody(request, ownFilterSchema);
    const scope = getScope(response);
    if (isDryRun) {
      response.json(presentPreview(calendar, await scope.previewFilter(filter)));
      return;
    }
    const merchant = await scope.change('merchant.filter_chosen', (own) => own.setFilter(filter));
    response.json(presentOwnMerchant(merchant));
  });
}

async function replayRange(request: Request, response: Response): Promise<void> {
  const { dry_run: dryRun, ...range } = parseBody(request, ownReplaySchema);
  const scope = getScope(response);
  const { from, to } = range;
  const asked = JSON.stringify({ from, to, dry_run: dryRun });
  await (dryRun ? scope.record('callbacks.replay_requested', asked) : scope.askReplay(asked));
  const count = dryRun ? await scope.countReplay(range) : await scope.replay(range);
  response.status(dryRun ? 200 : 202).json({ count, dry_run: dryRun });
}

function presentHealth({ merchant, hold }: MerchantScope, delivery: Delivery) {
  const { lastFailure, lastSuccessAt, nextAttemptAt, counts, hours } = delivery;
  return {
    state: merchant.state,
    held_because: hold ?? null,
    failing_since: merchant.failing_since?.toISOString() ?? null,
    next_attempt_at: nextAttemptAt?.toISOString() ?? null,
    undelivered: Object.fromEntries(UNDELIVERED.map((one) => [one, counts[one].n + Number(counts[one].isMore)])),
    last_success_at: lastSuccessAt?.toISOString() ?? null,
    last_failure: lastFailure
      ? {
          ...{ at: lastFailure.at.toISOString(), callback: lastFailure.webhookId },
          ...{ response_status: lastFailure.status, error_class: lastFailure.errorClass },
        }
      : null,
    hours: hours.map(({ start, attempts, delivered, p50, p95 }) => ({
      ...{ start: start.toISOString(), attempts, delivered },
      ...{ p50_ms: p50 ?? null, p95_ms: p95 ?? null },
    })),
  };
}

function presentPreview(calendar: PortalContext['calendar'], { examples, ...preview }: FilterPreview) {
  return {
    ...{ dry_run: true, days: PREVIEW_DAYS, ...preview },
    examples: examples.map(({ transactionId, at, amountCents, isMatched, ...event }) => ({
      ...{ transaction_id: transactionId, ...event },
      ...{ at: calendar.toIso(at), amount: formatAmount(amountCents), matched: isMatched },
    })),
  };
}
