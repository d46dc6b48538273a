import { formatAmount } from '../../domain/money.ts';
import { referToCells } from './refer-to-cells.ts';
import { escapeText, numberDay } from './render-cell.ts';

/** Cells of the chart's own sheet, `B7:B30`, with their values, for programs that do not compute formulas. */
export type ChartCells<Value> = { range: string; values: readonly Value[] };

export type ChartSeries = {
  /** The cell above the values. */
  name: { range: string; text: string };
  values: ChartCells<bigint | number>;
  /** `2E8B57`. */
  color: string;
};

/** Bars that stand side by side, up and down from zero on an axis of days, or lie below one another with their values. */
export type Chart = {
  title: string;
  categories: ChartCells<string>;
  series: readonly ChartSeries[];
  kind: 'hours' | 'days' | 'list';
  /** The values are cents, or counts. */
  unit: 'money' | 'count';
};

/** A chart over whole cells. Columns count from 0, rows from 1. */
export type PlacedChart = { chart: Chart; column: number; columns: number; row: number; rows: number };

const NAMESPACES = {
  c: 'http://schemas.openxmlformats.org/drawingml/2006/chart',
  a: 'http://schemas.openxmlformats.org/drawingml/2006/main',
  r: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
};
const FORMATS = { money: '"R$" #,##0', count: '#,##0', day: 'dd/mm' } as const;
const CELL_FORMATS = { money: '#,##0.00', count: '#,##0', day: 'dd/mm/yyyy' } as const;
const TEXT_COLOR = '1F2933';
const TITLE_COLOR = '17375E';
const LINE_COLOR = 'D5DCE4';
/** Sizes of text, in hundredths of a point. */
const TITLE_SIZE = 1100;
const TEXT_SIZE = 800;
const CATEGORY_AXIS = 1;
const VALUE_AXIS = 2;

/** The part `xl/charts/chartN.xml` of a chart that draws cells of the sheet `title`. Elements stand in the format's order. */
export function renderChart(chart: Chart, title: string): string {
  const namespaces = Object.entries(NAMESPACES).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    `<c:chartSpace${namespaces.join('')}><c:date1904 val="0"/><c:roundedCorners val="0"/>`,
    `<c:chart>${renderTitle(chart.title)}<c:autoTitleDeleted val="0"/>`,
    `<c:plotArea><c:layout/>${renderBars(chart, title)}${renderCategoryAxis(chart)}${renderValueAxis(chart)}</c:plotArea>`,
    chart.series.length > 1 ? '<c:legend><c:legendPos val="b"/><c:overlay val="0"/></c:legend>' : '',
    '<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart>',
    `<c:spPr>${fillWith('FFFFFF')}${lineOf(LINE_COLOR)}</c:spPr>`,
    `<c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="${TEXT_SIZE}">${fillWith(TEXT_COLOR)}</a:defRPr></a:pPr><a:endParaRPr lang="pt-BR"/></a:p></c:txPr>`,
    '</c:chartSpace>',
  ].join('');
}

function renderTitle(text: string): string {
  const run = `sz="${TITLE_SIZE}" b="1">${fillWith(TITLE_COLOR)}`;
  const paragraph = `<a:pPr><a:defRPr ${run}</a:defRPr></a:pPr><a:r><a:rPr ${run}</a:rPr><a:t>${escapeText(text)}</a:t></a:r>`;
  return `<c:title><c:tx><c:rich><a:bodyPr/><a:p>${paragraph}</a:p></c:rich></c:tx><c:overlay val="0"/></c:title>`;
}

function renderBars(chart: Chart, title: string): string {
  const labels = chart.kind === 'list' ? renderLabels(FORMATS[chart.unit]) : '';
  return [
    `<c:barChart><c:barDir val="${chart.kind === 'list' ? 'bar' : 'col'}"/><c:grouping val="clustered"/><c:varyColors val="0"/>`,
    ...chart.series.map((series, index) => renderSeries(chart, series, { index, title })),
    labels,
    `<c:gapWidth val="40"/><c:overlap val="${chart.kind === 'days' ? 100 : 0}"/>`,
    `<c:axId val="${CATEGORY_AXIS}"/><c:axId val="${VALUE_AXIS}"/></c:barChart>`,
  ].join('');
}

function renderSeries(chart: Chart, series: ChartSeries, { index, title }: { index: number; title: string }): string {
  const { name, values, color } = series;
  const numbers = values.values.map((value) => (typeof value === 'bigint' ? formatAmount(value) : String(value)));
  const { range, values: categories } = chart.categories;
  const categoryCells =
    chart.kind === 'days'
      ? renderNumbers(referToCells(title, range), categories.map(numberDay).map(String), CELL_FORMATS.day)
      : renderTexts(referToCells(title, range), categories);
  return [
    `<c:ser><c:idx val="${index}"/><c:order val="${index}"/>`,
    `<c:tx>${renderTexts(referToCells(title, name.range), [name.text])}</c:tx>`,
    `<c:spPr>${fillWith(color)}</c:spPr><c:invertIfNegative val="0"/>`,
    `<c:cat>${categoryCells}</c:cat>`,
    `<c:val>${renderNumbers(referToCells(title, values.range), numbers, CELL_FORMATS[chart.unit])}</c:val></c:ser>`,
  ].join('');
}

function renderTexts(reference: string, texts: readonly string[]): string {
  const points = texts.map((text, index) => `<c:pt idx="${index}"><c:v>${escapeText(text)}</c:v></c:pt>`);
  const cache = `<c:strCache><c:ptCount val="${texts.length}"/>${points.join('')}</c:strCache>`;
  return `<c:strRef><c:f>${escapeText(reference)}</c:f>${cache}</c:strRef>`;
}

function renderNumbers(reference: string, numbers: readonly string[], format: string): string {
  const points = numbers.map((number, index) => `<c:pt idx="${index}"><c:v>${number}</c:v></c:pt>`);
  const count = `<c:ptCount val="${numbers.length}"/>`;
  const cache = `<c:numCache><c:formatCode>${escapeText(format)}</c:formatCode>${count}${points.join('')}</c:numCache>`;
  return `<c:numRef><c:f>${escapeText(reference)}</c:f>${cache}</c:numRef>`;
}

/** The value at the end of each bar. */
function renderLabels(format: string): string {
  const shown = ['LegendKey', 'Val', 'CatName', 'SerName', 'Percent', 'BubbleSize'];
  const flags = shown.map((name) => `<c:show${name} val="${name === 'Val' ? 1 : 0}"/>`);
  return `<c:dLbls>${renderFormat(format)}<c:dLblPos val="outEnd"/>${flags.join('')}</c:dLbls>`;
}

function renderCategoryAxis({ kind }: Chart): string {
  // the first row of a list is on top; labels stay below bars that point down
  const scaling = `<c:scaling><c:orientation val="${kind === 'list' ? 'maxMin' : 'minMax'}"/></c:scaling>`;
  return [
    `<c:catAx><c:axId val="${CATEGORY_AXIS}"/>${scaling}<c:delete val="0"/><c:axPos val="${kind === 'list' ? 'l' : 'b'}"/>`,
    renderFormat(kind === 'days' ? FORMATS.day : 'General'),
    '<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="low"/>',
    `<c:spPr>${lineOf(LINE_COLOR)}</c:spPr><c:crossAx val="${VALUE_AXIS}"/><c:crosses val="autoZero"/>`,
    // LibreOffice saves an axis of dates in a way that openpyxl refuses: days are categories like the others
    '<c:auto val="0"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/><c:noMultiLvlLbl val="1"/></c:catAx>',
  ].join('');
}

function renderValueAxis({ kind, unit }: Chart): string {
  const isList = kind === 'list';
  const grid = isList ? '' : `<c:majorGridlines><c:spPr>${lineOf(LINE_COLOR)}</c:spPr></c:majorGridlines>`;
  return [
    `<c:valAx><c:axId val="${VALUE_AXIS}"/><c:scaling><c:orientation val="minMax"/></c:scaling>`,
    `<c:delete val="${isList ? 1 : 0}"/><c:axPos val="${isList ? 'b' : 'l'}"/>${grid}${renderFormat(FORMATS[unit])}`,
    '<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>',
    `<c:spPr><a:ln><a:noFill/></a:ln></c:spPr><c:crossAx val="${CATEGORY_AXIS}"/><c:crosses val="autoZero"/>`,
    '<c:crossBetween val="between"/></c:valAx>',
  ].join('');
}

function renderFormat(format: string): string {
  return `<c:numFmt formatCode="${escapeText(format)}" sourceLinked="0"/>`;
}

function fillWith(color: string): string {
  return `<a:solidFill><a:srgbClr val="${color}"/></a:solidFill>`;
}

function lineOf(color: string): string {
  return `<a:ln w="9525">${fillWith(color)}</a:ln>`;
}
