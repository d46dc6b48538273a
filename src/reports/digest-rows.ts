import { createHash } from 'node:crypto';
import type { Day } from '../domain/calendar.ts';
import type { AccountBalance } from './read-balances.ts';
import type { Movement } from './read-movements.ts';
import type { Pending } from './read-pending.ts';

const VERSION = 'confere report 1';

/**
 * SHA-256 over what a day says in the ledger: opening balances, movements, and what was left open. It holds no personal
 * data and no words, so forgetting a person, masking and language leave it as it is; and no mismatch and no proof, so
 * that only a change in the books makes another revision.
 */
export function createDigest(day: Day, platform: string | undefined) {
  const hash = createHash('sha256');
  const put = (...fields: (string | bigint | number | boolean | null)[]): void => {
    hash.update(`${JSON.stringify(fields.map((field) => (typeof field === 'bigint' ? String(field) : field)))}\n`);
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
    addPending(row: Pending): void {
      put('pending', row.id, row.operation, row.status, row.sinceWall, row.platform, row.amountCents, row.heldCents);
    },
    end: (): Buffer => hash.digest(),
  };
}

export type RowDigest = ReturnType<typeof createDigest>;
