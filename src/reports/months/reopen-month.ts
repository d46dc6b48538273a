import { auditChange } from '../../access/audit.ts';
import { checkNote } from '../../access/check-note.ts';
import { takeResult } from '../../access/keyed-steps.ts';
import type { Context } from '../../context.ts';
import { listClosesInForce, readMonthChanges } from '../../seal/read-month-closes.ts';
import { refuse } from '../../texts/refuse.ts';
import { type Closing, readNewestSeq } from './close-month.ts';
import { findLaterCloses } from './find-refusals.ts';
import { MonthRefusedError } from './refusal.ts';

export type Reopening = Closing & { note: string };

/**
 * Reopens a month: its files show the newest cut again, until it is closed anew. The row of its close stays.
 * @returns whether it was closed: reopening a reopened month changes nothing.
 * @throws ConfereError `conflict` for a month that was never closed; MonthRefusedError while a later one is closed.
 */
export async function reopenMonth(context: Context, reopening: Reopening): Promise<boolean> {
  if (takeResult()) return true;
  const { month, actor, via } = reopening;
  checkNote(reopening.note);
  const newest = (await readMonthChanges(context.db, month)).at(-1);
  if (newest?.action === 'reopen') return false;
  await auditChange(
    context,
    (inner) => writeReopening(inner, reopening),
    ({ seq, close }) => ({
      actor,
      action: 'months.reopen',
      target: month,
      detail: describeReopening({ seq, close, via }),
    }),
  );
  return true;
}

type Written = { seq: number; close: number };

/** Writes the row that reopens a month, in the caller's transaction. @throws as `reopenMonth`. */
export async function writeReopening({ db, clock }: Context, { month, actor, note }: Reopening): Promise<Written> {
  const why = checkNote(note);
  const [close] = listClosesInForce(await readMonthChanges(db, month));
  if (!close) throw refuse('month_not_closed', { month });
  const later = await findLaterCloses(db, month);
  if (later.length > 0) throw new MonthRefusedError('month_kept_closed', month, later);
  // a concurrent change takes the same number: this one is then tried again, and sees it
  const seq = (await readNewestSeq(db)) + 1;
  const row = { seq, month, action: 'reopen', at: clock.now(), actor, note: why, base_seq: close.seq };
  await db.insertInto('month_closes').values(row).execute();
  return { seq, close: close.seq };
}

/** The audit's detail. */
export function describeReopening({ seq, close, via }: Written & { via?: string | undefined }): string {
  return `${via ? `${via} ` : ''}${JSON.stringify({ reopen: seq, close })}`;
}
