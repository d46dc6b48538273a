import type { Random } from '../domain/random.ts';
import type { Switches } from '../faults/switches.ts';
import type { Fate } from '../store/tables.ts';

/** The fate of one webhook: its delay, its repetition or loss, and whether a forged one accompanies it. */
export type WebhookFate = { fate: Fate; delayMs: number; forged: boolean };

/** Draws the fate of a webhook: at most one of the faults, and independently a forged webhook beside it. */
export function decideFate(random: Random, webhooks: Switches['webhooks']): WebhookFate {
  const forged = random.chance(webhooks.forge);
  let left = random.next();
  const fates: ReadonlyArray<[Fate, number, number]> = [
    ['lost', webhooks.lose, 0],
    ['repeated', webhooks.repeat, 0],
    ['late', webhooks.late, webhooks.late_by_ms],
    ['reordered', webhooks.reorder, webhooks.reorder_by_ms],
  ];
  for (const [fate, share, delayMs] of fates) {
    left -= share;
    if (left < 0) return { fate, delayMs, forged };
  }
  return { fate: 'sent', delayMs: 0, forged };
}
