import { decodeEntities } from './decode-entities.ts';
import { type ByteSource, openZip, type Zip, type ZipLimits } from './open-zip.ts';
import { UnreadableFileError } from './row.ts';

/** `part`: the name of its part in the zip. */
export type SheetFacts = { title: string; part: string; isHidden: boolean };

export type Workbook = {
  /** In the order of the tabs. */
  sheets: SheetFacts[];
  /** The name of the part with the shared texts, if there is one. */
  sharedStrings: string | undefined;
  /** Days count from 1904, as in old files of the Macintosh. */
  is1904: boolean;
  zip: Zip;
};

const INDEX = 'xl/workbook.xml';
const RELATIONS = 'xl/_rels/workbook.xml.rels';
/** Of the two parts that name the sheets. */
const INDEX_CHARS_MAX = 1024 * 1024;

/** @throws UnreadableFileError for anything but a workbook. */
export async function openWorkbook(source: ByteSource, limits: ZipLimits): Promise<Workbook> {
  const zip = await openZip(source, limits);
  if (!zip.names.includes(INDEX) || !zip.names.includes(RELATIONS)) throw new UnreadableFileError('it is no workbook');
  const index = await readPartText(zip, INDEX, INDEX_CHARS_MAX);
  const relations = readRelations(await readPartText(zip, RELATIONS, INDEX_CHARS_MAX));
  const sheets = [...index.matchAll(/<(?:\w+:)?sheet\s([^>]*)>/g)].map(([, attributes = '']): SheetFacts => {
    const target = relations.find((one) => one.id === attributeOf(attributes, '\\w+:id'))?.target;
    const state = attributeOf(attributes, 'state') ?? 'visible';
    return { title: attributeOf(attributes, 'name') ?? '', part: target ?? '', isHidden: state !== 'visible' };
  });
  const shared = relations.find(({ type }) => type.endsWith('/sharedStrings'))?.target;
  return {
    sheets: sheets.filter(({ part }) => zip.names.includes(part)),
    sharedStrings: shared !== undefined && zip.names.includes(shared) ? shared : undefined,
    is1904: /<(?:\w+:)?workbookPr\s[^>]*\bdate1904="(?:1|true)"/.test(index),
    zip,
  };
}

type Relation = { id: string; target: string; type: string };

function readRelations(text: string): Relation[] {
  return [...text.matchAll(/<(?:\w+:)?Relationship\s([^>]*)>/g)].map(([, attributes = '']) => {
    const target = attributeOf(attributes, 'Target') ?? '';
    const part = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
    return { id: attributeOf(attributes, 'Id') ?? '', target: part, type: attributeOf(attributes, 'Type') ?? '' };
  });
}

function attributeOf(attributes: string, name: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  const text = value?.[1] ?? value?.[2];
  return text === undefined ? undefined : decodeEntities(text);
}

/** The text of a part. @throws UnreadableFileError beyond `charsMax`. */
export async function readPartText(zip: Zip, name: string, charsMax: number): Promise<string> {
  let text = '';
  for await (const chunk of decodeText(zip.open(name))) {
    text += chunk;
    if (text.length > charsMax) throw new UnreadableFileError(`the part ${name} is larger than the limit`);
  }
  return text;
}

/** Decodes UTF-8, also where a letter stands across two chunks. @throws UnreadableFileError for other bytes. */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') yield text;
    }
    decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new UnreadableFileError('it is not encoded as UTF-8', { cause: error });
    throw error;
  }
}
