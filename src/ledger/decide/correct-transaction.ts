import { z } from 'zod';
import type { Calendar } from '../../domain/calendar.ts';
import { centsOf } from '../../domain/cents-of.ts';
import { InvariantError } from '../../domain/errors.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import type { CorrectedFacts } from '../../domain/observation.ts';
import { type StoredEvent, sortHistory } from '../../domain/sort-history.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { refuse } from '../../texts/refuse.ts';
import type { StoredTransaction } from './stored-transaction.ts';

/** Kinds whose evidence, the provider's version, can be accepted. */
export const ACCEPTABLE_KINDS = [
  'amount_differs',
  'commission_differs',
  'reference_differs',
  'status_differs',
] as const;
export type AcceptableKind = (typeof ACCEPTABLE_KINDS)[number];

export function isAcceptableKind(kind: string): kind is AcceptableKind {
  return (ACCEPTABLE_KINDS as readonly string[]).includes(kind);
}

const cents = z.string().transform(centsOf(parseAmount, 'is no amount'));
const sequences = z.array(z.object({ sequence: z.int() })).default([]);
const EVIDENCE = {
  amount_differs: z.object({ amount: cents, operation: z.enum(OPERATIONS) }),
  commission_differs: z.object({ commission: cents }),
  reference_differs: z.object({
    reference: z.string().optional(),
    platform: z.string().optional(),
    extra: z.string().optional(),
    date_created: z.string().optional(),
  }),
  status_differs: z.object({ lacks: sequences, shows_again: sequences }),
};

/**
 * Returns the transaction with the provider's version, from a mismatch's evidence, in place of the booked one. Pure.
 * @throws ConfereError `conflict` when the evidence can't be accepted, or is booked already.
 */
export function correctTransaction(
  stored: StoredTransaction,
  kind: AcceptableKind,
  actual: unknown,
): StoredTransaction {
  const corrected = { ...stored, ...readChange(stored, kind, actual) };
  const same = NAMES.every((name) => stored[name] === corrected[name]);
  if (same && stored.outOfForce.length === corrected.outOfForce.length) {
    throw refuse('evidence_booked');
  }
  return corrected;
}

const NAMES = ['operation', 'amountCents', 'commissionCents', 'reference', 'platform'] as const;

function readChange(stored: StoredTransaction, kind: AcceptableKind, actual: unknown): Partial<StoredTransaction> {
  switch (kind) {
    case 'amount_differs': {
      const { amount, operation } = read(EVIDENCE.amount_differs, actual);
      return { amountCents: amount, operation };
    }
    case 'commission_differs':
      return { commissionCents: read(EVIDENCE.commission_differs, actual).commission };
    case 'reference_differs': {
      const shown = read(EVIDENCE.reference_differs, actual);
      const { extra, reference = stored.reference, platform = stored.platform } = shown;
      // extra is free text: the evidence has only its hash
      if (extra !== undefined) throw refuse('evidence_of_extra');
      // reports count a transaction on the day of its creation
      if (shown.date_created !== undefined && shown.date_created !== stored.createdWall)
        throw refuse('evidence_of_creation');
      return { reference, platform };
    }
    case 'status_differs': {
      const { lacks, shows_again } = read(EVIDENCE.status_differs, actual);
      if (lacks.length + shows_again.length === 0) {
        throw refuse('evidence_without_event');
      }
      return setInForce(stored, new Set(lacks.map(numberOf)), new Set(shows_again.map(numberOf)));
    }
  }
}

function read<T>(schema: z.ZodType<T>, actual: unknown): T {
  const { success, data } = schema.safeParse(actual);
  if (success) return data;
  throw refuse('evidence_unreadable');
}

function numberOf({ sequence }: { sequence: number }): number {
  return sequence;
}

/** Takes events out of force and puts others back in force. */
function setInForce(stored: StoredTransaction, lacks: Set<number>, again: Set<number>): Partial<StoredTransaction> {
  const all = [...stored.events, ...stored.outOfForce];
  const isOutOfForce = (event: StoredEvent): boolean =>
    lacks.has(event.sequence) || (stored.outOfForce.includes(event) && !again.has(event.sequence));
  const events = sortHistory(all.filter((event) => !isOutOfForce(event)));
  if (events.length === 0) {
    throw refuse('evidence_without_history');
  }
  return { events, outOfForce: all.filter(isOutOfForce) };
}

/** Returns the facts that a correction's callback reports, before or after it. @throws InvariantError without an event. */
export function describeFacts(calendar: Calendar, stored: StoredTransaction): CorrectedFacts {
  const last = stored.events.at(-1);
  if (!last) throw new InvariantError(`transaction ${stored.id} has no event in force: a correction has no status`);
  return {
    operation: stored.operation,
    status: last.status,
    status_at: calendar.toIso(last.atWall),
    amount: formatAmount(stored.amountCents),
    commission: stored.commissionCents === null ? null : formatAmount(stored.commissionCents),
    reference: stored.reference,
    platform: stored.platform,
  };
}
