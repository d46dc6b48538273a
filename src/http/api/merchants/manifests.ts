import type { Request, RequestHandler, Response, Router } from 'express';
import { z } from 'zod';
import { isMerchantToken } from '../../../access/tokens.ts';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { requireRowNumber } from '../../../database/require-row-number.ts';
import { isDay } from '../../../domain/calendar.ts';
import { type ManifestQuery, readManifest, readManifestIds } from '../../../manifests/read-manifests.ts';
import { isPullToken } from '../../../merchants/pull-token.ts';
import { findMerchant } from '../../../merchants/read-merchants.ts';
import { revision } from '../../../operations/fields.ts';
import { refuseField } from '../../../texts/refuse.ts';
import { listPublicKeys } from '../../../tlog/keys.ts';
import { createPullAdmission } from '../../access/admit-pull.ts';
import { readBearer, requireRole } from '../../access/authorize.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { authenticateMerchant, getScope } from '../../access/require-scope.ts';
import { assertKnownParameters } from '../../check-query.ts';
import { createRouter } from '../../create-router.ts';
import { parseQuery } from '../../parse-request.ts';

/** Anybody may ask for the public keys: the database is asked once in this time. */
const KEYS_CACHED_MS = 10_000;

const ownManifestQuerySchema = z.object({
  revision: revision.describe('default: the newest'),
});
export const manifestQuerySchema = ownManifestQuerySchema.extend({
  merchant: z
    .string("is required, unless the token is a merchant's")
    .describe("whose; not with a merchant's own token"),
});

/** The public keys that verify day manifests, for everybody, as a JSON Web Key Set. */
export function manifestKeyRoutes(context: Context): Router {
  const router = createRouter();
  let cached: { untilMs: number; keys: ReturnType<typeof listPublicKeys> } | undefined;
  router.get('/.well-known/confere-manifest-keys.json', async (_request, response) => {
    const nowMs = context.timers.monotonicMs();
    if (!cached || nowMs >= cached.untilMs) cached = { untilMs: nowMs + KEYS_CACHED_MS, keys: listPublicKeys(context) };
    try {
      response.json({ keys: await cached.keys });
    } catch (error) {
      cached = undefined;
      throw error;
    }
  });
  return router;
}

/**
 * Day manifests: of the merchant whose pull token or token of the portal a request has; with a token of ours, of a given
 * merchant. Mount it before the routes that need a token of ours.
 * @param before what a request without a merchant's token passes first: its authentication, the check of its query.
 */
export function manifestRoutes(context: Context, guard: AuthGuard, before: RequestHandler[]): Router {
  const router = createRouter();
  const findAny: RequestHandler = async (request, response, next) => {
    const { merchant } = parseQuery(request, manifestQuerySchema);
    response.locals.manifestsOf = (await findMerchant(context.db, merchant)).seq;
    next();
  };
  const others = [...before, requireRole('viewer'), findAny].map(unlessFound);
  router.use('/manifests', findOwn(context, guard), ...others);
  const reading = limitReads(context);
  router.get('/manifests/:day', async (request, response) => {
    response.json(await readManifest(reading, merchantOf(response), queryOf(request)));
  });
  router.get('/manifests/:day/ids', async (request, response) => {
    const text = await readManifestIds(reading, merchantOf(response), queryOf(request));
    response.type('text/plain').send(text);
  });
  return router;
}

/** Finds the merchant of its own token: its query has no `merchant`. Other requests pass. */
function findOwn(context: Context, guard: AuthGuard): RequestHandler {
  const admitPull = createPullAdmission(context, guard);
  const admitPortal = authenticateMerchant(context, guard);
  return async (request, response, next) => {
    const keep = (seq: number): void => {
      response.locals.manifestsOf = seq;
      assertKnownParameters(request, Object.keys(ownManifestQuerySchema.shape));
      next();
    };
    const credential = readBearer(request) ?? '';
    if (isPullToken(credential)) keep((await admitPull(request, response)).seq);
    else if (isMerchantToken(credential))
      await admitPortal(request, response, () => keep(getScope(response).merchant.seq));
    else next();
  };
}

function unlessFound(handler: RequestHandler): RequestHandler {
  return (request, response, next) =>
    response.locals.manifestsOf === undefined ? handler(request, response, next) : next();
}

function merchantOf(response: Response): number {
  return requireRowNumber(response.locals.manifestsOf as number | undefined, 'the merchant of a manifest');
}

function queryOf(request: Request): ManifestQuery {
  const day = String(request.params.day);
  if (isDay(day)) return { day, revision: parseQuery(request, ownManifestQuerySchema).revision };
  throw refuseField('day', 'day_wrong');
}
