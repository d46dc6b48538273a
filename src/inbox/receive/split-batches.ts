const BATCH_RECORDS_MAX = 200;
/** In the text of a statement bodies take twice as much: far less than 16 MiB, MariaDB's default for one packet. */
export const BATCH_BYTES_MAX = 2 * 1024 * 1024;

/** Cuts what is to be written as text into pieces of bounded count and bytes, none of them empty, in order. */
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
