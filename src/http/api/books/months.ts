import type { Request, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { isMonth, type Month } from '../../../domain/calendar.ts';
import { note } from '../../../operations/fields.ts';
import { closeMonth } from '../../../reports/months/close-month.ts';
import { listMonths, presentMonth, presentShownMonth, readMonth } from '../../../reports/months/list-months.ts';
import { reopenMonth } from '../../../reports/months/reopen-month.ts';
import { refuse } from '../../../texts/refuse.ts';
import { canSeePersonalData, getActor, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage, presentPage } from '../../parse-page.ts';
import { parseBody } from '../../parse-request.ts';

type MonthRequest = Request<{ month: string }>;

export const monthCloseSchema = z.object({ note: note.optional() });
export const monthReopeningSchema = z.object({ note });

/** Months: what keeps one open, closing it, and reopening it. */
export function monthRoutes(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };

  router.get('/months', requireRole('viewer'), async (request, response) => {
    const { limit, after } = parsePage(request);
    const found = (await listMonths(reading)).filter(({ month }) => after === undefined || month < after);
    const rows = found.slice(0, limit);
    const masked = !canSeePersonalData(response);
    const months = rows.map((one) => presentMonth(one, masked));
    response.json(presentPage('months', months, found.length > limit ? rows.at(-1)?.month : undefined));
  });

  router.get('/months/:month', requireRole('viewer'), async (request: MonthRequest, response) => {
    response.json(await show(reading, readMonthName(request), !canSeePersonalData(response)));
  });

  router.post('/months/:month/close', requireRole('accountant'), async (request: MonthRequest, response) => {
    const month = readMonthName(request);
    const changed = await closeMonth(context, {
      month,
      actor: getActor(response),
      ...parseBody(request, monthCloseSchema),
    });
    response.status(changed ? 201 : 200).json(await show(context, month));
  });

  router.post('/months/:month/reopen', requireRole('admin'), async (request: MonthRequest, response) => {
    const month = readMonthName(request);
    await reopenMonth(context, { month, actor: getActor(response), ...parseBody(request, monthReopeningSchema) });
    response.json(await show(context, month));
  });
  return router;
}

function readMonthName({ params }: MonthRequest): Month {
  if (isMonth(params.month)) return params.month;
  throw refuse('month_address');
}

async function show(context: Context, month: Month, masked = false) {
  const shown = await readMonth(context, month);
  if (!shown) throw refuse('month_to_come', { month });
  return presentShownMonth(shown, masked);
}
