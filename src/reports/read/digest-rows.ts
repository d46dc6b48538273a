import { createHash } from 'node:crypto';
import type { Day } from '../../domain/calendar.ts';
import type { AccountBalance } from './read-balances.ts';
import type { Movement } from './read-movements.ts';
import type { PendingTransaction } from './read-pending.ts';

const VERSION = 'confere report 1';
const BATCH_CHARS = 65_536;

/**
 * SHA-256 over what a day says in the ledger: opening balances, movements, and what was left open. It holds no personal
 * data and no words, so forgetting a person, masking and language leave it as it is; and no mismatch and no proof, so
 * that only a change in the books makes another revision.
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
    // few long texts rather than many short ones: each update crosses into native code
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
