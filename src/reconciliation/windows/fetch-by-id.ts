/**
 * Fetches by id what a reading leaves open: the rows that it shows in two versions, and the stored transactions that it lacks.
 * No mismatch is raised before the provider has shown the transaction itself.
 */

import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { addDays } from '../../domain/calendar.ts';
import { append } from '../../domain/lists.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { fetchAndApply } from '../../ledger/apply/fetch-and-apply.ts';
import { lockTransactions } from '../../ledger/apply/lock-transactions.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { isInWindow } from './plan-windows.ts';
import type { RunRef, Window } from './run-ref.ts';

/** How many stored transactions are compared with a reading at once: a day may hold a million. */
const STORED_ROWS_MAX = 5_000;

/** Transactions that one window fetches by id, for either reason. The next run fetches the others. */
const SHOWS_MAX = 500;

type Reading = { ids: { has(id: string): boolean }; askedAt: Date };
type Options = {
  /** @throws LeaseLost once another process may work the run. */
  checkLease: () => void;
  /** Tests lower these limits: at their size they would store 5,000 rows and make 500 shows. */
  storedMax?: number;
  showsMax?: number;
};

/**
 * Fetches by id the transactions that one pass showed in two versions. They changed while they were read, or the list
 * mixes two copies of the provider's data. The fetched row is the newest observation.
 * @param checkLease throws if another process has taken the run: called before each request.
 * @returns ids of transactions that changed.
 */
export async function fetchInconsistent(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  ids: string[],
  checkLease: () => void,
): Promise<string[]> {
  if (ids.length === 0) return [];
  context.log.info(
    { run: run.id, inconsistent: ids.length, fetched: Math.min(ids.length, SHOWS_MAX) },
    'one pass showed rows in two versions; fetching them by id',
  );
  const changed: string[] = [];
  const source = { kind: 'show' as const, run: { seq: run.seq, id: run.id } };
  for (const id of ids.slice(0, SHOWS_MAX)) {
    checkLease();
    append(changed, (await fetchAndApply(context, client, id, source)).changed);
  }
  return changed;
}

/**
 * Fetches by id each stored transaction that a complete reading of the window lacks, up to SHOWS_MAX. A transaction that
 * the provider does not know is `missing_at_provider`; one that it shows is a `list_omission`.
 * @returns ids of transactions that changed.
 */
export async function fetchAbsent(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: Window,
  reading: Reading,
  { checkLease, storedMax = STORED_ROWS_MAX, showsMax = SHOWS_MAX }: Options,
): Promise<string[]> {
  const changed: string[] = [];
  const found: Found[] = [];
  const known: Known[] = [];
  const absent = await findAbsent(context, run, window, { ...reading, storedMax });
  for (const stored of await chooseShown(context, run, absent, showsMax)) {
    checkLease();
    const source = { kind: 'show' as const, run: { seq: run.seq, id: run.id } };
    const askedAt = context.clock.now();
    const shown = await fetchAndApply(context, client, stored.id, source);
    append(changed, shown.changed);
    if (shown.row) known.push({ scope: stored.id, askedAt });
    // listed on another day by now: applying it has reported that as reference_differs
    if (shown.row?.ok && !isInWindow(window, shown.row.transaction.createdWall)) continue;
    found.push({
      kind: shown.row ? 'list_omission' : 'missing_at_provider',
      scope: stored.id,
      askedAt,
      transactionSeq: stored.seq,
      transactionId: stored.id,
      reference: stored.reference,
      amountCents: stored.amount_cents,
      runSeq: run.seq,
      expected: { listed: true },
      actual: { listed: false, shown: shown.row !== undefined },
    });
  }
  await writeMismatches(context, found, known);
  return changed;
}

type Absent = Awaited<ReturnType<typeof readStored>>[number];

/** The transactions to fetch now. Those found absent before come last: they have their mismatch already. */
async function chooseShown(context: Context, run: RunRef, absent: Absent[], showsMax: number): Promise<Absent[]> {
  if (absent.length <= showsMax) return absent;
  const rows = await context.db
    .selectFrom('mismatches')
    .select('scope')
    .where('open_scope', 'is not', null)
    .where('kind', 'in', ['missing_at_provider', 'list_omission'])
    .execute();
  const reported = new Set(rows.map((row) => row.scope));
  const isReported = ({ id }: Absent): boolean => reported.has(id);
  const chosen = [...absent.filter((one) => !isReported(one)), ...absent.filter(isReported)].slice(0, showsMax);
  context.log.warn(
    { run: run.id, absent: absent.length, fetched: chosen.length },
    'a complete reading lacks more transactions than one window fetches; the next run fetches others',
  );
  return chosen;
}

/** `askedAt`: when the show was sent. */
type Known = { scope: string; askedAt: Date };
type Found = FoundMismatch & Known;

/**
 * In one transaction: transactions that one reading lacks have one cause, and one alert. The shows took minutes, and others
 * may have fetched the same transactions since: the newer answer decides.
 */
async function writeMismatches(context: Context, found: Found[], known: Known[]): Promise<void> {
  if (found.length + known.length === 0) return;
  await transact(
    context.db,
    async (trx) => {
      const now = context.clock.now();
      const stored = await lockTransactions(
        trx,
        [...found, ...known].map(({ scope }) => scope),
      );
      const isSeenSince = ({ kind, scope, askedAt }: Found): boolean =>
        kind === 'missing_at_provider' && (stored.get(scope)?.asked_at ?? askedAt) > askedAt;
      await raiseMismatches(
        trx,
        found.filter((one) => !isSeenSince(one)),
        now,
      );
      const shown = known.map((one) => ({ kind: 'missing_at_provider' as const, ...one }));
      await resolveMismatches(trx, shown, 'fresh_evidence', now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

/** Stored transactions of the window that were known before the reading began and are not in it. */
async function findAbsent(context: Context, run: RunRef, window: Window, reading: Reading & { storedMax: number }) {
  const absent: Absent[] = [];
  let after = { created_wall: `${window.fromDay} 00:00:00`, id: '' };
  for (;;) {
    const rows = await readStored(context, run, window, { ...reading, after });
    append(
      absent,
      rows.filter((row) => !reading.ids.has(row.id)),
    );
    const last = rows.at(-1);
    if (!last || rows.length < reading.storedMax) return absent;
    after = last;
  }
}

/** One batch in the order of the index, after `after`. */
async function readStored(
  context: Context,
  run: RunRef,
  window: Window,
  { askedAt, storedMax, after }: { askedAt: Date; storedMax: number; after: { created_wall: string; id: string } },
) {
  let query = context.db
    .selectFrom('transactions')
    .select(['seq', 'id', 'created_wall', 'reference', 'amount_cents'])
    .where('created_wall', '>=', after.created_wall)
    .where('created_wall', '<', `${addDays(window.toDay, 1)} 00:00:00`)
    .where((eb) => eb.or([eb('created_wall', '>', after.created_wall), eb('id', '>', after.id)]))
    .where('first_seen_at', '<', askedAt)
    .orderBy('created_wall')
    .orderBy('id')
    .limit(storedMax);
  if (run.platform) query = query.where('platform', '=', run.platform);
  return await query.execute();
}
