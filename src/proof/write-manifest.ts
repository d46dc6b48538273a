import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { addDays } from '../domain/calendar.ts';
import { formatAmount } from '../domain/money.ts';
import { readBalances } from '../seal/read-balances.ts';
import { listClosesInForce, readMonthChanges } from '../seal/read-month-closes.ts';
import { readNewestSeal } from '../seal/read-seals.ts';
import { headsDirectory } from '../seal/record-heads.ts';

type Places = Pick<Config, 'MANIFESTS_DIR' | 'DATA_DIR'>;

/** Returns the directory in which nightly manifests are written: MANIFESTS_DIR, which machines can share, or one in DATA_DIR. */
export function manifestsDirectory(config: Places): string {
  return config.MANIFESTS_DIR === undefined ? headsDirectory(config) : path.resolve(config.MANIFESTS_DIR);
}

/** Returns the directories in which manifests are read: DATA_DIR has those from before MANIFESTS_DIR was set, and of a restore. */
export function manifestsDirectories(config: Places): string[] {
  return [...new Set([manifestsDirectory(config), headsDirectory(config)])];
}

/**
 * Exports the newest seal, with its hash, from the database once a night: in a log line, and with the closed months and the
 * balances at the day's end as known at that seal in `<day>.json` of the manifests' folder. With a copy elsewhere, the state of the
 * ledger can be proven later even if this machine is lost or compromised.
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
