const BATCH_RECORDS_MAX = 200;
/** A body takes twice its bytes in a text statement: far less than 16 MiB, MariaDB's default packet limit. */
export const BATCH_BYTES_MAX = 2 * 1024 * 1024;

/** Splits rows for text INSERTs into non-empty batches of bounded count and bytes, in order. */
export function splitBatches<T extends { body: Buffer }>(all: T[]): T[][] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const one of all) {
    const batch = batches.at(-1);
    bytes += one.body.length;
    if (batch && batch.length < BATCH_RECORDS_MAX && bytes <= BATCH_BYTES_MAX) {
      batch.push(one);
      continue;
    }
    batches.push([one]);
    bytes = one.body.length;
  }
  return batches;
}
