import type express from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import { presentCallback } from '../../callbacks/present-callback.ts';
import { sendTest } from '../../callbacks/send-test.ts';
import type { Context } from '../../context.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { createMerchant, removeMerchant, setMerchantState, updateMerchant } from '../../merchants/change-merchants.ts';
import { hideQuery, type PresentedMerchant, presentMerchant } from '../../merchants/present-merchant.ts';
import { givePullToken } from '../../merchants/pull-token.ts';
import { findMerchant, listMerchants, type MerchantRow } from '../../merchants/read-merchants.ts';
import { rotateSecret } from '../../merchants/secrets.ts';
import { actorOf, allow, callerOf } from '../authorize.ts';
import { createRouter } from '../create-router.ts';
import { cutPage, page, readNumberedPage } from '../pages.ts';
import { parseBody } from '../validate.ts';

const LIST_MAX = 200;
const RATE_MAX = 1000;

const texts = z.array(z.string().min(1).max(512)).max(LIST_MAX);

/** Which events a merchant is told of; what is left out is empty, and an empty list is all. */
export const filterSchema = z
  .strictObject({
    platforms: texts.describe('none: what has no platform'),
    operations: z.array(z.enum(OPERATIONS)),
    statuses: texts,
    reference_prefixes: texts,
    extra_prefixes: texts,
    extra_match: z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])),
  })
  .partial();

const shared = {
  name: z.string().trim().min(1).max(200),
  // whether callbacks may go there is judged with the configuration at hand
  url: z.string(),
  email: z.email().max(320).nullable().optional(),
  filter: filterSchema.optional(),
  rate: z.int().min(1).max(RATE_MAX).nullable().optional(),
  events_since: z.iso.datetime({ offset: true }).optional(),
};
export const newMerchantSchema = z.strictObject(shared);
export const merchantChangeSchema = z
  .strictObject({ ...shared, state: z.enum(['enabled', 'paused']).optional() })
  .partial();

/** Who receives callbacks. */
export function merchantRoutes(context: Context): express.Router {
  const router = createRouter();
  router.get('/merchants', allow('viewer'), async (request, response) => {
    const { limit, after = 0 } = readNumberedPage(request);
    const { rows, last } = cutPage(await listMerchants(context.db, { limit: limit + 1, after }), limit);
    const shown = rows.map((row) => showTo(response, row));
    response.json(page('merchants', shown, last?.seq));
  });
  router.post('/merchants', allow('admin'), (request, response) => addOne(context, request, response));
  router.get('/merchants/:id', allow('viewer'), async (request, response) => {
    response.json(showTo(response, await findMerchant(context.db, idOf(request))));
  });
  router.patch('/merchants/:id', allow('admin'), (request, response) => changeOne(context, request, response));
  router.delete('/merchants/:id', allow('admin'), async (request, response) => {
    await removeMerchant(context, idOf(request));
    await audit(context, { actor: actorOf(response), action: 'merchant.removed', target: idOf(request) });
    response.status(204).end();
  });
  addActions(router, context);
  return router;
}

function addActions(router: express.Router, context: Context): void {
  const note = (request: Request, response: Response, action: string): Promise<unknown> =>
    audit(context, { actor: actorOf(response), action, target: idOf(request) });

  router.post('/merchants/:id/rotate-secret', allow('admin'), async (request, response) => {
    const { secret, oldUntil } = await rotateSecret(context, idOf(request));
    await note(request, response, 'merchant.secret_rotated');
    const merchant = presentMerchant(await findMerchant(context.db, idOf(request)));
    response.json({ ...merchant, secret, old_secret_until: oldUntil.toISOString() });
  });
  router.post('/merchants/:id/enable', allow('admin'), async (request, response) => {
    const merchant = await setMerchantState(context, idOf(request), 'enabled');
    await note(request, response, 'merchant.enabled');
    response.json(presentMerchant(merchant));
  });
  router.post('/merchants/:id/pause', allow('admin'), async (request, response) => {
    const merchant = await setMerchantState(context, idOf(request), 'paused');
    await note(request, response, 'merchant.paused');
    response.json(presentMerchant(merchant));
  });
  router.post('/merchants/:id/test', allow('admin'), async (request, response) => {
    const callback = await sendTest(context, idOf(request));
    await note(request, response, 'merchant.tested');
    response.status(202).json(presentCallback(callback));
  });
  router.post('/merchants/:id/pull-token', allow('admin'), async (request, response) => {
    const token = await givePullToken(context, idOf(request));
    await note(request, response, 'merchant.pull_token_given');
    response.json({ id: idOf(request), token });
  });
}

async function addOne(context: Context, request: Request, response: Response): Promise<void> {
  const { events_since: since, ...input } = parseBody(request, newMerchantSchema);
  const { merchant, secret } = await createMerchant(context, {
    ...input,
    eventsSince: since === undefined ? undefined : new Date(since),
  });
  await audit(context, { actor: actorOf(response), action: 'merchant.added', target: merchant.id });
  response
    .status(201)
    .location(`/api/v1/merchants/${merchant.id}`)
    .json({ ...presentMerchant(merchant), secret });
}

async function changeOne(context: Context, request: Request, response: Response): Promise<void> {
  const body = parseBody(request, merchantChangeSchema);
  const { events_since: since, ...change } = body;
  const eventsSince = since === undefined ? undefined : new Date(since);
  const merchant = await updateMerchant(context, idOf(request), { ...change, eventsSince });
  // names of fields only: a URL may hold a secret
  const detail = Object.keys(body).join(', ');
  await audit(context, { actor: actorOf(response), action: 'merchant.changed', target: merchant.id, detail });
  response.json(presentMerchant(merchant));
}

function showTo(response: Response, row: MerchantRow): PresentedMerchant {
  const merchant = presentMerchant(row);
  return callerOf(response).role === 'viewer' ? hideQuery(merchant) : merchant;
}

function idOf(request: Request): string {
  return String(request.params.id);
}
