import type { FinishedSheet } from './open-sheet.ts';
import { escapeText } from './render-cell.ts';
import { type PlacedChart, renderChart } from './render-chart.ts';

/** A part of the workbook's package. Relations have no type of their own. */
export type Part = { name: string; text: string; type?: string };

export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
const TYPES = 'application/vnd.openxmlformats-officedocument';

/** The parts that draw the sheets' charts: for each sheet with some a drawing, which places its charts over cells. */
export function renderDrawings(sheets: readonly FinishedSheet[]): Part[] {
  const parts: Part[] = [];
  let drawings = 0;
  let charts = 0;
  for (const { title, entry, charts: placed } of sheets) {
    if (placed.length === 0) continue;
    const drawing = `drawing${++drawings}.xml`;
    const names = placed.map(() => `chart${++charts}.xml`);
    parts.push(
      { name: relationsOf(entry.name), text: renderRelations('drawing', [`../drawings/${drawing}`]) },
      { name: `xl/drawings/${drawing}`, text: renderDrawing(placed), type: `${TYPES}.drawing+xml` },
      {
        name: relationsOf(`xl/drawings/${drawing}`),
        text: renderRelations(
          'chart',
          names.map((name) => `../charts/${name}`),
        ),
      },
      ...placed.map(({ chart }, index) => ({
        name: `xl/charts/${names[index]}`,
        text: renderChart(chart, title),
        type: `${TYPES}.drawingml.chart+xml`,
      })),
    );
  }
  return parts;
}

/** `xl/worksheets/sheet1.xml` has its relations in `xl/worksheets/_rels/sheet1.xml.rels`. */
function relationsOf(name: string): string {
  return name.replace(/([^/]+)$/, '_rels/$1.rels');
}

function renderRelations(kind: 'drawing' | 'chart', targets: string[]): string {
  const relations = targets.map(
    (target, index) => `<Relationship Id="rId${index + 1}" Type="${DOCUMENT}/${kind}" Target="${target}"/>`,
  );
  return `${XML_HEAD}<Relationships xmlns="${PACKAGE}">${relations.join('')}</Relationships>`;
}

function renderDrawing(placed: readonly PlacedChart[]): string {
  const namespaces = `xmlns:xdr="${DRAWING}/spreadsheetDrawing" xmlns:a="${DRAWING}/main" xmlns:r="${DOCUMENT}"`;
  return `${XML_HEAD}<xdr:wsDr ${namespaces}>${placed.map(renderAnchor).join('')}</xdr:wsDr>`;
}

function renderAnchor({ chart, column, columns, row, rows }: PlacedChart, index: number): string {
  const corner = (name: string, x: number, y: number): string =>
    `<xdr:${name}><xdr:col>${x}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${y}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`;
  const title = escapeText(chart.title);
  // the number 1 belongs to the drawing itself
  const names = `<xdr:cNvPr id="${index + 2}" name="${title}" descr="${title}"/><xdr:cNvGraphicFramePr/>`;
  return [
    `<xdr:twoCellAnchor editAs="oneCell">${corner('from', column, row - 1)}${corner('to', column + columns, row + rows - 1)}`,
    `<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr>${names}</xdr:nvGraphicFramePr>`,
    '<xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>',
    `<a:graphic><a:graphicData uri="${DRAWING}/chart"><c:chart xmlns:c="${DRAWING}/chart" r:id="rId${index + 1}"/></a:graphicData></a:graphic>`,
    '</xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>',
  ].join('');
}
