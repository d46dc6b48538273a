import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { readWatermark } from './await-watermark.ts';
import { readNewestSeal } from './read-seals.ts';
import { claimSealerLease, SEALER_LEASE_MS, sealNow } from './seal-ledger.ts';

/** Longer than the lease of a process that died. */
export const LEASE_WAIT_MS_MAX = SEALER_LEASE_MS + 5_000;
const ASK_EVERY_MS = 500;

/**
 * Seals remaining rows by the rules of the sealer's loop: waits for the process with the lease, or seals here if there
 * is none, as after an outage. Rows unsealed after that cannot be sealed.
 * @param givenMs how long to wait for another process's lease.
 */
export async function sealRemaining(context: Context, givenMs: number): Promise<void> {
  const { entrySeq, auditSeq } = await readWatermark(context.db);
  for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
    const head = await readNewestSeal(context.db);
    if (head && head.entrySeq >= entrySeq && head.auditSeq >= auditSeq) return;
    if (await claimSealerLease(context)) return await trySealing(context);
    if (waitedMs >= givenMs) return;
    await sleep(ASK_EVERY_MS);
    context.signal.throwIfAborted();
  }
}

async function trySealing(context: Context): Promise<void> {
  try {
    await sealNow(context);
  } catch (error) {
    // the books check reports where
    if (!(error instanceof ConfereError) || error.code !== 'books_broken') throw error;
  }
}
