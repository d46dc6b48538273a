import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import ExcelJS from 'exceljs';
import { afterAll, expect, test } from 'vitest';
import { type FinishedSheet, openSheet } from '../../../src/reports/xlsx/open-sheet.ts';
import { type Chart, renderChart } from '../../../src/reports/xlsx/render-chart.ts';
import { renderDrawings } from '../../../src/reports/xlsx/render-drawings.ts';
import { writeWorkbook } from '../../../src/reports/xlsx/write-workbook.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

/** ECMA-376: the order of an element's children. Excel refuses a file with another one. Elements without an entry have no children. */
const ORDER: Record<string, string> = {
  worksheet:
    'sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection protectedRanges scenarios autoFilter ' +
    'sortState dataConsolidate customSheetViews mergeCells phoneticPr conditionalFormatting dataValidations hyperlinks ' +
    'printOptions pageMargins pageSetup headerFooter rowBreaks colBreaks customProperties cellWatches ignoredErrors smartTags ' +
    'drawing legacyDrawing legacyDrawingHF picture oleObjects controls webPublishItems tableParts extLst',
  sheetView: 'pane selection pivotSelection extLst',
  cfRule: 'formula colorScale dataBar iconSet extLst',
  dataBar: 'cfvo color',
  c: 'f v is extLst',
  'c:spPr': 'a:xfrm a:custGeom a:prstGeom a:noFill a:solidFill a:gradFill a:ln',
  sheetPr: 'tabColor outlinePr pageSetUpPr',
  'c:chartSpace':
    'c:date1904 c:lang c:roundedCorners c:style c:clrMapOvr c:pivotSource c:protection c:chart c:spPr c:txPr c:externalData',
  'c:chart':
    'c:title c:autoTitleDeleted c:pivotFmts c:view3D c:floor c:sideWall c:backWall c:plotArea c:legend c:plotVisOnly c:dispBlanksAs',
  'c:title': 'c:tx c:layout c:overlay c:spPr c:txPr',
  'c:plotArea': 'c:layout c:barChart c:catAx c:dateAx c:valAx c:dTable c:spPr',
  'c:barChart': 'c:barDir c:grouping c:varyColors c:ser c:dLbls c:gapWidth c:overlap c:serLines c:axId',
  'c:ser':
    'c:idx c:order c:tx c:spPr c:invertIfNegative c:pictureOptions c:dPt c:dLbls c:trendline c:errBars c:cat c:val',
  'c:dLbls':
    'c:numFmt c:spPr c:txPr c:dLblPos c:showLegendKey c:showVal c:showCatName c:showSerName c:showPercent c:showBubbleSize',
  'c:strRef': 'c:f c:strCache',
  'c:strCache': 'c:ptCount c:pt',
  'c:numRef': 'c:f c:numCache',
  'c:numCache': 'c:formatCode c:ptCount c:pt',
  'c:catAx':
    'c:axId c:scaling c:delete c:axPos c:majorGridlines c:minorGridlines c:title c:numFmt c:majorTickMark c:minorTickMark ' +
    'c:tickLblPos c:spPr c:txPr c:crossAx c:crosses c:crossesAt c:auto c:lblAlgn c:lblOffset c:tickLblSkip c:tickMarkSkip c:noMultiLvlLbl',
  'c:dateAx':
    'c:axId c:scaling c:delete c:axPos c:majorGridlines c:minorGridlines c:title c:numFmt c:majorTickMark c:minorTickMark ' +
    'c:tickLblPos c:spPr c:txPr c:crossAx c:crosses c:crossesAt c:auto c:lblOffset c:baseTimeUnit c:majorUnit c:majorTimeUnit',
  'c:valAx':
    'c:axId c:scaling c:delete c:axPos c:majorGridlines c:minorGridlines c:title c:numFmt c:majorTickMark c:minorTickMark ' +
    'c:tickLblPos c:spPr c:txPr c:crossAx c:crosses c:crossesAt c:crossBetween c:majorUnit c:minorUnit c:dispUnits',
  'c:scaling': 'c:logBase c:orientation c:max c:min',
  'c:legend': 'c:legendPos c:legendEntry c:layout c:overlay c:spPr c:txPr',
  'c:rich': 'a:bodyPr a:lstStyle a:p',
  'c:txPr': 'a:bodyPr a:lstStyle a:p',
  'a:p': 'a:pPr a:r a:endParaRPr',
  'a:r': 'a:rPr a:t',
  'xdr:twoCellAnchor': 'xdr:from xdr:to xdr:graphicFrame xdr:clientData',
  'xdr:from': 'xdr:col xdr:colOff xdr:row xdr:rowOff',
  'xdr:to': 'xdr:col xdr:colOff xdr:row xdr:rowOff',
  'xdr:graphicFrame': 'xdr:nvGraphicFramePr xdr:xfrm a:graphic',
  'xdr:nvGraphicFramePr': 'xdr:cNvPr xdr:cNvGraphicFramePr',
  'xdr:xfrm': 'a:off a:ext',
};

/** The names of each element's children in a document, in order. */
function listChildren(xml: string): [parent: string, children: string[]][] {
  const lists: [string, string[]][] = [];
  const open: [string, string[]][] = [];
  for (const [, isEnd, name = '', isEmpty] of xml.matchAll(/<(\/?)([\w:]+)[^>]*?(\/?)>/g)) {
    if (isEnd) {
      open.pop();
      continue;
    }
    open.at(-1)?.[1].push(name);
    const list: [string, string[]] = [name, []];
    lists.push(list);
    if (!isEmpty) open.push(list);
  }
  expect(open).toEqual([]);
  return lists;
}

/** Checks each element with several kinds of children against the order of the format. @returns their names. */
function checkOrder(xml: string): Set<string> {
  const checked = new Set<string>();
  for (const [parent, children] of listChildren(xml)) {
    if (new Set(children).size < 2) continue;
    const order = ORDER[parent]?.split(' ');
    expect(order, `the order within ${parent} is not listed: ${children.join(' ')}`).toBeDefined();
    const sorted = [...children].sort((a, b) => (order?.indexOf(a) ?? 0) - (order?.indexOf(b) ?? 0));
    expect([parent, children.filter((one) => !order?.includes(one))]).toEqual([parent, []]);
    expect([parent, children]).toEqual([parent, sorted]);
    checked.add(parent);
  }
  return checked;
}

const DAYS: Chart = {
  title: 'Entradas & saídas',
  kind: 'days',
  unit: 'money',
  categories: { range: 'A5:A6', values: ['2026-03-10', '2026-03-11'] },
  series: [
    { name: { range: 'B4', text: 'Entradas' }, values: { range: 'B5:B6', values: [123_456n, 0n] }, color: '2E8B57' },
    { name: { range: 'C4', text: 'Saídas' }, values: { range: 'C5:C6', values: [-5n, -100n] }, color: 'C8553D' },
  ],
};
const LIST: Chart = {
  title: 'Quantos',
  kind: 'list',
  unit: 'count',
  categories: { range: 'A5:A6', values: ['a', 'b'] },
  series: [{ name: { range: 'B4', text: 'N' }, values: { range: 'B5:B6', values: [7, 1] }, color: '2E6DA4' }],
};
const HOURS: Chart = { ...DAYS, kind: 'hours', categories: LIST.categories };

const home = temporaryDirectory();
afterAll(() => home[Symbol.dispose]());
const signal = AbortSignal.timeout(60_000);
let files = 0;
const scratch = () => ({ file: path.join(home.path, `part-${files++}`), signal });

/** A sheet with all that a sheet can have; its second row is known last. */
async function writeSheet(): Promise<FinishedSheet> {
  const widths = [20, 20, 20];
  const setup = { title: "D'Água", widths, frozenRows: 1, tabColor: 'FF17375E', breaksPages: true };
  const sheet = openSheet(setup, { name: 'xl/worksheets/sheet1.xml', ...scratch() });
  let sum = 0n;
  sheet.addRow([{ text: 'first', style: 'title' }]);
  sheet.addLateRow(() => [{ text: 'late' }, { cents: sum, formula: 'SUBTOTAL(109,B4:B1003)' }], { heightPoints: 30 });
  sheet.addRow([{ text: 'third' }]);
  for (let row = 0; row < 1000; row++) {
    sheet.addRow([{ text: `row ${row}` }, { cents: 101n }]);
    sum += 101n;
    if (row % 100 === 0) await sheet.drain();
  }
  sheet.breakPage();
  sheet.addRow([{ text: 'last' }]);
  sheet.merge('A1:C1');
  sheet.addDataBars('B4:B9', 'FF9DB7D5');
  sheet.setFilter('A3:C1003');
  sheet.addChart({ chart: DAYS, column: 0, columns: 2, row: 5, rows: 10 });
  sheet.addChart({ chart: LIST, column: 2, columns: 1, row: 5, rows: 10 });
  return await sheet.end();
}

test('the elements of a sheet, of its drawing and of its charts stand in the order of the format', async () => {
  const sheet = await writeSheet();
  const xml = inflateRawSync(Buffer.concat([sheet.entry.head, readFileSync(sheet.entry.file)])).toString();
  expect(checkOrder(xml)).toContain('worksheet');
  expect(xml).toContain('<drawing r:id="rId1"/></worksheet>');
  for (const part of renderDrawings([sheet])) checkOrder(part.text);
  for (const chart of [DAYS, LIST, HOURS]) {
    const checked = checkOrder(renderChart(chart, sheet.title));
    expect([...checked]).toEqual(expect.arrayContaining(['c:chartSpace', 'c:plotArea', 'c:ser', 'c:valAx']));
  }
});

test('each part of a drawing has its type, and each relation its part', async () => {
  const parts = renderDrawings([{ ...(await writeSheet()), charts: [] }, await writeSheet()]);
  expect(parts.filter((part) => part.type !== undefined).map((part) => part.name)).toEqual([
    'xl/drawings/drawing1.xml',
    'xl/charts/chart1.xml',
    'xl/charts/chart2.xml',
  ]);
  const names = new Set(parts.map((part) => part.name));
  const related = parts.flatMap((part) =>
    [...part.text.matchAll(/Target="([^"]+)"/g)].map(([, target = '']) =>
      path.posix.join(path.posix.dirname(part.name), '..', target),
    ),
  );
  expect(related).toEqual(['xl/drawings/drawing1.xml', 'xl/charts/chart1.xml', 'xl/charts/chart2.xml']);
  expect(related.filter((name) => !names.has(name))).toEqual([]);
});

test('a chart names the cells of its sheet, and has their values to the cent', () => {
  const xml = renderChart(DAYS, "D'Água");
  const cells = [...xml.matchAll(/<c:f>([^<]+)<\/c:f><c:(?:str|num)Cache>(.*?)<\/c:(?:str|num)Cache>/g)];
  const read = cells.map(([, reference, cache = '']) => [
    reference,
    [...cache.matchAll(/<c:v>([^<]+)/g)].map(([, one]) => one),
  ]);
  expect(read).toEqual([
    ["'D''Água'!$B$4", ['Entradas']],
    ["'D''Água'!$A$5:$A$6", ['46091', '46092']],
    ["'D''Água'!$B$5:$B$6", ['1234.56', '0.00']],
    ["'D''Água'!$C$4", ['Saídas']],
    ["'D''Água'!$A$5:$A$6", ['46091', '46092']],
    ["'D''Água'!$C$5:$C$6", ['-0.05', '-1.00']],
  ]);
  expect(xml).toContain('<a:t>Entradas &amp; saídas</a:t>');
  expect(xml).toContain('formatCode="&quot;R$&quot; #,##0"');
});

async function writeBook(): Promise<string> {
  const { file } = scratch();
  const madeAt = new Date('2026-03-12T09:00:00Z');
  const properties = { title: 't', subject: 's', keywords: 'k', description: 'd', version: '1', madeAt };
  await writeWorkbook(file, [await writeSheet()], properties, scratch);
  return file;
}

test('a row that is known last stands where it was added, and equal sheets give equal bytes', async () => {
  const file = await writeBook();
  expect(readFileSync(await writeBook()).equals(readFileSync(file))).toBe(true);
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(file);
  const sheet = workbook.getWorksheet("D'Água");
  expect(sheet?.rowCount).toBe(1004);
  expect(sheet?.getCell('A1').text).toBe('first');
  expect(sheet?.getCell('A2').text).toBe('late');
  expect(sheet?.getCell('B2').result).toBe(1010);
  expect(sheet?.getCell('A3').text).toBe('third');
  expect(sheet?.getCell('B1003').value).toBe(1.01);
  expect(sheet?.getCell('A1004').text).toBe('last');
});

test('a row cannot be added to be known last once rows were written out', async () => {
  const sheet = openSheet({ title: 'S', widths: [10] }, { name: 'xl/worksheets/sheet1.xml', ...scratch() });
  sheet.addRow([{ text: 'a' }]);
  await sheet.drain();
  expect(() => sheet.addLateRow(() => [])).toThrow(/late row/);
  await sheet.end();
});
