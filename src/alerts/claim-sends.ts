import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { listPlatformNames } from '../database/shared/list-platform-names.ts';
import { readOrderKeys } from '../database/shared/read-parties.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { maskText, WITHHELD } from '../domain/person/mask-person.ts';
import { findPlatform, parseFacts } from '../texts/alerts/describe-alert.ts';
import type { AlertToSend, Channel } from './channels/channel.ts';
import { selectAlerts } from './read/read-alerts.ts';

/** Longer than any channel takes. Sends claimed by a killed process are due again after it. */
export const LEASE_MS = 90_000;

/** Claims due sends of a channel: leases them in a short transaction, so that no row is locked over the network. */
export async function claimSends(context: Context, channel: Channel): Promise<AlertToSend[]> {
  const now = context.clock.now();
  const candidates = await selectDueSends(context.db, channel, now)
    .orderBy('next_attempt_at')
    .limit(channel.batchMax)
    .execute();
  if (candidates.length === 0) return [];
  const claimed = await transact(context.db, async (trx) => {
    const due = await lockDue(trx, channel, { seqs: candidates.map((row) => row.alert_seq), now });
    if (due.length === 0) return [];
    const seqs = due.map((row) => row.alert_seq);
    await trx
      .updateTable('alert_sends')
      .set({ next_attempt_at: new Date(now.getTime() + LEASE_MS) })
      .where('channel', '=', channel.name)
      .where('alert_seq', 'in', seqs)
      .execute();
    const alerts = await selectAlerts(trx).where('seq', 'in', seqs).orderBy('seq').execute();
    const alreadySent = new Set(due.filter((row) => row.sent_at !== null).map((row) => row.alert_seq));
    return alerts.map((row) => ({ ...row, facts: parseFacts(row.facts), alreadySent: alreadySent.has(row.seq) }));
  });
  const names = claimed.some((alert) => findPlatform(alert) !== undefined) ? await readNames(context.db) : undefined;
  const orders = await readOrderNumbers(context.db, claimed);
  return claimed.map((alert) => ({
    ...alert,
    platformName: names?.get(findPlatform(alert)),
    orderNumber: orders.get(alert.facts?.expected ?? ''),
  }));
}

export function selectDueSends(db: Reader, channel: Channel, now: Date) {
  return db
    .selectFrom('alert_sends')
    .select('alert_seq')
    .where('channel', '=', channel.name)
    .where('next_attempt_at', '<=', now);
}

/** The names that people gave to platforms, by id, without those that a mask withholds. */
async function readNames(db: Reader): Promise<Map<string | undefined, string>> {
  const named = (await listPlatformNames(db)).map(({ platform, name }) => [platform, maskText(name)] as const);
  return new Map(named.filter(([, name]) => name !== WITHHELD));
}

/** The merchants' numbers of the orders that alerts are about, each with its id, without those that a mask withholds. */
async function readOrderNumbers(db: Reader, alerts: Pick<AlertToSend, 'facts'>[]): Promise<Map<string, string>> {
  const ids = alerts.flatMap(({ facts }) => facts?.expected ?? []);
  const orders = await readOrderKeys(db, ids, { mask: true });
  return new Map([...orders].flatMap(([id, { number }]) => (number === WITHHELD ? [] : [[id, `${number} (${id})`]])));
}

/**
 * Locks by the whole primary key. A lock over the range of due rows would include the next row, which belongs to another
 * channel, and two channels that claim at once would skip each other's rows.
 */
async function lockDue(
  trx: Transaction<Database>,
  channel: Channel,
  wanted: { seqs: number[]; now: Date },
): Promise<{ alert_seq: number; sent_at: Date | null }[]> {
  const { rows } = await sql<{ alert_seq: number; sent_at: Date | null }>`
    SELECT alert_seq, sent_at FROM alert_sends FORCE INDEX (PRIMARY)
    WHERE alert_seq IN (${sql.join(wanted.seqs)}) AND channel = ${channel.name} AND next_attempt_at <= ${wanted.now}
    FOR UPDATE SKIP LOCKED`.execute(trx);
  return rows;
}
