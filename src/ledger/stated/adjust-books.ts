/**
 * Adjustments: movements that the provider's list does not show, entered by a person, such as a bank withdrawal, a fee
 * or a block. A positive amount adds to Available; the kind selects the other account. They can be reversed, never
 * changed.
 */
import type { Transaction } from 'kysely';
import { checkNote } from '../../access/check-note.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { Day } from '../../domain/calendar.ts';
import { createId } from '../../domain/ids.ts';
import { flagClosedDays, transactWithAlerts } from '../../mismatches/flag-closed-days.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { nameAccount, negate, type Posting } from '../journal/plan-entries.ts';
import { lockPolicies } from '../journal/read-policies.ts';
import { writeEntries } from '../journal/write-entries.ts';
import { listBankAccounts } from './bank-accounts.ts';
import { checkDayBegun, checkPlatformKnown } from './check-stated.ts';

export const ADJUSTMENT_KINDS = ['bank', 'fee', 'block', 'other'] as const;
export type AdjustmentKind = (typeof ADJUSTMENT_KINDS)[number];

const OTHER_LEG: Record<AdjustmentKind, string> = {
  bank: 'Assets:Bank',
  fee: 'Expenses:Fees',
  block: 'Assets:Provider:Blocked',
  other: 'Equity:Adjustments',
};

export type Adjustment = {
  platform: string;
  day: Day;
  kind: AdjustmentKind;
  amountCents: bigint;
  note: string;
  actor: string;
  /** The bank account on the other side, of kind bank. */
  bankAccount?: string | null | undefined;
  /** Confirms a platform that no transaction shows yet. */
  newPlatform?: boolean | undefined;
};

/**
 * The cause of an adjustment that is not a new one by a person: what it reverses or restores, and for which
 * opening.
 */
type Cause = {
  reverses?: { seq: number; entrySeq: number };
  /** The reversal that it undoes: the reversed adjustment is booked again. */
  takesBackSeq?: number;
  openingSeq?: number | null;
};

/**
 * Books an adjustment at its day's start.
 * @returns its id.
 * @throws ConfereError `invalid_request` for a future day, an unseen platform, or a day before the platform's opening,
 *   whose balance includes it already.
 */
export async function adjustBooks(context: Context, adjustment: Adjustment): Promise<string> {
  const id = makeAdjustmentId();
  const note = checkNote(adjustment.note);
  checkDayBegun(context, adjustment.day);
  await checkPlatformKnown(context.db, adjustment);
  await checkBankAccount(context.db, adjustment);
  await transactWithAlerts(context, async (trx) => {
    await lockPolicies(trx);
    await assertOpened(trx, adjustment);
    await writeAdjustment(context, trx, id, { ...adjustment, note }, {});
  });
  return id;
}

async function checkBankAccount(db: Reader, { kind, bankAccount: account = null }: Adjustment): Promise<void> {
  if (account === null) return;
  if (kind !== 'bank') throw refuseField('bank_account', 'bank_account_of_other_kind');
  if (!(await listBankAccounts(db)).includes(account)) throw refuseField('bank_account', 'bank_account_unknown');
}

async function assertOpened(trx: Transaction<Database>, { platform, day }: Adjustment): Promise<void> {
  const opening = await trx
    .selectFrom('openings')
    .select('day')
    .where('platform', '=', platform)
    .where('in_force', '=', 1)
    .where('day', '>', day)
    .executeTakeFirst();
  if (!opening) return;
  throw refuseField('day', 'books_open_later', { day: opening.day, platform });
}

/**
 * Reverses an adjustment at its own day.
 * @returns the reversal's id.
 * @throws ConfereError `not_found`, `conflict` when it is reversed already or is a reversal itself.
 */
export async function reverseAdjustment(
  context: Context,
  id: string,
  by: { note: string; actor: string },
): Promise<string> {
  const own = makeAdjustmentId();
  const note = checkNote(by.note);
  await transactWithAlerts(context, async (trx) => {
    // before the row: an opening that reverses the adjustment locks in this order
    await lockPolicies(trx);
    const row = await trx
      .selectFrom('adjustments')
      .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
      .selectAll('adjustments')
      .select('entries.kind as entry_kind')
      .where('id', '=', id)
      .executeTakeFirst();
    if (!row) throw refuse('adjustment_unknown');
    if (row.entry_kind === 'reversal') throw refuse('adjustment_is_reversal');
    await assertUnreversed(trx, row.seq, own);
    const back = {
      platform: row.platform,
      day: row.day,
      kind: row.kind as AdjustmentKind,
      amountCents: -row.amount_cents,
      bankAccount: row.bank_account,
      ...{ ...by, note },
    };
    await writeAdjustment(context, trx, own, back, { reverses: { seq: row.seq, entrySeq: row.entry_seq } });
  });
  return own;
}

/** @param own the id of the reversal being made: an earlier attempt may have committed it. */
async function assertUnreversed(trx: Transaction<Database>, seq: number, own: string): Promise<void> {
  const other = await trx
    .selectFrom('adjustments')
    .select('id')
    .where('reverses_seq', '=', seq)
    .where('id', '!=', own)
    .executeTakeFirst();
  if (other) throw refuse('adjustment_reversed');
}

/** Writes an adjustment with its entry. The lock of the policies allows one at a time. */
export async function writeAdjustment(
  context: Context,
  trx: Transaction<Database>,
  id: string,
  adjustment: Adjustment,
  { reverses, takesBackSeq, openingSeq = null }: Cause,
): Promise<void> {
  // an earlier attempt may have committed it before its connection was lost
  const written = await trx.selectFrom('adjustments').select('seq').where('id', '=', id).executeTakeFirst();
  if (written) return;
  const now = context.clock.now();
  const atWall = `${adjustment.day} 00:00:00`;
  const { platform } = adjustment;
  const postings = listPostings(adjustment);
  const [entrySeq] = await writeEntries(
    context,
    trx,
    [
      {
        transactionSeq: null,
        source: { kind: 'person' },
        // a reversal's postings are those of the reversed entry, negated
        reverse: reverses
          ? [
              {
                seq: reverses.entrySeq,
                kind: 'adjustment',
                eventSeq: null,
                atWall,
                platform,
                postings: negate(postings),
              },
            ]
          : [],
        post: reverses ? [] : [{ kind: 'adjustment', event: undefined, atWall, platform, postings }],
      },
    ],
    now,
  );
  await flagClosedDays(context, trx, [{ atWall }], now);
  await trx
    .insertInto('adjustments')
    .values({
      id,
      platform,
      day: adjustment.day,
      kind: adjustment.kind,
      amount_cents: adjustment.amountCents,
      note: adjustment.note,
      entry_seq: requireRowNumber(entrySeq, `the entry of adjustment ${id}`),
      reverses_seq: reverses?.seq ?? takesBackSeq ?? null,
      opening_seq: openingSeq,
      bank_account: adjustment.bankAccount ?? null,
      created_at: now,
      actor: adjustment.actor,
    })
    .execute();
}

export function makeAdjustmentId(): string {
  return createId('adj');
}

function listPostings({ kind, platform, amountCents }: Adjustment): Posting[] {
  return [
    { account: nameAccount('Assets:Provider:Available', platform), cents: amountCents },
    { account: nameAccount(OTHER_LEG[kind], platform), cents: -amountCents },
  ];
}
