import { maskReceivables } from '../../orders/mask-receivables.ts';
import { readReceivables } from '../../orders/read-receivables.ts';
import { RECEIVABLE_COLUMNS, UNIDENTIFIED_COLUMNS } from '../order-columns.ts';
import { scopeOfReceivables } from '../write-open-items.ts';
import type { FormatWork, Output } from './output.ts';
import { openRows } from './write-csv.ts';

/** Opens the CSV of A receber, whose rows are no movements: they are written at the end. */
export async function openReceivablesCsv(work: FormatWork, path: string): Promise<Output> {
  const { file, add } = await openRows(work, path, RECEIVABLE_COLUMNS);
  return {
    add: () => undefined,
    drain: () => file.drain(),
    async end() {
      const scope = scopeOfReceivables(work);
      for await (const rows of scope ? readReceivables(work.db, scope) : []) {
        work.signal.throwIfAborted();
        for (const row of work.plan.masked ? maskReceivables(rows) : rows) add(row);
        await file.drain();
      }
      await file.end();
    },
  };
}

/** Opens the CSV of Não identificados. */
export async function openUnidentifiedCsv(work: FormatWork, path: string): Promise<Output> {
  const { file, add } = await openRows(work, path, UNIDENTIFIED_COLUMNS);
  return {
    add({ movement, share }) {
      if (share && share.unidentified > 0n) add({ movement, share });
    },
    drain: () => file.drain(),
    end: () => file.end(),
  };
}
