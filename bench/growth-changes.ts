import type { Context } from '../src/context.ts';
import type { Calendar } from '../src/domain/calendar.ts';
import { applyObservations } from '../src/ledger/apply/apply-observations.ts';
import { parseTransaction } from '../src/provider/parse-transaction.ts';
import { platformOf } from './pages-load.ts';

const ROWS_A_PAGE = 100;

/** Writes new transactions of two events each, as the provider shows them: of now, with numbers of their own. */
export function writeNew(now: Date, calendar: Calendar, { from, count }: { from: number; count: number }): object[] {
  const at = (secondsAgo: number): string => calendar.toWallTime(new Date(now.getTime() - secondsAgo * 1_000));
  return Array.from({ length: count }, (_, index) => {
    const number = from + index;
    const digits = String(number).padStart(12, '0');
    return {
      ...{ id: `0f0e0d0c-0000-4000-8000-${digits}`, reference: `novo-${digits}`, extra: `loja-${number % 50}` },
      ...{ operation: number % 10 === 0 ? 'cashout' : 'cashin', status: 'paid', amount: `${10 + (number % 900)}.50` },
      ...{ commission: '0.35', platform: platformOf(number), name: 'Maria da Conceição', document: '12345678909' },
      ...{ e2e_id: `E12345678${at(60).replace(/\D/g, '').slice(0, 12)}${digits.slice(1)}`, date_created: at(90) },
      events: [
        { status: 'paid', date_created: at(60) },
        { status: 'pending', date_created: at(90) },
      ],
    };
  });
}

/** Applies them as a list does, page by page; a single one as a webhook's. */
export async function applyNew(context: Context, rows: object[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_A_PAGE) {
    const page = rows.slice(start, start + ROWS_A_PAGE).map((row) => {
      const read = parseTransaction(row);
      if (!read.ok) throw new Error(read.reason);
      return read;
    });
    const askedAt = context.clock.now();
    await applyObservations(
      context,
      page.map(({ transaction, digest }) => ({ transaction, digest, askedAt, source: { kind: 'show' } })),
    );
  }
}
