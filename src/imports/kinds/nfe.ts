/** Invoices (NF-e, NFC-e) that are paid by PIX: each is an expected payment, or joins the order that it names. */
import { cancelExpected } from '../../expected/cancel-expected.ts';
import { NFE_SOURCE } from '../../expected/decide/facts.ts';
import { findExpectedOf, findOrders, joinInvoice } from '../../expected/join-invoice.ts';
import { type Arrival, isChange, putExpected } from '../../expected/put-expected.ts';
import { refuse } from '../../texts/refuse.ts';
import { type ImportedRow, type ImportFault, type ImportKind, type LeftOutRow, listRepeated } from '../import-kind.ts';
import type { Cancellation, Invoice } from '../nfe/parse-invoices.ts';
import { INVOICE_BYTES_MAX, readInvoiceFiles } from '../nfe/read-invoice-files.ts';

/** Rows that are stored together. */
const BATCH = 500;

export const NFE: ImportKind<Invoice | Cancellation> = {
  titles: { 'pt-BR': 'Notas fiscais (NF-e)', en: 'Invoices (NF-e)' },
  roles: ['operator', 'accountant'],
  isWholeState: true,
  bytesMax: INVOICE_BYTES_MAX,
  columns: {},
  read: (_context, bytes) => readInvoiceFiles(bytes),
  async apply(inner, rows, { actor }) {
    const invoices = rows.flatMap(({ value, ...place }) => ('key' in value ? [{ ...place, value }] : []));
    const toFault = (one: ImportedRow<Invoice>): ImportFault => ({ ...faultAt(one), of: 'invoice', kind: 'repeated' });
    const repeated = listRepeated(invoices, ({ key }) => key, toFault);
    if (repeated.length > 0) return { changed: 0, faults: repeated };
    let changed = 0;
    const faults: ImportFault[] = [];
    const leftOut: LeftOutRow[] = [];
    for (let from = 0; from < invoices.length; from += BATCH) {
      const batch = invoices.slice(from, from + BATCH);
      const orders = await findOrders(
        inner.db,
        batch.map(({ value }) => value),
      );
      const own = batch.filter(({ value }) => !orders.has(value.key));
      const arrivals = own.map(({ value }): Arrival => ({ source: NFE_SOURCE, number: value.key, ...value }));
      const outcomes = arrivals.length === 0 ? [] : await putExpected(inner, { arrivals, actor });
      for (const { value, ...place } of batch) {
        const order = orders.get(value.key);
        const outcome =
          order === undefined ? outcomes.shift() : await joinInvoice(inner, { order, invoice: value, actor });
        if (outcome && isChange(outcome)) changed++;
        if (outcome?.status === 'expected_cancelled')
          faults.push({ ...faultAt(place), kind: 'refused', error: refuse(outcome.status) });
      }
    }
    for (const { value, number: row, file } of rows) {
      if (!('cancels' in value)) continue;
      const id = await findExpectedOf(inner, value.cancels);
      if (id === undefined) leftOut.push({ row, ...(file === undefined ? {} : { file }), why: 'unknown_invoice' });
      else if (await cancelExpected(inner, { id, actor })) changed++;
    }
    return { changed, faults, leftOut };
  },
};

function faultAt({ number: row, file }: Pick<ImportedRow<unknown>, 'number' | 'file'>) {
  return { row, column: null, ...(file === undefined ? {} : { file }) };
}
