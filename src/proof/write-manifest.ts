import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { addDays } from '../domain/calendar.ts';
import { formatAmount } from '../domain/money.ts';
import { readBalances } from '../seal/read-balances.ts';
import { listClosesInForce, readMonthChanges } from '../seal/read-month-closes.ts';
import { readNewestSeal } from '../seal/read-seals.ts';

export function manifestsDirectory(config: Pick<Config, 'DATA_DIR'>): string {
  return path.resolve(config.DATA_DIR, 'manifests');
}

/**
 * Exports the newest seal, with its hash, from the database once a night: in a log line, and with the closed months and the
 * balances at the day's end as known at that seal in `DATA_DIR/manifests/<day>.json`. With a copy of the log elsewhere, the state of
 * the ledger can be proven later even if this machine is lost or compromised.
 * @returns the file; undefined while nothing is sealed.
 */
export async function writeManifest(context: Context): Promise<string | undefined> {
  const { calendar, clock, config, db, log, signal } = context;
  const now = clock.now();
  const head = await readNewestSeal(db);
  if (!head) return undefined;
  const today = calendar.toWallTime(now).slice(0, 10);
  const { balances } = await readBalances(db, `${today} 00:00:00`, { position: head.position }, now);
  const day = addDays(today, -1);
  const sealed = { position: head.position, entry: head.entrySeq, hash: head.hash.toString('hex'), at: head.sealedAt };
  const manifest = {
    day,
    made_at: now,
    sealed,
    // those that are closed now: the position and the balances that each fixes
    months: listClosesInForce(await readMonthChanges(db)).map((close) => ({
      ...{ month: close.month, closed_at: close.at, position: close.position },
      ...{ hash: close.hash?.toString('hex'), digest: close.digest?.toString('hex') },
    })),
    balances: balances.map(({ account, cents }) => ({ account, amount: formatAmount(cents) })),
  };
  signal.throwIfAborted();
  const directory = manifestsDirectory(config);
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, `${day}.json`);
  await writeFile(`${file}.draft`, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
  await rename(`${file}.draft`, file);
  log.info({ manifest: { day, ...sealed } }, 'the ledger is sealed up to here');
  return file;
}
