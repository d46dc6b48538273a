import type { Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transactWithAlerts } from '../../mismatches/flag-closed-days.ts';
import { lockPolicies } from '../journal/read-policies.ts';
import { type AdjustmentKind, makeAdjustmentId, writeAdjustment } from './adjust-books.ts';

const BATCH_ROWS = 50;
/** The actor of adjustments that an opening, and not a person, causes. */

/**
 * Adapts a platform's adjustments to its opening. Adjustments dated before the opening are part of its balance and are
 * reversed at their own time. Adjustments that an earlier opening reversed, and that no opening covers now, are booked
 * again. Each change is a row that names the adjustment it reverses. Idempotent; batches are committed one by one.
 */
export async function repostAdjustments(context: Context, platform: string): Promise<void> {
  for (;;) {
    context.signal.throwIfAborted();
    const written = await transactWithAlerts(context, async (trx) => {
      await lockPolicies(trx);
      return (await reverseIncluded(context, trx, platform)) + (await bookAgain(context, trx, platform));
    });
    if (written === 0) return;
  }
}

/** Selects adjustments in force that are dated before the opening in force. */
export function selectAdjustmentsBeforeOpening(db: Reader) {
  return db
    .selectFrom('adjustments')
    .innerJoin('openings', (join) =>
      join.onRef('openings.platform', '=', 'adjustments.platform').on('openings.in_force', '=', 1),
    )
    .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
    .leftJoin('adjustments as reversal', 'reversal.reverses_seq', 'adjustments.seq')
    .where('entries.kind', '=', 'adjustment')
    .where('reversal.seq', 'is', null)
    .whereRef('adjustments.day', '<', 'openings.day')
    .orderBy('adjustments.seq');
}

async function reverseIncluded(context: Context, trx: Transaction<Database>, platform: string): Promise<number> {
  const rows = await selectAdjustmentsBeforeOpening(trx)
    .selectAll('adjustments')
    .select(['openings.seq as in_force_seq', 'openings.id as in_force_id'])
    .where('adjustments.platform', '=', platform)
    .limit(BATCH_ROWS)
    .execute();
  for (const row of rows) {
    const note = `it is in the balance of the opening ${row.in_force_id}`;
    const back = { ...factsOf(row), amountCents: -row.amount_cents, note, actor: SYSTEM_ACTOR };
    const why = { reverses: { seq: row.seq, entrySeq: row.entry_seq }, openingSeq: row.in_force_seq };
    await writeAdjustment(context, trx, makeAdjustmentId(), back, why);
  }
  return rows.length;
}

async function bookAgain(context: Context, trx: Transaction<Database>, platform: string): Promise<number> {
  const rows = await trx
    .selectFrom('adjustments')
    .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
    .innerJoin('adjustments as first', 'first.seq', 'adjustments.reverses_seq')
    .leftJoin('adjustments as again', 'again.reverses_seq', 'adjustments.seq')
    .leftJoin('openings', (join) =>
      join.onRef('openings.platform', '=', 'adjustments.platform').on('openings.in_force', '=', 1),
    )
    .selectAll('adjustments')
    .select('first.id as first_id')
    .where('adjustments.platform', '=', platform)
    .where('adjustments.opening_seq', 'is not', null)
    .where('entries.kind', '=', 'reversal')
    .where('again.seq', 'is', null)
    .where((eb) => eb.or([eb('openings.seq', 'is', null), eb('adjustments.day', '>=', eb.ref('openings.day'))]))
    .orderBy('adjustments.seq')
    .limit(BATCH_ROWS)
    .execute();
  for (const row of rows) {
    const note = `the opening that set ${row.first_id} aside was taken back`;
    const again = { ...factsOf(row), amountCents: -row.amount_cents, note, actor: SYSTEM_ACTOR };
    await writeAdjustment(context, trx, makeAdjustmentId(), again, {
      takesBackSeq: row.seq,
      openingSeq: row.opening_seq,
    });
  }
  return rows.length;
}

function factsOf(row: { platform: string; day: string; kind: string; bank_account: string | null }) {
  const { platform, day, kind, bank_account: bankAccount } = row;
  return { platform, day, kind: kind as AdjustmentKind, bankAccount };
}
