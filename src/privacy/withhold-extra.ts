const WITHHELD = /^\0withheld:([0-9a-f]{64})$/;

/**
 * Represents an extra that contains a forgotten person's data by its keyed hash. Equality is preserved, so no decision
 * depends on whether the extra was forgotten.
 */
export function withholdExtra(hash: Buffer): string {
  return `\0withheld:${hash.toString('hex')}`;
}

/** Returns the hash of a withheld extra; undefined if it is not withheld. */
export function readWithheldHash(extra: string): Buffer | undefined {
  const hex = WITHHELD.exec(extra)?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

export function isWithheld(extra: string): boolean {
  return WITHHELD.test(extra);
}
