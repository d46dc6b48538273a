import type express from 'express';
import { z } from 'zod';
import { readFeed } from '../../../callbacks/manage/read-feed.ts';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { findMerchantByPullToken } from '../../../merchants/pull-token.ts';
import { pullReads } from '../../../metrics/metrics.ts';
import { readBearer } from '../../access/authorize.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { createMerchantLimit, MERCHANT_REQUESTS_PER_S_MAX } from '../../access/limit-merchant.ts';
import { assertKnownParameters } from '../../check-query.ts';
import { markAuthenticated } from '../../connections/mark-authenticated.ts';
import { createRouter } from '../../create-router.ts';
import { parseQuery } from '../../parse-request.ts';
import { instant } from '../fields.ts';

const LIMIT_MAX = 200;
const LIMIT_DEFAULT = 50;

export const feedQuerySchema = z.object({
  after: z
    .string()
    .regex(/^\d{1,16}$/, 'must be a next_cursor of an earlier answer')
    .transform(Number)
    .optional(),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  since: instant
    .transform((text) => new Date(text))
    .optional()
    .describe('only events that were stored at or after'),
  peek: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(false)
    .describe('true: `after` acknowledges nothing'),
});

/**
 * The pull API: a merchant fetches its events with its pull token. Mount it before the routes that need a token of ours.
 */
export function eventRoutes(context: Context, guard: AuthGuard): express.Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  const admitRead = createMerchantLimit(context);
  router.get('/events', async (request, response) => {
    const credential = readBearer(request);
    const attempt = { kind: 'pull', address: request.ip, credential: credential ?? '' } as const;
    const merchant = credential && (await guard.admit(attempt, () => findMerchantByPullToken(context, credential)));
    if (!merchant) {
      throw new ConfereError('unauthorized', 'send the token of an enabled merchant: Authorization: Bearer mpt_…');
    }
    markAuthenticated(response);
    if (!admitRead(merchant.seq)) {
      pullReads.inc({ outcome: 'limited' });
      throw new ConfereError('too_many_requests', `at most ${MERCHANT_REQUESTS_PER_S_MAX} reads a second`, {
        retryAfterS: 1,
      });
    }
    assertKnownParameters(request, Object.keys(feedQuerySchema.shape));
    const { after = 0, ...page } = parseQuery(request, feedQuerySchema);
    const items = await readFeed(reading, merchant, { after, ...page });
    pullReads.inc({ outcome: items.length === 0 ? 'empty' : 'events' });
    // always a cursor, also for an empty page
    const next = items.at(-1)?.position ?? after;
    response.json({ events: items.map(({ id, body }) => ({ id, ...body })), next_cursor: String(next) });
  });
  return router;
}
