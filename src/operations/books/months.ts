/** Months: what keeps one open, closing it, and reopening it. */
import { z } from 'zod';
import { maySeePersons } from '../../access/roles.ts';
import type { Context } from '../../context.ts';
import { boundsOfMonth, isMonth, type Month } from '../../domain/calendar.ts';
import { countOrders } from '../../expected/read/count-orders.ts';
import { closeMonth } from '../../reports/months/close-month.ts';
import {
  listMonths,
  presentMonth,
  presentShownMonth,
  readMonth,
  type ShownMonth,
} from '../../reports/months/list-months.ts';
import { reopenMonth } from '../../reports/months/reopen-month.ts';
import { refuse } from '../../texts/refuse.ts';
import { type By, defineChange } from '../define-change.ts';
import { defineItem } from '../define-item.ts';
import { defineList } from '../define-list.ts';
import { created, ok } from '../describe-operation.ts';
import { note } from '../fields.ts';
import { listedMonth, shownMonth } from '../rows/months.ts';

export const months = defineList({
  name: 'months',
  roles: ['viewer'],
  route: '/months',
  row: listedMonth,
  async read(reading, { limit, after = Number.POSITIVE_INFINITY }) {
    const rows = (await listMonths(reading)).map((row) => ({ ...row, seq: Number(row.month.replace('-', '')) }));
    return rows.filter(({ seq }) => seq < after).slice(0, limit);
  },
  present: (row, { role }) => presentMonth(row, !maySeePersons(role)),
});

export const oneMonth = defineItem({
  route: '/months/{month}',
  summary: 'One month, YYYY-MM: what keeps it open, or the balances that it fixes',
  item: shownMonth,
  async read(context, { id, caller }) {
    const month = nameOf(id);
    const shown = await readMonth(context, month);
    if (!shown) throw refuse('month_to_come', { month });
    return await presentWithOrders(context, shown, !maySeePersons(caller.role));
  },
});

/** A month with what its orders lack: they keep no month open. */
export async function presentWithOrders(context: Context, shown: ShownMonth, masked = false) {
  return { ...presentShownMonth(shown, masked), expected: await countOrders(context, boundsOfMonth(shown.month)) };
}

const answerMonth = (context: Context, _made: unknown, { by }: { by: By }) => oneMonth.read(context, by);

export const closeOneMonth = defineChange({
  name: 'months.close',
  audits: 'itself',
  roles: ['accountant'],
  route: 'POST /months/{month}/close',
  summary: 'Close a month: its files keep the cut of now. 409 with `refusals` while something of it is in doubt',
  input: z.object({ note: note.optional() }),
  answers: { ...ok('It was closed already', shownMonth), ...created('Closed', shownMonth) },
  refuses: ['month_address', 'month_kept_open', 'month_raced'],
  change: (context, given, { caller, id }) => closeMonth(context, { ...given, month: nameOf(id), actor: caller.id }),
  status: (isNew) => (isNew ? 201 : 200),
  answer: answerMonth,
});

export const reopenOneMonth = defineChange({
  name: 'months.reopen',
  audits: 'itself',
  roles: ['admin'],
  route: 'POST /months/{month}/reopen',
  summary: 'Reopen a month: its files show the newest cut again. 409 with `refusals` while a later month is closed',
  input: z.object({ note }),
  answers: ok('Open', shownMonth),
  refuses: ['month_address', 'month_not_closed', 'month_kept_closed'],
  change: (context, given, { caller, id }) => reopenMonth(context, { ...given, month: nameOf(id), actor: caller.id }),
  answer: answerMonth,
});

/** @throws ConfereError `not_found` for a text that is no month. */
function nameOf(text: string): Month {
  if (isMonth(text)) return text;
  throw refuse('month_address');
}
