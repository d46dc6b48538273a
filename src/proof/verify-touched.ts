/**
 * Verifies the histories of old transactions that changed after a proof: a transaction that a later row belongs to, and
 * those of a platform whose opening changed. Without a proof all histories are read (verify-histories.ts).
 */
import type { Reader } from '../database/reader.ts';
import { addDays } from '../domain/calendar.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import { type CheckState, HISTORY_TABLES, startOf, type Verification } from './check-state.ts';
import { TRANSACTIONS_AT_ONCE, verifyTransactions } from './verify-histories.ts';

const ROWS_AT_ONCE = 2_000;
/** The tables, then the late entries below the proof's numbers. */
const SOURCES = [...HISTORY_TABLES, 'late'] as const;
type Row = { seq: number; transaction_seq: number | null };

/** Verifies the transactions of the next rows that were written after the proof. */
export async function verifyTouched({ context, state, proof, report }: Verification): Promise<boolean> {
  const { touched } = state;
  const source = SOURCES[touched.source];
  if (!proof || !source) return false;
  const rows = await readRows(context.db, proof, source, touched.after);
  const last = rows.at(-1);
  if (!last) {
    const next = SOURCES[++touched.source];
    touched.after = next === undefined || next === 'late' ? 0 : startOf(proof, next);
    return true;
  }
  // newer ones are verified as new
  const old = rows.flatMap(({ transaction_seq: seq }) => (seq !== null && seq <= proof.histories.after ? [seq] : []));
  const seqs = [...new Set(old)].sort((a, b) => a - b);
  for (let start = 0; start < seqs.length; start += TRANSACTIONS_AT_ONCE) {
    await verifyTransactions(context, { seqs: seqs.slice(start, start + TRANSACTIONS_AT_ONCE) }, report);
  }
  touched.count += seqs.length;
  touched.after = last.seq;
  return true;
}

async function readRows(
  db: Reader,
  proof: CheckState,
  source: (typeof SOURCES)[number],
  after: number,
): Promise<Row[]> {
  if (source !== 'late')
    return await db
      .selectFrom(source)
      .select(['seq', 'transaction_seq'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(ROWS_AT_ONCE)
      .execute();
  return await db
    .selectFrom('seal_stragglers as late')
    .innerJoin('entries', 'entries.seq', 'late.entry_seq')
    .select(['entries.seq', 'entries.transaction_seq'])
    .where('late.position', '>', proof.walk.position)
    .where('late.entry_seq', '<=', proof.walk.entrySeq)
    .where('late.entry_seq', '>', after)
    .orderBy('late.entry_seq')
    .limit(ROWS_AT_ONCE)
    .execute();
}

/** Verifies the next transactions of a platform that has another opening than at the proof. */
export async function verifyPlatforms({ context, state, proof, report }: Verification): Promise<boolean> {
  if (!proof) return false;
  const { platforms } = state;
  const changed = listChanged(proof.openings, state.openings)[platforms.index];
  if (!changed) return false;
  let query = context.db
    .selectFrom('transactions')
    .select(['seq', 'created_wall'])
    .where('platform', changed.platform === null ? 'is' : '=', changed.platform)
    .where((eb) =>
      eb.or([
        eb('created_wall', '>', platforms.wall),
        eb.and([eb('created_wall', '=', platforms.wall), eb('seq', '>', platforms.after)]),
      ]),
    )
    .orderBy('created_wall')
    .orderBy('seq')
    .limit(TRANSACTIONS_AT_ONCE);
  if (changed.before !== undefined) query = query.where('created_wall', '<', changed.before);
  const rows = await query.execute();
  await verifyTransactions(context, { seqs: rows.map(({ seq }) => seq) }, report);
  state.touched.count += rows.length;
  const last = rows.at(-1);
  Object.assign(platforms, last ? { wall: last.created_wall, after: last.seq } : { wall: '', after: 0 });
  if (!last) platforms.index++;
  return true;
}

/** Platforms as transactions store them, and the wall time before which a transaction must be created to be concerned. */
type Changed = { platform: string | null; before: string | undefined };

/**
 * Lists the platforms whose opening is not the one of the proof. An opening decides about events before its day, so later
 * transactions do not depend on it. While a platform is being reposted it is left to the next check.
 */
function listChanged(proven: CheckState['openings'], now: CheckState['openings']): Changed[] {
  return [...new Set([...Object.keys(proven), ...Object.keys(now)])].sort().flatMap((name) => {
    const [old, current] = [proven[name], now[name]];
    if (current === null || old === current) return [];
    const newest = [old, current]
      .filter((day) => typeof day === 'string')
      .sort()
      .at(-1);
    const before = old === null || newest === undefined ? undefined : addDays(newest, 1);
    return (name === NO_PLATFORM ? [null, name] : [name]).map((platform) => ({ platform, before }));
  });
}
