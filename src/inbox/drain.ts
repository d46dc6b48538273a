import type { Context } from '../context.ts';
import { poll } from '../database/poll.ts';
import { describeError } from '../log.ts';
import type { ProviderClient } from '../provider/client.ts';
import { type ClaimedItem, claimItems, LEASE_MS, renewLeases } from './claim-items.ts';
import { takeApart } from './take-apart.ts';
import { createVerifier } from './verify.ts';

const ITEMS_IN_FLIGHT_MAX = 200;
const IDLE_MS = 500;
const RENEW_MS = LEASE_MS / 4;

/**
 * Works the inbox off until the signal: takes webhooks apart, claims what is due to be looked at, looks. A slow look
 * holds up nothing but itself.
 */
export async function drainInbox(context: Context, client: ProviderClient): Promise<void> {
  const verify = createVerifier(context, client);
  const inFlight = new Map<number, ClaimedItem>();
  const looks = new Set<Promise<void>>();

  const renewal = setInterval(() => {
    renewLeases(context, [...inFlight.keys()]).catch((error: unknown) =>
      context.log.warn({ error: describeError(error) }, 'leases of looks could not be renewed'),
    );
  }, RENEW_MS);

  function start(items: ClaimedItem[]): void {
    for (const item of items) inFlight.set(item.seq, item);
    const look = verify(items)
      .catch((error: unknown) => context.log.error({ error: describeError(error) }, 'a look could not be written down'))
      .finally(() => {
        for (const item of items) inFlight.delete(item.seq);
        looks.delete(look);
        // there is room again, and what waited for this transaction may be due
        context.bells.inbox.ring();
      });
    looks.add(look);
  }

  await poll({
    name: 'inbox',
    bell: context.bells.inbox,
    idleMs: IDLE_MS,
    log: context.log,
    signal: context.signal,
    work: async () => {
      const more = await takeApart(context);
      const room = ITEMS_IN_FLIGHT_MAX - inFlight.size;
      if (room <= 0) return false;
      const items = await claimItems(context, room);
      for (const group of Map.groupBy(items, keyOf).values()) start(group);
      return more || items.length === room;
    },
  });
  clearInterval(renewal);
  await Promise.allSettled(looks);
}

function keyOf(item: ClaimedItem): string {
  if (item.transactionId !== null) return `id ${item.transactionId}`;
  return item.reference === null ? `extra ${item.extraHash?.toString('base64')}` : `reference ${item.reference}`;
}
