import type { Said } from '../texts/messages.ts';
import { MESSAGES_EN } from '../texts/messages-en.ts';

/** Why a merchant is disabled, as the column and the API have it: these texts must not change. */
export const DISABLED = {
  gone: MESSAGES_EN['merchant.gone'],
  failing: MESSAGES_EN['merchant.failing'],
  removed: MESSAGES_EN['merchant.removed'],
  /** A filter was stored before its limits, or by a version without them. */
  filter: MESSAGES_EN['merchant.filter'],
} as const;

/** Reads the column. A reason of another version stays a text. */
export function readDisabledReason(stored: string): Said {
  const [name] = Object.entries(DISABLED).find(([, text]) => text === stored) ?? [];
  return name === undefined ? stored : [{ name: `merchant.${name}`, values: {} }];
}
