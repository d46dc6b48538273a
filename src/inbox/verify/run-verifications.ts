import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { formatItemKey } from '../items/find-known-keys.ts';
import { verifyBurst } from './verify-burst.ts';
import { createVerifier, type ItemGroup } from './verify-items.ts';

export type Verifications = ReturnType<typeof createVerifications>;

/**
 * The verifications in flight: at most one for each key. Further items of a key wait, and start together once it ends.
 * @param onEnd called when a verification has ended.
 */
export function createVerifications(context: Context, client: ProviderClient, onEnd: () => void) {
  const verifier = createVerifier(context, client);
  const single = new Set<number>();
  const burst = new Set<number>();
  /** By key in flight: the items that wait for it. */
  const waiting = new Map<string, ClaimedItem[]>();
  const running = new Set<Promise<void>>();

  function run(work: Promise<void>): Promise<void> {
    const one: Promise<void> = work
      .catch((error: unknown) => context.log.error({ error: describeError(error) }, 'a verification failed'))
      .finally(() => {
        running.delete(one);
        onEnd();
      });
    running.add(one);
    return one;
  }

  /** @returns the groups that may start now; the others wait for the fetch in flight. */
  function enter(items: ClaimedItem[], kind: Set<number>): ItemGroup[] {
    for (const item of items) kind.add(item.seq);
    const groups = [...Map.groupBy(items, formatItemKey)].map(([key, group]) => ({ key, items: group }));
    return groups.filter(({ key, items: group }) => {
      const others = waiting.get(key);
      if (others) others.push(...group);
      else waiting.set(key, []);
      return !others;
    });
  }

  function leave({ key, items }: ItemGroup): void {
    for (const kind of [single, burst]) for (const { seq } of items) kind.delete(seq);
    const others = waiting.get(key) ?? [];
    waiting.delete(key);
    // after the signal another process claims them: their leases expire
    if (others.length > 0 && !context.signal.aborted) start(others);
  }

  function start(items: ClaimedItem[]): void {
    const groups = enter(items, single);
    if (groups.length > 0) void run(verifyEach(groups));
  }

  async function verifyEach(groups: ItemGroup[]): Promise<void> {
    const admissions = await verifier.admit(groups.map(({ items }) => items));
    const verifications = groups.map((group, index) => {
      const admission = admissions[index];
      const verified = admission ? verifier.verify(group.items, admission) : Promise.resolve();
      // each leaves by itself: a slow one must not delay the others
      return run(verified.finally(() => leave(group)));
    });
    await Promise.all(verifications);
  }

  return {
    start,
    startBurst(items: ClaimedItem[]): void {
      void run(verifyBurst(context, client, verifier, { groups: enter(items, burst), leave }));
    },
    inBurst: () => burst.size > 0,
    /** How many items are in flight outside the burst. */
    singles: () => single.size,
    seqs: () => [...single, ...burst],
    async ended(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
}
