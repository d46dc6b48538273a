/**
 * A month is closed, and reopened, by a person. Closing fixes a cut: from then on the month's files show that cut, and what
 * changes the month later is an adjustment of the first open month. It is refused while anything of the month is in
 * doubt (find-refusals.ts).
 *
 * One row of `month_closes` is added for each change. Its number is the one after the newest row, so of two concurrent
 * changes one is refused by the key and decides again. The cut is taken before: an entry that is committed at the same time
 * is below the sealed position, or it is an adjustment.
 */
import type { Insertable } from 'kysely';
import { auditChange } from '../../access/audit.ts';
import { checkNote } from '../../access/check-note.ts';
import { takeResult } from '../../access/keyed-steps.ts';
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { boundsOfMonth, type Month } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { VERSION } from '../../domain/version.ts';
import { digestMonth, formatMonthBalances, readMonthBalances } from '../../seal/digest-month.ts';
import { refusal, refuseField } from '../../texts/refuse.ts';
import { queueLeaf, writeMonthLeaf } from '../../tlog/append.ts';
import { hashLeaf } from '../../tlog/merkle.ts';
import { findCloseBefore, findMonthClose } from '../plan/find-month-close.ts';
import { readEventWindow } from '../plan/read-event-window.ts';
import { takeCut } from '../plan/take-cut.ts';
import { classifyDays } from '../revisions/classify-days.ts';
import { findRefusals } from './find-refusals.ts';
import { MonthRefusedError } from './refusal.ts';

/** `via`: the place, for the audit. */
export type Closing = { month: Month; actor: string; note?: string | undefined; via?: 'console' };
type Row = Insertable<Database['month_closes']>;
/** A close that is checked, and not written. `after` is the newest row that it was checked against. */
export type PreparedClose = { after: number; row: Row; detail: string };

const RACES_MAX = 5;

/** Another month was closed or reopened since the check. */
export class MonthRacedError extends ConfereError {
  constructor() {
    super(...refusal('month_raced'));
  }
}

/**
 * Closes a month. @returns whether it was open: closing a closed month changes nothing.
 * @throws ConfereError `invalid_request` for a month to come; MonthRefusedError with everything that keeps it open.
 */
export async function closeMonth(context: Context, closing: Closing): Promise<boolean> {
  if (takeResult()) return true;
  for (let race = 1; ; race++) {
    if (await findMonthClose(context.db, closing.month)) return false;
    const prepared = await prepareClose(context, closing);
    const { actor, month: target } = closing;
    const done = { actor, action: 'months.close', target, detail: prepared.detail };
    try {
      await auditChange(context, (inner) => writeClose(inner, prepared), done);
      return true;
    } catch (error) {
      if (!(error instanceof MonthRacedError) || race >= RACES_MAX) throw error;
    }
  }
}

/** Takes the cut and checks the month. Nothing is written. @throws as `closeMonth`. */
export async function prepareClose(context: Context, { month, actor, note, via }: Closing): Promise<PreparedClose> {
  const { calendar, clock, config, db } = context;
  const { from, to } = boundsOfMonth(month);
  if (from > calendar.dayOf(clock.now())) {
    throw refuseField('month', 'month_not_begun', { month });
  }
  const after = await readNewestSeq(db);
  // twice: the cut has all entries of a run that proved a day before it, and no mismatch is open that was raised before it
  await assertReady(context, month);
  const days = await classifyDays(context, { from, to }, clock.now());
  const cut = await takeCut(context);
  await assertReady(context, month);
  const at = clock.now();
  const { position, sealHash } = cut;
  const balances = await readMonthBalances(db, month, { position: position ?? 0 }, at);
  const digest = digestMonth(month, balances);
  const row: Row = {
    ...{ seq: after + 1, month, action: 'close', at, actor, note: note === undefined ? null : checkNote(note), digest },
    base_seq: (await findCloseBefore(db, month))?.seq ?? null,
    cut_seal_position: position,
    cut_seal_hash: sealHash,
    cut_entry_seq: cut.entrySeq,
    cut_event_seq: cut.eventSeq,
    cut_mismatch_change_seq: cut.mismatchChangeSeq,
    cut_fact_change_seq: cut.factChangeSeq,
    cut_event_window: await inSnapshot(db, (snapshot) => readEventWindow(snapshot, cut.eventSeq)),
    cut_orders: cut.orders && JSON.stringify(cut.orders),
    days: JSON.stringify(days),
    balances: formatMonthBalances(balances),
    full_documents: config.REPORT_FULL_DOCUMENTS ? 1 : 0,
    version: VERSION,
  };
  const fixed = { close: row.seq, position, hash: sealHash?.toString('hex'), digest: digest.toString('hex') };
  return { after, row, detail: `${via ? `${via} ` : ''}${JSON.stringify(fixed)}` };
}

/** The digest of a month's balances as the ledger knows them now. */
export async function readMonthDigest({ db, clock }: Context, month: Month): Promise<Buffer> {
  return digestMonth(month, await readMonthBalances(db, month, 'now', clock.now()));
}

async function assertReady(context: Context, month: Month): Promise<void> {
  const refusals = await findRefusals(context, month);
  if (refusals.length > 0) throw new MonthRefusedError('month_kept_open', month, refusals);
}

/**
 * Writes a prepared close, in the caller's transaction.
 * @throws MonthRacedError if the month is closed, or the close was checked against older rows.
 */
export async function writeClose({ db }: Context, { after, row }: PreparedClose): Promise<void> {
  if ((await readNewestSeq(db)) !== after || (await findMonthClose(db, row.month))) throw new MonthRacedError();
  await db.insertInto('month_closes').values(row).execute();
  const { seq, month, cut_seal_position: position, cut_seal_hash: hash, digest } = row;
  if (position == null || !hash || !digest) return;
  await queueLeaf(db, {
    kind: 'month',
    ref: seq,
    hash: hashLeaf(writeMonthLeaf({ seq, month, position, hash, digest })),
  });
}

export async function readNewestSeq(db: Reader): Promise<number> {
  const row = await db.selectFrom('month_closes').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}
