/**
 * Parquet for analysis: a zip of three tables from one cut. `entries` are the movements of Extrato, `postings` their legs by
 * account, `transactions` those that they belong to, each once. Amounts are decimals of two places.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { splitAccount } from '../../../ledger/journal/plan-entries.ts';
import type { MovementPosting } from '../../read/classify-movement.ts';
import type { Movement } from '../../read/read-movements.ts';
import { storeZipEntry, writeZip, type ZipEntry } from '../../xlsx/write-zip.ts';
import { type RenderContext, showDocument, showName } from '../columns.ts';
import type { FormatWork, Output } from './output.ts';
import {
  date,
  flag,
  instant,
  money,
  number,
  openParquetTable,
  type ParquetColumn,
  type ParquetTable,
  text,
  wall,
} from './parquet-table.ts';
import { type ReportedTransaction, readTransactions } from './read-transactions.ts';

const day = ({ atWall }: Movement): string => atWall.slice(0, 10);

export const ENTRY_COLUMNS: readonly ParquetColumn<Movement>[] = [
  number('entry_id', (one) => one.entrySeq),
  date('day', day),
  wall('at', (one) => one.atWall),
  text('kind', (one) => one.kind),
  text('status', (one) => one.status),
  flag('is_reversal', (one) => one.isReversal),
  flag('in_force', (one) => one.inForce),
  text('platform', (one) => one.platform),
  text('transaction_id', (one) => one.transactionId),
  money('amount', (one) => one.amountCents),
  money('commission', (one) => one.commissionCents),
  money('net', (one) => one.netCents),
  money('held_change', (one) => one.heldCents),
  text('source', (one) => (one.transactionId === null ? 'person' : one.source)),
  instant('recorded_at', (one) => one.recordedAt),
];

type PostingRow = { movement: Movement; posting: MovementPosting; position: number };

export const POSTING_COLUMNS: readonly ParquetColumn<PostingRow>[] = [
  number('entry_id', (row) => row.movement.entrySeq),
  number('position', (row) => row.position),
  date('day', (row) => day(row.movement)),
  text('account', (row) => splitAccount(row.posting.account).account),
  text('platform', (row) => row.movement.platform),
  money('amount', (row) => row.posting.cents),
];

type TransactionRow = { transaction: ReportedTransaction; movement: Movement; rendering: RenderContext };

export const TRANSACTION_COLUMNS: readonly ParquetColumn<TransactionRow>[] = [
  text('transaction_id', (row) => row.transaction.id),
  text('operation', (row) => row.transaction.operation),
  text('status', (row) => row.transaction.status),
  wall('status_at', (row) => row.transaction.statusWall),
  wall('created_at', (row) => row.movement.createdWall),
  money('amount', (row) => row.transaction.amountCents),
  text('platform', (row) => row.movement.platform),
  text('reference', (row) => row.movement.reference),
  text('extra', (row) => row.movement.extra),
  text('e2e_id', (row) => row.movement.e2eId),
  text('name', (row) => showName(row.movement, row.rendering)),
  text('document', (row) => showDocument(row.movement, row.rendering)),
];

export async function openParquet(work: FormatWork, path: string): Promise<Output> {
  const files = { entries: scratch(work), postings: scratch(work), transactions: scratch(work) };
  const entries = openParquetTable(files.entries, ENTRY_COLUMNS);
  const postings = openParquetTable(files.postings, POSTING_COLUMNS);
  const transactions = openParquetTable(files.transactions, TRANSACTION_COLUMNS);
  const addTransactions = followTransactions(work, transactions);
  let chunk: Movement[] = [];
  return {
    add({ movement }) {
      entries.add(movement);
      for (const [position, posting] of movement.postings.entries()) postings.add({ movement, posting, position });
      chunk.push(movement);
    },
    async drain() {
      const movements = chunk;
      chunk = [];
      await addTransactions(movements);
      for (const table of [entries, postings, transactions]) await table.drain();
    },
    async end() {
      for (const table of [entries, postings, transactions]) await table.end();
      const packed: ZipEntry[] = [];
      for (const [name, file] of Object.entries(files)) packed.push(await storeZipEntry(`${name}.parquet`, file));
      const out = createWriteStream(path, { signal: work.signal });
      try {
        await writeZip(out, packed, work.plan.madeAt);
      } finally {
        out.end();
      }
      await finished(out);
    },
  };
}

function scratch({ factory }: FormatWork): string {
  return factory.scratch().file;
}

/** Adds each transaction once, at its first movement, as it was at the cut. */
function followTransactions(work: FormatWork, table: ParquetTable<TransactionRow>) {
  const { db, plan, scope, factsAtCut, rendering } = work;
  const added = createNumberSet();
  return async (movements: Movement[]): Promise<void> => {
    const first = new Map<string, Movement>();
    for (const one of movements)
      if (one.transactionId !== null && !first.has(one.transactionId)) first.set(one.transactionId, one);
    const at = { cut: plan.cut, end: scope.end, factsAtCut };
    for (const transaction of await readTransactions(db, at, [...first.keys()])) {
      const movement = first.get(transaction.id);
      if (movement && added.add(transaction.seq)) table.add({ transaction, movement, rendering });
    }
  };
}

const PAGE_BITS = 65_536;

/** A set of whole numbers, a bit each: a million numbers in a row take 128 KB. */
function createNumberSet(): { add(number: number): boolean } {
  const pages = new Map<number, Uint8Array>();
  return {
    /** @returns whether the number is new. */
    add(number) {
      const index = Math.floor(number / PAGE_BITS);
      const page = pages.get(index) ?? new Uint8Array(PAGE_BITS / 8);
      pages.set(index, page);
      const bit = number % PAGE_BITS;
      const mask = 1 << (bit & 7);
      const isNew = ((page[bit >> 3] ?? 0) & mask) === 0;
      page[bit >> 3] = (page[bit >> 3] ?? 0) | mask;
      return isNew;
    },
  };
}
