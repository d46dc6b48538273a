import { randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Creates the id of a new row: `run_` and 32 random hexadecimal digits for the kind `run`. */
export function createId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`;
}

/** Whether a text has the shape of a UUID, in lower or upper case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** @returns `wh_` and the first 128 bits of a body's SHA-256: the same from the database and from the spool. */
export function webhookIdOf(hash: Buffer): string {
  return `wh_${hash.subarray(0, 16).toString('hex')}`;
}

/** @returns the range of hashes that an id can stand for; undefined if it is no id. */
export function hashRangeOf(id: string): { from: Buffer; to: Buffer } | undefined {
  const hex = /^wh_([0-9a-f]{32})$/.exec(id)?.[1];
  if (hex === undefined) return undefined;
  const start = Buffer.from(hex, 'hex');
  return { from: Buffer.concat([start, Buffer.alloc(16, 0)]), to: Buffer.concat([start, Buffer.alloc(16, 0xff)]) };
}
