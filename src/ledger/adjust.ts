/**
 * Movements that the provider's list does not show, entered by a person: a withdrawal to the bank, a fee, a block. A
 * positive amount adds to what is available; the other leg says where it came from. Reversible, never changed.
 */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { isDuplicate, transact } from '../database/transact.ts';
import type { Day } from '../domain/calendar.ts';
import { ConfereError } from '../domain/errors.ts';
import { formatAmount } from '../domain/money.ts';
import { nameAccount, type Posting } from './post.ts';
import { lockPolicies } from './read-policies.ts';
import { writeEntries } from './write-entries.ts';

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
};

/** Books an adjustment at its day's start. @returns its id. */
export async function adjustBooks(context: Context, adjustment: Adjustment): Promise<string> {
  const id = makeId();
  await transact(context.db, (trx) => writeAdjustment(context, trx, id, adjustment, undefined));
  return id;
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
  const own = makeId();
  try {
    await transact(context.db, async (trx) => {
      const row = await trx.selectFrom('adjustments').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
      if (!row) throw new ConfereError('not_found', 'there is no such adjustment');
      if (row.reverses_seq !== null)
        throw new ConfereError('conflict', 'it is a reversal itself: enter a new adjustment');
      const back = {
        platform: row.platform,
        day: row.day,
        kind: row.kind as AdjustmentKind,
        amountCents: -row.amount_cents,
        ...by,
      };
      await writeAdjustment(context, trx, own, back, { seq: row.seq, entrySeq: row.entry_seq });
    });
    return own;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new ConfereError('conflict', 'it is reversed already', { cause: error });
  }
}

async function writeAdjustment(
  context: Context,
  trx: Transaction<Database>,
  id: string,
  adjustment: Adjustment,
  reverses: { seq: number; entrySeq: number } | undefined,
): Promise<void> {
  // one at a time; and this very one may be there already, when a connection was lost as it was committed
  await lockPolicies(trx);
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
        // a reversal's own postings are those of what it reverses, turned round
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
  await trx
    .insertInto('adjustments')
    .values({
      id,
      platform,
      day: adjustment.day,
      kind: adjustment.kind,
      amount_cents: adjustment.amountCents,
      note: adjustment.note,
      entry_seq: entrySeq ?? 0,
      reverses_seq: reverses?.seq ?? null,
      created_at: now,
      actor: adjustment.actor,
    })
    .execute();
}

function makeId(): string {
  return `adj_${randomUUID().replaceAll('-', '')}`;
}

function listPostings({ kind, platform, amountCents }: Adjustment): Posting[] {
  return [
    { account: nameAccount('Assets:Provider:Available', platform), cents: amountCents },
    { account: nameAccount(OTHER_LEG[kind], platform), cents: -amountCents },
  ];
}

function negate(postings: Posting[]): Posting[] {
  return postings.map(({ account, cents }) => ({ account, cents: -cents }));
}

/** Adjustments as our API shows them, the newest first. @param before the row number to go on below. */
export async function listAdjustments(db: Reader, limit: number, before: number | undefined, id?: string) {
  let query = db
    .selectFrom('adjustments')
    .leftJoin('adjustments as reversed', 'reversed.seq', 'adjustments.reverses_seq')
    .selectAll('adjustments')
    .select('reversed.id as reverses')
    .orderBy('adjustments.seq', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('adjustments.seq', '<', before);
  if (id !== undefined) query = query.where('adjustments.id', '=', id);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    platform: row.platform,
    day: row.day,
    kind: row.kind,
    amount: formatAmount(row.amount_cents),
    note: row.note,
    reverses: row.reverses,
  }));
}
