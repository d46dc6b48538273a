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
