import { crc32, deflateRawSync } from 'node:zlib';

export type PackedPart = {
  name: string;
  content: string | Buffer;
  /** What the directory states, where it is not the truth. */
  statedBytes?: number;
  statedCrc?: number;
  flags?: number;
};

const LOCAL = 0x0403_4b50;
const ENTRY = 0x0201_4b50;
const END = 0x0605_4b50;

/** Packs parts into a zip, also one that no program would write. */
export function packZip(parts: PackedPart[]): Buffer {
  const chunks: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, statedBytes, statedCrc, flags = 0 } of parts) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(statedCrc ?? crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(statedBytes ?? plain.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    chunks.push(signed(LOCAL), fields, Buffer.from(name), packed);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(signed(ENTRY), Buffer.from([20, 0]), fields, tail, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...chunks, central, signed(END), end]);
}

function signed(signature: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(signature, 0);
  return bytes;
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/**
 * A workbook of one sheet as other programs write it. @param sheet what follows `<worksheet …>`. @param more other parts.
 * @param properties of the workbook.
 */
export function packWorkbook(sheet: string, more: PackedPart[] = [], properties = ''): Buffer {
  return packZip([
    {
      name: 'xl/workbook.xml',
      content: `<?xml version="1.0"?><workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><workbookPr ${properties}/><sheets><sheet name="Plan1" sheetId="1" r:id="rId7"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId7" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId8" Type="${DOCUMENT}/sharedStrings" Target="/xl/sharedStrings.xml"/><Relationship Id="rId9" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content: `<?xml version="1.0"?><worksheet xmlns="${MAIN}">${sheet}</worksheet>`,
    },
    ...more,
  ]);
}
