/**
 * Finds the parts of a workbook as its relations and its list of content types name them: programs differ in their names.
 */
import path from 'node:path';
import { type ByteSource, openZip, type Zip, type ZipLimits } from './open-zip.ts';
import { readXml, type XmlEvent } from './read-xml.ts';
import { UnreadableFileError } from './row.ts';

/** `part`: the name of its part in the zip. */
export type SheetFacts = { title: string; part: string; isHidden: boolean };

export type Workbook = {
  /** In the order of the tabs. */
  sheets: SheetFacts[];
  /** The name of the part with the shared texts, if there is one. */
  sharedStrings: string | undefined;
  /** The name of the part with the formats of cells, if there is one. */
  styles: string | undefined;
  /** Days count from 1904, as in old files of the Macintosh. */
  is1904: boolean;
  zip: Zip;
};

const INDEX = 'xl/workbook.xml';
const CONTENT_TYPES = '[Content_Types].xml';
const INDEX_TYPE = /\.(?:sheet|template|sheet\.macroEnabled|template\.macroEnabled)\.main\+xml$/;
/** Elements of a part that names others. */
const ELEMENTS_MAX = 10_000;

/** @throws UnreadableFileError for anything but a workbook. */
export async function openWorkbook(source: ByteSource, limits: ZipLimits): Promise<Workbook> {
  const zip = await openZip(source, limits);
  const index = await findIndex(zip);
  const relations = await readRelations(zip, index);
  if (!zip.has(index) || relations.length === 0) throw new UnreadableFileError('it is no workbook');
  const sheets: SheetFacts[] = [];
  let is1904 = false;
  for (const { name, parent, attributes } of await listElements(zip, index)) {
    if (name === 'workbookPr') is1904 = ['1', 'true'].includes(attributes.date1904 ?? '');
    if (name !== 'sheet' || parent !== 'sheets') continue;
    const id = Object.keys(attributes).find((one) => one.endsWith(':id'));
    const relation = relations.find((one) => id !== undefined && one.id === attributes[id]);
    // a sheet of a chart alone has no rows
    if (relation === undefined || !relation.type.endsWith('/worksheet')) continue;
    const isHidden = (attributes.state ?? 'visible') !== 'visible';
    sheets.push({ title: attributes.name ?? '', part: relation.target, isHidden });
  }
  const find = (type: string): string | undefined => relations.find((one) => one.type.endsWith(type))?.target;
  return { sheets, sharedStrings: find('/sharedStrings'), styles: find('/styles'), is1904, zip };
}

async function findIndex(zip: Zip): Promise<string> {
  const main = (await readRelations(zip, '')).find(({ type }) => type.endsWith('/officeDocument'));
  if (main) return main.target;
  if (!zip.has(CONTENT_TYPES)) return INDEX;
  const types = await listElements(zip, CONTENT_TYPES);
  const named = types.find(({ attributes }) => INDEX_TYPE.test(attributes.ContentType ?? ''))?.attributes.PartName;
  return named === undefined ? INDEX : resolvePart('', named);
}

type Relation = { id: string; target: string; type: string };

/** The relations of a part, of the package for ''. */
async function readRelations(zip: Zip, part: string): Promise<Relation[]> {
  const { dir, base } = path.posix.parse(part);
  const name = path.posix.join(dir, '_rels', `${base}.rels`);
  if (!zip.has(name)) return [];
  const elements = (await listElements(zip, name)).filter((one) => one.name === 'Relationship');
  return elements.map(({ attributes }) => ({
    id: attributes.Id ?? '',
    target: resolvePart(dir, attributes.Target ?? ''),
    type: attributes.Type ?? '',
  }));
}

/** The name of a part that `target` names from the folder of another one. */
function resolvePart(folder: string, target: string): string {
  return path.posix.join('/', target.startsWith('/') ? '' : folder, target.replaceAll('\\', '/')).slice(1);
}

async function listElements(zip: Zip, part: string): Promise<Extract<XmlEvent, { kind: 'open' }>[]> {
  const elements: Extract<XmlEvent, { kind: 'open' }>[] = [];
  for await (const events of readXml(zip, part)) {
    for (const event of events) if (event.kind === 'open') elements.push(event);
    if (elements.length > ELEMENTS_MAX) throw new UnreadableFileError(`the part ${part} is larger than the limit`);
  }
  return elements;
}
