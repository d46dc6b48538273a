import express, { type Router } from 'express';
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { isDay } from '../../domain/calendar.ts';
import { formatAmount, parseSignedAmount } from '../../domain/money.ts';
import { openBooks, reverseOpening } from '../../ledger/open-books.ts';
import { actorOf, allow } from '../authorize.ts';
import { cutPage, page, readNumberedPage } from '../pages.ts';
import { parseBody } from '../validate.ts';

export const newOpeningSchema = z.object({
  platform: z.string('must be a platform id').min(1).max(64),
  day: z.string('must be a day: YYYY-MM-DD').refine(isDay, 'must be a day: YYYY-MM-DD'),
  balance: z
    .string('must be a decimal text: "1234.56"')
    .refine((text) => parseSignedAmount(text) !== undefined, 'must be an amount with at most two decimals'),
});

/** Takes an opening back, so that another can be stated. */
export const reversedOpeningSchema = z.object({ reverses: z.string().min(1).optional() });

export function openingRoutes(context: Context): Router {
  const router = express.Router();
  router.post('/openings', allow('admin'), async (req, response) => {
    const actor = actorOf(response);
    const { reverses } = parseBody(req, reversedOpeningSchema);
    if (reverses !== undefined) {
      await reverseOpening(context, reverses);
      await audit(context, { actor, action: 'openings.reverse', target: reverses });
      response.status(201).json({ reverses });
      return;
    }
    const { platform, day, balance } = parseBody(req, newOpeningSchema);
    const balanceCents = parseSignedAmount(balance) ?? 0n;
    const id = await openBooks(context, { platform, day, balanceCents, actor });
    await audit(context, { actor, action: 'openings.create', target: id });
    response.status(201).json({ id, platform, day, balance: formatAmount(balanceCents), reversed: false });
  });

  router.get('/openings', allow('viewer'), async (req, response) => {
    const { limit, after } = readNumberedPage(req);
    let query = context.db
      .selectFrom('openings')
      .selectAll()
      .orderBy('seq', 'desc')
      .limit(limit + 1);
    if (after !== undefined) query = query.where('seq', '<', after);
    const { rows, last } = cutPage(await query.execute(), limit);
    const openings = rows.map((row) => ({
      id: row.id,
      platform: row.platform,
      day: row.day,
      balance: formatAmount(row.balance_cents),
      reversed: row.in_force === null,
    }));
    response.json(page('openings', openings, last?.seq));
  });
  return router;
}
