import type { Kysely } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import type { Arrival } from './insert-arrivals.ts';
import type { WebhookItem } from './parse-items.ts';

/** A webhook of one item, as it was committed under a lease of this process. */
export type WrittenArrival = { arrival: Arrival; item: WebhookItem; webhookSeq: number; itemSeq: number };

/** This process's inbox loop, as offered to its receiver. */
export type ArrivalTaker = {
  /** @returns the lease of `count` items that are verified at once; undefined where no slots are free for them. */
  lease(count: number): { lease_holder: string; lease_until: Date } | undefined;
  /** Verifies what was committed under a lease. Its webhooks are split already. */
  take(written: WrittenArrival[], isAnyoneForgotten: boolean): void;
  /** Awaited at the stop: a commit under a lease, from the lease until `take` has returned or the commit has failed. */
  track(commit: Promise<void>): void;
};

const takers = new WeakMap<Kysely<Database>, ArrivalTaker>();

/** Offers the slots of a loop to the receiver on the same pool, until it is disposed. */
export function offerVerification({ db }: Pick<Context, 'db'>, taker: ArrivalTaker): Disposable {
  takers.set(db, taker);
  return { [Symbol.dispose]: () => void takers.delete(db) };
}

/** @returns undefined if no inbox loop runs in this process. */
export function findTaker({ db }: Pick<Context, 'db'>): ArrivalTaker | undefined {
  return takers.get(db);
}
