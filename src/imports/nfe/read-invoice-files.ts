/** Reads the XML files of an upload: one, or those of a ZIP. A stranger may have made them. */
import { openZip, sourceOfBytes, type Zip } from '../../spreadsheet/open-zip.ts';
import { readXml } from '../../spreadsheet/read-xml.ts';
import { UnreadableFileError } from '../../spreadsheet/row.ts';
import type { ImportedRow, ImportFault, LeftOutRow, ReadRows } from '../import-kind.ts';
import { type Cancellation, type Invoice, parseInvoices } from './parse-invoices.ts';

const MIB = 1024 * 1024;
export const INVOICE_BYTES_MAX = 32 * MIB;
const ZIP_LIMITS = { partsMax: 5_000, unpackedBytesMax: 256 * MIB };
/** SEFAZ takes 500 KiB. */
const XML_BYTES_MAX = 4 * MIB;
const NAME_CHARS_SHOWN = 120;

/** @returns the invoices and cancellations, each with the number of its file from 1; faults and what is left out name the file. */
export async function readInvoiceFiles(bytes: Buffer): Promise<ReadRows<Invoice | Cancellation>> {
  const isZip = bytes.subarray(0, 2).toString('latin1') === 'PK';
  const rows: ImportedRow<Invoice | Cancellation>[] = [];
  const faults: ImportFault[] = [];
  const leftOut: LeftOutRow[] = [];
  const unreadable = (error: unknown, place: { row: number; file?: string }): void => {
    if (!(error instanceof UnreadableFileError)) throw error;
    faults.push({ ...place, column: null, kind: 'unreadable', said: error.said });
  };
  try {
    const zip = isZip ? await openZip(sourceOfBytes(bytes), ZIP_LIMITS) : zipOf(bytes);
    for (const [index, name] of zip.names.entries()) {
      const place = { row: isZip ? index + 1 : 0, ...(isZip ? { file: name.slice(0, NAME_CHARS_SHOWN) } : {}) };
      if (name.endsWith('/')) continue;
      if (!/\.xml$/i.test(name)) {
        leftOut.push({ ...place, why: 'no_xml' });
        continue;
      }
      try {
        for (const parsed of await parseInvoices(readXml(zip, name, XML_BYTES_MAX))) {
          if ('value' in parsed)
            rows.push({ number: place.row, ...('file' in place ? { file: place.file } : {}), value: parsed.value });
          else if ('leftOut' in parsed) leftOut.push({ ...place, why: parsed.leftOut });
          else faults.push({ ...place, column: null, of: 'invoice', ...parsed.fault });
        }
      } catch (error) {
        unreadable(error, place);
      }
    }
  } catch (error) {
    unreadable(error, { row: 0 });
  }
  if (rows.length + faults.length === 0)
    faults.push({ row: 0, column: null, of: 'invoice', kind: 'nothing', value: leftOut.length });
  return { rows, faults, leftOut };
}

/** An XML alone, as a zip would give it. */
function zipOf(bytes: Buffer): Pick<Zip, 'names' | 'open'> {
  return {
    names: ['.xml'],
    async *open() {
      yield bytes;
    },
  };
}
