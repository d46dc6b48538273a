import type express from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { isMerchantToken } from '../../../access/tokens.ts';
import { readFeed } from '../../../callbacks/manage/read-feed.ts';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { pullReads } from '../../../metrics/metrics.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../operations/describe-operation.ts';
import { instant, wholeNumber } from '../../../operations/fields.ts';
import { refuse } from '../../../texts/refuse.ts';
import { createPullAdmission } from '../../access/admit-pull.ts';
import { readBearer } from '../../access/authorize.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { authenticateMerchant, getScope } from '../../access/require-scope.ts';
import { assertKnownParameters } from '../../check-query.ts';
import { createRouter } from '../../create-router.ts';
import { parseQuery } from '../../parse-request.ts';

const LIMIT_MAX = 200;
const MESSAGE_ID = /^msg_\w{1,64}$/;

export const feedQuerySchema = z.object({
  after: z
    .string()
    .regex(/^\d{1,16}$/, 'must be a next_cursor of an earlier answer')
    .transform(Number)
    .optional(),
  limit: wholeNumber(1, LIMIT_MAX).default(PAGE_ITEMS_DEFAULT),
  since: z
    .string()
    .refine(
      (text) => MESSAGE_ID.test(text) || instant.safeParse(text).success,
      'must be an instant, 2026-11-21T00:00:00-03:00, or the id of an event, msg_…',
    )
    .transform((text) => (MESSAGE_ID.test(text) ? text : new Date(text)))
    .optional()
    .describe(
      'only events that were stored at or after it, or not before the event with this id; not when they happened',
    ),
  peek: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(false)
    .describe('true: `after` acknowledges nothing. A token of the portal only reads: it sends true'),
});

/**
 * The pull API: a merchant fetches its events with its pull token; with a token of the portal it reads them, and acknowledges none.
 * Mount it before the routes that need a token of ours.
 */
export function eventRoutes(context: Context, guard: AuthGuard): express.Router {
  const router = createRouter();
  const reading = limitReads(context);
  const admit = createPullAdmission(context, guard, () => pullReads.inc({ outcome: 'limited' }));
  const admitPortal = authenticateMerchant(context, guard);
  const readPage = async (request: Request, response: Response) => {
    const isPortal = isMerchantToken(readBearer(request) ?? '');
    const merchant = isPortal ? undefined : await admit(request, response);
    if (isPortal) await admitPortal(request, response, () => undefined);
    assertKnownParameters(request, Object.keys(feedQuerySchema.shape));
    const { after = 0, ...page } = parseQuery(request, feedQuerySchema);
    if (merchant) return await readFeed(reading, merchant, { after, ...page });
    if (!page.peek) throw refuse('feed_peek_only');
    return await getScope(response).peekFeed({ after, ...page });
  };
  router.get('/events', async (request, response) => {
    const { items, next, last } = await readPage(request, response);
    pullReads.inc({ outcome: items.length === 0 ? 'empty' : 'events' });
    // always a cursor, also for an empty page
    response.json({
      events: items.map(({ id, body }) => ({ id, ...body })),
      next_cursor: String(next),
      newest_cursor: String(last),
    });
  });
  return router;
}
