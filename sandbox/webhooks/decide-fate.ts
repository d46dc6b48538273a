import type { Random } from '../domain/random.ts';
import type { Switches } from '../faults/switches.ts';
import type { Fate } from '../store/tables.ts';

/** What befalls one webhook: how late it is sent, whether again, and whether a forger sends one beside it. */
export type WebhookFate = { fate: Fate; delayMs: number; forged: boolean };

/** Draws the fate of a webhook. At most one thing befalls it; a forgery may stand beside any. */
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
