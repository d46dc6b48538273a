import { sql } from 'kysely';
import type { Context } from '../../../src/context.ts';
import { readRow } from '../../support/read-rows.ts';

const FAR = 1_000;

/**
 * Draws the number of an event now, as another node of a cluster may. Events committed from now on have higher numbers.
 * @returns the function that commits it: an event of the transaction that moves no money.
 */
export async function addLateEvent(
  { db, clock }: Context,
  transactionId: string,
  event: { status: string; atWall: string },
): Promise<() => Promise<void>> {
  const top = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max<number>('seq').as('seq'))
    .executeTakeFirst();
  const seq = (top?.seq ?? 0) + 1;
  await sql.raw(`ALTER TABLE events AUTO_INCREMENT = ${seq + FAR}`).execute(db);
  return async () => {
    const transaction = await readRow(db, 'transactions', ['seq'], { id: transactionId });
    const row = { transaction_seq: transaction.seq, status: event.status, at_wall: event.atWall };
    const rest = { occurrence: 0, position: 1, sequence: 2, inferred: 0, seen_at: clock.now(), source_kind: 'show' };
    await db
      .insertInto('events')
      .values({ seq, ...row, ...rest })
      .execute();
    await db
      .updateTable('transactions')
      .set({ status: event.status, status_wall: event.atWall })
      .where('seq', '=', transaction.seq)
      .execute();
  };
}
