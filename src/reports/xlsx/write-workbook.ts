import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { FinishedSheet } from './open-sheet.ts';
import { quoteTitle, referToCells } from './refer-to-cells.ts';
import { columnName, escapeText } from './render-cell.ts';
import { type Part, renderDrawings, XML_HEAD } from './render-drawings.ts';
import { renderStyles } from './render-styles.ts';
import { openZipEntry, writeZip, type ZipEntry } from './write-zip.ts';

export type WorkbookProperties = {
  title: string;
  subject: string;
  keywords: string;
  description: string;
  version: string;
  madeAt: Date;
};

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Packs finished sheets, in the order given, into a workbook at `file`. Equal sheets and properties give equal bytes.
 * @param scratch names a temporary file, with the signal that ends its writing early.
 */
export async function writeWorkbook(
  file: string,
  sheets: FinishedSheet[],
  properties: WorkbookProperties,
  scratch: () => { file: string; signal: AbortSignal },
): Promise<void> {
  const parts: Part[] = [
    { name: '_rels/.rels', text: renderRelations() },
    {
      name: 'docProps/core.xml',
      text: renderCore(properties),
      type: 'application/vnd.openxmlformats-package.core-properties+xml',
    },
    {
      name: 'docProps/app.xml',
      text: renderApp(properties),
      type: 'application/vnd.openxmlformats-officedocument.extended-properties+xml',
    },
    { name: 'xl/workbook.xml', text: renderWorkbook(sheets), type: `${TYPES}.sheet.main+xml` },
    { name: 'xl/_rels/workbook.xml.rels', text: renderWorkbookRelations(sheets) },
    { name: 'xl/styles.xml', text: renderStyles(), type: `${TYPES}.styles+xml` },
    ...renderDrawings(sheets),
  ];
  const contentTypes: Part = { name: '[Content_Types].xml', text: renderContentTypes(parts, sheets) };
  const entries: ZipEntry[] = [];
  for (const { name, text } of [contentTypes, ...parts]) {
    const { file: part, signal } = scratch();
    const entry = openZipEntry(name, part, signal);
    entry.add(text);
    await entry.drain();
    entries.push(await entry.end());
  }
  const out = createWriteStream(file);
  try {
    await writeZip(out, [...entries, ...sheets.map((sheet) => sheet.entry)], properties.madeAt);
  } finally {
    out.end();
  }
  await finished(out);
}

function renderContentTypes(parts: Part[], sheets: FinishedSheet[]): string {
  const typed = [
    ...parts.filter((part) => part.type !== undefined).map(({ name, type }) => [name, type]),
    ...sheets.map((sheet) => [sheet.entry.name, `${TYPES}.worksheet+xml`]),
  ];
  const overrides = typed.map(([name, type]) => `<Override PartName="/${name}" ContentType="${type}"/>`);
  return `${XML_HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`;
}

function renderRelations(): string {
  return `${XML_HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/relationships/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="${PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/><Relationship Id="rId3" Type="${DOCUMENT}/relationships/extended-properties" Target="docProps/app.xml"/></Relationships>`;
}

function renderCore(properties: WorkbookProperties): string {
  const at = properties.madeAt.toISOString().replace(/\.\d+Z$/, 'Z');
  return `${XML_HEAD}<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>${escapeText(properties.title)}</dc:title><dc:subject>${escapeText(properties.subject)}</dc:subject><dc:creator>Confere</dc:creator><cp:keywords>${escapeText(properties.keywords)}</cp:keywords><dc:description>${escapeText(properties.description)}</dc:description><cp:lastModifiedBy>Confere</cp:lastModifiedBy><dcterms:created xsi:type="dcterms:W3CDTF">${at}</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">${at}</dcterms:modified></cp:coreProperties>`;
}

function renderApp(properties: WorkbookProperties): string {
  // AppVersion takes numbers only, so the version stands here
  return `${XML_HEAD}<Properties xmlns="${DOCUMENT}/extended-properties"><Application>Confere</Application><Company>Confere ${escapeText(properties.version)}</Company></Properties>`;
}

function renderWorkbook(sheets: FinishedSheet[]): string {
  const list = sheets.map((s, i) => `<sheet name="${escapeText(s.title)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`);
  const names = sheets.flatMap((sheet, index) => [
    ...(sheet.filter
      ? [
          `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${referToCells(sheet.title, sheet.filter)}</definedName>`,
        ]
      : []),
    ...(sheet.printTitleRows > 0
      ? [`<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${renderPrintTitles(sheet)}</definedName>`]
      : []),
  ]);
  const defined = names.length > 0 ? `<definedNames>${names.join('')}</definedNames>` : '';
  return `${XML_HEAD}<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}/relationships"><workbookPr defaultThemeVersion="124226"/><bookViews><workbookView xWindow="0" yWindow="0" windowWidth="28800" windowHeight="16000" activeTab="0"/></bookViews><sheets>${list.join('')}</sheets>${defined}<calcPr calcId="191029"/></workbook>`;
}

/** Columns first, as other programs write it. */
function renderPrintTitles({ title, printTitleRows, printTitleColumns }: FinishedSheet): string {
  const rows = `${quoteTitle(title)}!$1:$${printTitleRows}`;
  return printTitleColumns > 0 ? `${quoteTitle(title)}!$A:$${columnName(printTitleColumns - 1)},${rows}` : rows;
}

function renderWorkbookRelations(sheets: FinishedSheet[]): string {
  const relations = sheets.map(
    (sheet, index) =>
      `<Relationship Id="rId${index + 1}" Type="${DOCUMENT}/relationships/worksheet" Target="${sheet.entry.name.replace('xl/', '')}"/>`,
  );
  return `${XML_HEAD}<Relationships xmlns="${PACKAGE}/relationships">${relations.join('')}<Relationship Id="rId${sheets.length + 1}" Type="${DOCUMENT}/relationships/styles" Target="styles.xml"/></Relationships>`;
}
