import type express from 'express';
import { z } from 'zod';
import { readFeed } from '../../../callbacks/manage/read-feed.ts';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { pullReads } from '../../../metrics/metrics.ts';
import { instant, wholeNumber } from '../../../operations/fields.ts';
import { createPullAdmission } from '../../access/admit-pull.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { assertKnownParameters } from '../../check-query.ts';
import { createRouter } from '../../create-router.ts';
import { parseQuery } from '../../parse-request.ts';

const LIMIT_MAX = 200;
const LIMIT_DEFAULT = 50;

export const feedQuerySchema = z.object({
  after: z
    .string()
    .regex(/^\d{1,16}$/, 'must be a next_cursor of an earlier answer')
    .transform(Number)
    .optional(),
  limit: wholeNumber(1, LIMIT_MAX).default(LIMIT_DEFAULT),
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
  const reading = limitReads(context);
  const admit = createPullAdmission(context, guard, () => pullReads.inc({ outcome: 'limited' }));
  router.get('/events', async (request, response) => {
    const merchant = await admit(request, response);
    assertKnownParameters(request, Object.keys(feedQuerySchema.shape));
    const { after = 0, ...page } = parseQuery(request, feedQuerySchema);
    const { items, next } = await readFeed(reading, merchant, { after, ...page });
    pullReads.inc({ outcome: items.length === 0 ? 'empty' : 'events' });
    // always a cursor, also for an empty page
    response.json({ events: items.map(({ id, body }) => ({ id, ...body })), next_cursor: String(next) });
  });
  return router;
}
