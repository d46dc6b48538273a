import type { ExpressionBuilder, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { readRestores, touchesGap } from '../../database/restores.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { smallest } from '../../domain/lists.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { webhooksLost } from '../../metrics/metrics.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import type { RunRef } from '../windows/run-ref.ts';

const BATCH_ROWS = 200;
/** The provider's clock may differ from ours: a webhook received just before the change counts if it names its status. */
const CLOCK_LEEWAY_MS = 5_000;
/** A webhook is visible this long after it was received, or answered 503, or in a spool: its commit is given 3 s. */
const ARRIVAL_MS = 5_000;
/** A spool that does not report for this long counts as gone: 10 min while others report, a day if it is the only one. */
const GONE_MS = 10 * 60_000;
const GONE_ALONE_MS = 24 * 3_600_000;

type EndedRun = Pick<RunRef, 'seq' | 'from' | 'to'>;

/**
 * Checks each change whose expected webhook's grace is over. Any webhook, or repeat, received in that time that names
 * the transaction announced the change; otherwise its webhook is lost. `webhook_lost` is raised as resolved, since the
 * ledger has the change already. A change is not checked while its webhook may wait in a spool. One whose webhook may have
 * arrived in the gap of a restore expects none: nobody knows whether it did.
 * @param run the run at whose end this is called. @returns how many webhooks were lost.
 */
export async function checkExpectedWebhooks(context: Context, run?: EndedRun): Promise<number> {
  let lost = 0;
  for (;;) {
    const checked = await transact(context.db, (trx) => checkBatch(context, trx, run), { retryDuplicates: true });
    lost += checked.lost;
    webhooksLost.inc(checked.lost);
    if (checked.rows < BATCH_ROWS) break;
  }
  if (lost > 0) context.wakeUps.alerts.notify();
  return lost;
}

async function checkBatch(
  context: Context,
  trx: Transaction<Database>,
  run: EndedRun | undefined,
): Promise<{ rows: number; lost: number }> {
  const now = context.clock.now();
  const completeUntil = await findWebhooksCompleteUntil(trx, now);
  if (!completeUntil) return { rows: 0, lost: 0 };
  const rows = await claimDue(trx, now, new Date(completeUntil.getTime() - context.config.WEBHOOK_GRACE));
  const restores = await readRestores(trx);
  const found: FoundMismatch[] = [];
  for (const row of rows) {
    const announcedAt = await findAnnouncement(context, trx, row);
    const graceEnd = new Date(row.event_at.getTime() + context.config.WEBHOOK_GRACE);
    if (!announcedAt && touchesGap(restores, row.event_at, graceEnd)) {
      await trx.deleteFrom('owed_webhooks').where('event_seq', '=', row.event_seq).execute();
      continue;
    }
    await trx
      .updateTable('owed_webhooks')
      .set({ settled_at: now, announced_at: announcedAt })
      .where('event_seq', '=', row.event_seq)
      .execute();
    if (announcedAt) continue;
    found.push({
      kind: 'webhook_lost',
      scope: `${row.id} ${row.sequence}`,
      transactionSeq: row.seq,
      transactionId: row.id,
      reference: row.reference,
      amountCents: row.amount_cents,
      ...nameRun(row, run),
      expected: { webhook_by: graceEnd.toISOString() },
      actual: { status: row.status, at: context.calendar.toIso(row.at_wall) },
      resolution: 'applied',
    });
  }
  await raiseMismatches(trx, found, now);
  return { rows: rows.length, lost: found.length };
}

/** The run that read the change first; for a change learnt from a webhook or a show, the first run that reads its day. */
function nameRun(row: { run_seq: number | null; created_wall: string }, run: EndedRun | undefined) {
  if (row.run_seq !== null) return { runSeq: row.run_seq };
  const day = row.created_wall.slice(0, 10);
  return run && run.from <= day && day <= run.to ? { runSeq: run.seq } : {};
}

/** Locks the rows in a query of their own: MariaDB can't lock one table of a join. */
async function claimDue(trx: Transaction<Database>, now: Date, eventsUntil: Date) {
  const due = await trx
    .selectFrom('owed_webhooks')
    .select('event_seq')
    .where('settled_at', 'is', null)
    .where('due_at', '<=', now)
    .where('event_at', '<=', eventsUntil)
    .orderBy('due_at')
    .limit(BATCH_ROWS)
    .forUpdate()
    .skipLocked()
    .execute();
  if (due.length === 0) return [];
  return await trx
    .selectFrom('owed_webhooks')
    .innerJoin('events', 'events.seq', 'owed_webhooks.event_seq')
    .innerJoin('transactions', 'transactions.seq', 'owed_webhooks.transaction_seq')
    .select(['owed_webhooks.event_seq', 'owed_webhooks.event_at', 'owed_webhooks.run_seq'])
    .select(['events.status', 'events.at_wall', 'events.sequence'])
    .select(['transactions.seq', 'transactions.id', 'transactions.reference', 'transactions.amount_cents'])
    .select('transactions.created_wall')
    .select(['transactions.extra_hash', (eb) => eb.not(eb.exists(hasSameExtra(eb))).as('owns_extra')])
    .where(
      'owed_webhooks.event_seq',
      'in',
      due.map((row) => row.event_seq),
    )
    .execute();
}

/** An extra identifies a transaction only if no other has it: a shop may send one extra with all its transactions. */
function hasSameExtra(eb: ExpressionBuilder<Database, 'transactions'>) {
  return eb
    .selectFrom('transactions as other')
    .select('other.seq')
    .whereRef('other.extra_hash', '=', 'transactions.extra_hash')
    .whereRef('other.seq', '<>', 'transactions.seq');
}

type Expected = {
  id: string;
  reference: string | null;
  extra_hash: Buffer | null;
  owns_extra: unknown;
  status: string;
  event_at: Date;
};

/** When the first webhook between the change and the end of its grace named the transaction, by any of its keys. */
async function findAnnouncement(
  context: Context,
  trx: Transaction<Database>,
  expected: Expected,
): Promise<Date | null> {
  const from = expected.event_at;
  const to = new Date(expected.event_at.getTime() + context.config.WEBHOOK_GRACE);
  const justBefore = new Date(from.getTime() - CLOCK_LEEWAY_MS);
  const items = await trx
    .selectFrom('webhook_items')
    .select(['webhook_seq', 'received_at', 'claimed_status'])
    .where((eb) =>
      eb.or([
        eb('transaction_id', '=', expected.id.toLowerCase()),
        eb('resolved_id', '=', expected.id),
        // named by reference or extra, and not resolved to an id: not looked up yet, or before the ledger knew it
        ...(expected.reference === null
          ? []
          : [eb.and([eb('transaction_id', 'is', null), eb('reference', '=', expected.reference)])]),
        ...(expected.extra_hash === null || !expected.owns_extra
          ? []
          : [
              eb.and([
                eb('transaction_id', 'is', null),
                eb('reference', 'is', null),
                eb('extra_hash', '=', expected.extra_hash),
              ]),
            ]),
      ]),
    )
    .where('received_at', '<=', to)
    .orderBy('received_at')
    .execute();
  const inTime = items.find(
    (item) => item.received_at >= from || (item.received_at >= justBefore && item.claimed_status === expected.status),
  );
  if (inTime) return inTime.received_at;
  if (items.length === 0) return null;
  const repeat = await trx
    .selectFrom('webhook_repeats')
    .select('received_at')
    .where(
      'webhook_seq',
      'in',
      items.map((item) => item.webhook_seq),
    )
    .where('received_at', '>=', from)
    .where('received_at', '<=', to)
    .orderBy('received_at')
    .executeTakeFirst();
  return repeat?.received_at ?? null;
}

/**
 * The instant up to which all received webhooks are in the inbox and split: none received earlier is being committed, waits
 * in a spool or waits to be split. Webhooks expected later can't be called lost yet.
 * @returns undefined while a spool is being drained.
 */
async function findWebhooksCompleteUntil(trx: Transaction<Database>, now: Date): Promise<Date | undefined> {
  const spools = await trx.selectFrom('spools').selectAll().execute();
  const ago = (ms: number): Date => new Date(now.getTime() - ms);
  const steady = spools.some((one) => one.seen_at > ago(GONE_MS) && one.since <= ago(GONE_MS));
  const counted = spools.filter((one) => one.seen_at > ago(steady ? GONE_MS : GONE_ALONE_MS));
  if (counted.some((one) => one.is_waiting === 1)) return undefined;
  // read after the spools: webhooks that they drained before their report are visible here
  const unsplit = await trx
    .selectFrom('webhooks')
    .select((eb) => eb.fn.min('received_at').as('received_at'))
    .where('state', '=', 'received')
    .executeTakeFirst();
  const instants = [
    ago(ARRIVAL_MS),
    ...counted.map((one) => one.seen_at),
    ...(unsplit?.received_at ? [unsplit.received_at] : []),
  ];
  return new Date(smallest(instants.map((at) => at.getTime())));
}
