const WITHHELD = /^\0withheld:([0-9a-f]{64})$/;

/**
 * How an extra that holds a forgotten person's data is known: by its keyed hash alone. Equal ones are still equal and
 * others still differ, so nothing that is decided depends on whether it was forgotten.
 */
export function withholdExtra(hash: Buffer): string {
  return `\0withheld:${hash.toString('hex')}`;
}

/** The hash of a withheld extra; undefined of one that is not. */
export function readWithheldHash(extra: string): Buffer | undefined {
  const hex = WITHHELD.exec(extra)?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

export function isWithheld(extra: string): boolean {
  return WITHHELD.test(extra);
}
