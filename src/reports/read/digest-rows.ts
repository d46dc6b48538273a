import { createHash } from 'node:crypto';
import type { Day } from '../../domain/calendar.ts';
import type { AccountBalance } from './read-accounts.ts';
import type { Movement } from './read-movements.ts';
import type { PendingTransaction } from './read-pending.ts';

const VERSION = 'confere report 1';
const BATCH_CHARS = 65_536;

/**
 * SHA-256 over the rows of a day: opening balances, movements, open transactions. It covers no personal fields and no texts,
 * so erasure, masks and languages do not change it. It covers no mismatch and no proof: only a change in the books
 * makes another digest.
 */
export function createDigest(day: Day, platform: string | undefined) {
  const hash = createHash('sha256');
  let text = '';
  const put = (...fields: (string | bigint | number | boolean | null)[]): void => {
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index];
      if (typeof field === 'bigint') fields[index] = String(field);
    }
    text += `${JSON.stringify(fields)}\n`;
    // each update crosses into native code: few long texts are faster than many short ones
    if (text.length >= BATCH_CHARS) flush();
  };
  const flush = (): void => {
    hash.update(text);
    text = '';
  };
  put(VERSION, day, platform ?? null);
  return {
    addBalance(balance: AccountBalance): void {
      const opening = balance.before + balance.opened;
      if (opening !== 0n) put('opening', balance.account, opening);
    },
    addMovement(row: Movement): void {
      put(
        'movement',
        row.atWall,
        row.kind,
        row.isReversal,
        row.inForce,
        row.transactionId,
        row.status,
        row.reference,
        row.platform,
        row.amountCents,
        row.commissionCents,
        row.heldCents,
      );
    },
    addPending(row: PendingTransaction): void {
      put('pending', row.id, row.operation, row.status, row.sinceWall, row.platform, row.amountCents, row.heldCents);
    },
    end(): Buffer {
      flush();
      return hash.digest();
    },
  };
}

export type RowDigest = ReturnType<typeof createDigest>;
