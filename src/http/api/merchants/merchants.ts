import type express from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { type AuditedAction, audit, auditChange } from '../../../access/audit.ts';
import { countBackfill } from '../../../callbacks/backfill/count-backfill.ts';
import { presentCallback } from '../../../callbacks/manage/present-callback.ts';
import { sendTest } from '../../../callbacks/manage/send-test.ts';
import type { Context } from '../../../context.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import {
  createMerchant,
  defaultEventsSince,
  removeMerchant,
  setMerchantState,
  updateMerchant,
} from '../../../merchants/change-merchants.ts';
import { FILTER_LIMITS, findFilterFaults } from '../../../merchants/check-filter.ts';
import { checkMerchant, MERCHANT_LIMITS } from '../../../merchants/check-merchant.ts';
import { completeFilter, type FilterInput, parseFilter } from '../../../merchants/match-filter.ts';
import { presentMerchant } from '../../../merchants/present-merchant.ts';
import { issuePullToken, revokePullToken } from '../../../merchants/pull-token.ts';
import { findMerchant, listMerchants, type MerchantRow } from '../../../merchants/read-merchants.ts';
import { CALLBACK_FORMATS } from '../../../merchants/request-headers.ts';
import { rotateSecret } from '../../../merchants/secrets.ts';
import { authorizeFilter } from '../../../operations/authorize-search.ts';
import { presentMerchantTo } from '../../../operations/mask-texts.ts';
import { mapInTurns } from '../../../runtime/take-turns.ts';
import { describe } from '../../../texts/refuse.ts';
import { getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { presentPage, readPage } from '../../parse-page.ts';
import { parseBody } from '../../parse-request.ts';

const { listMax, textCharsMax, matchKeysMax, keyCharsMax, valueCharsMax, bytesMax } = FILTER_LIMITS;

const texts = z.array(z.string().min(1));

/** The events that a merchant receives. An omitted or empty list matches all. */
export const filterSchema = z
  .strictObject({
    platforms: texts.describe('none: what has no platform'),
    operations: z.array(z.enum(OPERATIONS)),
    statuses: texts,
    reference_prefixes: texts,
    extra_prefixes: texts,
    extra_match: z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])),
  })
  .partial()
  .describe(
    `lists have up to ${listMax} values of ${textCharsMax} characters; extra_match ${matchKeysMax} keys of ${keyCharsMax}, and values of ${valueCharsMax}; all together ${bytesMax / 1024} KiB`,
  )
  .superRefine((filter, found) => {
    for (const { field, reason, values } of findFilterFaults(filter))
      found.addIssue({ code: 'custom', path: [field], message: describe(reason, values) });
  });

const shared = {
  name: z.string().trim().min(1).max(MERCHANT_LIMITS.nameCharsMax),
  // not checked here: the configuration decides which addresses callbacks may go to
  url: z.string().nullable().optional().describe('null: it fetches its events from /events'),
  format: z.enum(CALLBACK_FORMATS).optional().describe('provider: the flat body and the bearer token of the provider'),
  bearer_token: z
    .string()
    .nullable()
    .optional()
    .describe('sent as `Authorization: Bearer …` and never shown; the format provider requires it; null: none'),
  headers: z
    .record(z.string(), z.string().nullable())
    .optional()
    .describe('sent with each message; values are never shown. null removes one, others stay'),
  email: z.email().max(MERCHANT_LIMITS.emailCharsMax).nullable().optional(),
  filter: filterSchema.optional(),
  rate: z.int().min(1).max(MERCHANT_LIMITS.rateMax).nullable().optional(),
  manifests: z.boolean().optional().describe('whether day manifests are sent to it; default: true'),
  events_since: z.iso.datetime({ offset: true }).optional(),
  dry_run: z.boolean().optional().describe('only count the callbacks of past events'),
};
export const newMerchantSchema = z.strictObject(shared);
export const pullTokenSchema = z
  .strictObject({ expires_at: z.iso.datetime({ offset: true }).describe('default: it does not end by itself') })
  .partial();
export const merchantChangeSchema = z
  .strictObject({ ...shared, state: z.enum(['enabled', 'paused']).optional() })
  .partial();

/** Merchants, which receive callbacks. */
export function merchantRoutes(context: Context): express.Router {
  const router = createRouter();
  router.get('/merchants', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, limit, after = 0) =>
      listMerchants(db, { limit, after }),
    );
    const shown = await mapInTurns(rows, (row) => presentMerchantTo(getCaller(response), row));
    response.json(presentPage('merchants', shown, next));
  });
  router.post('/merchants', requireRole('admin'), (request, response) => addMerchant(context, request, response));
  router.get('/merchants/:id', requireRole('viewer'), async (request, response) => {
    response.json(presentMerchantTo(getCaller(response), await findMerchant(context.db, idOf(request))));
  });
  router.patch('/merchants/:id', requireRole('admin'), (request, response) =>
    changeMerchant(context, request, response),
  );
  router.delete('/merchants/:id', requireRole('admin'), async (request, response) => {
    await auditChange(
      context,
      (inner) => removeMerchant(inner, idOf(request)),
      describeAudit(request, response, 'merchant.removed'),
    );
    response.status(204).end();
  });
  addActions(router, context);
  return router;
}

function addActions(router: express.Router, context: Context): void {
  /** Changes a merchant and writes the audit row in the same transaction. */
  const change = <T>(action: string, request: Request, response: Response, work: (inner: Context) => Promise<T>) =>
    auditChange(context, work, describeAudit(request, response, action));

  router.post('/merchants/:id/rotate-secret', requireRole('admin'), async (request, response) => {
    const { secret, oldUntil } = await change('merchant.secret_rotated', request, response, (inner) =>
      rotateSecret(inner, idOf(request)),
    );
    const merchant = presentMerchant(await findMerchant(context.db, idOf(request)));
    response.json({ ...merchant, secret, old_secret_until: oldUntil.toISOString() });
  });
  for (const [name, state] of [
    ['enable', 'enabled'],
    ['pause', 'paused'],
  ] as const) {
    router.post(`/merchants/:id/${name}`, requireRole('admin'), async (request, response) => {
      const merchant = await change(`merchant.${state}`, request, response, (inner) =>
        setMerchantState(inner, idOf(request), state),
      );
      response.json(presentMerchant(merchant));
    });
  }
  router.post('/merchants/:id/test', requireRole('admin'), async (request, response) => {
    const callback = await change('merchant.tested', request, response, (inner) => sendTest(inner, idOf(request)));
    response.status(202).json(presentCallback(callback));
  });
  router.post('/merchants/:id/pull-token', requireRole('admin'), async (request, response) => {
    const { expires_at: end } = parseBody(request, pullTokenSchema);
    const expiresAt = end === undefined ? undefined : new Date(end);
    const token = await change('merchant.pull_token_given', request, response, (inner) =>
      issuePullToken(inner, idOf(request), expiresAt),
    );
    response.json({ id: idOf(request), token, expires_at: expiresAt?.toISOString() ?? null });
  });
  router.delete('/merchants/:id/pull-token', requireRole('admin'), async (request, response) => {
    await change('merchant.pull_token_revoked', request, response, (inner) => revokePullToken(inner, idOf(request)));
    response.status(204).end();
  });
}

async function addMerchant(context: Context, request: Request, response: Response): Promise<void> {
  const body = parseBody(request, newMerchantSchema);
  const { events_since: since, dry_run: isDryRun, url = null, bearer_token: bearerToken, ...rest } = body;
  const eventsSince = since === undefined ? defaultEventsSince(context.clock.now()) : new Date(since);
  const input = { ...rest, url, bearerToken, eventsSince };
  if (isDryRun) {
    checkMerchant(context, input);
    await sendCount(context, response, undefined, { ...input, eventsSince });
    return;
  }
  const { merchant, secret } = await auditChange(
    context,
    (inner) => createMerchant(inner, input),
    (made) => ({ actor: getActor(response), action: 'merchant.added', target: made.merchant.id }),
  );
  response
    .status(201)
    .location(`/api/v1/merchants/${merchant.id}`)
    .json({ ...presentMerchant(merchant), secret });
}

async function changeMerchant(context: Context, request: Request, response: Response): Promise<void> {
  const { dry_run: isDryRun, ...body } = parseBody(request, merchantChangeSchema);
  const { events_since: since, bearer_token: bearerToken, ...rest } = body;
  const change = { ...rest, bearerToken };
  const eventsSince = since === undefined ? undefined : new Date(since);
  if (isDryRun) {
    const merchant = await findMerchant(context.db, idOf(request));
    checkMerchant(context, change, merchant);
    const { filter = parseFilter(merchant.filter) } = change;
    await sendCount(context, response, merchant, { filter, eventsSince: eventsSince ?? merchant.events_since });
    return;
  }
  // field names only: a URL may hold a secret, a header is one
  const done = { ...describeAudit(request, response, 'merchant.changed'), detail: Object.keys(body).join(', ') };
  const merchant = await auditChange(
    context,
    (inner) => updateMerchant(inner, idOf(request), { ...change, eventsSince }),
    done,
  );
  response.json(presentMerchant(merchant));
}

/** Answers a dry run: how many callbacks of events that the ledger knows would be enqueued. */
async function sendCount(
  context: Context,
  response: Response,
  merchant: MerchantRow | undefined,
  { filter, eventsSince }: { filter?: FilterInput | undefined; eventsSince: Date },
): Promise<void> {
  // a count reveals whether anything matches the filter: it is a search
  await authorizeFilter(context, getCaller(response), filter);
  const done = { actor: getActor(response), action: 'merchant.backfill_counted', target: merchant?.id ?? 'new' };
  await audit(context, { ...done, detail: Object.keys(filter ?? {}).join(', ') });
  const own = parseFilter(merchant?.own_filter ?? '{}');
  const count = await countBackfill(context, merchant, { filters: [completeFilter(filter), own], eventsSince });
  response.json({ dry_run: true, events_since: eventsSince.toISOString(), ...count });
}

function describeAudit(request: Request, response: Response, action: string): AuditedAction {
  return { actor: getActor(response), action, target: idOf(request) };
}

function idOf(request: Request): string {
  return String(request.params.id);
}
