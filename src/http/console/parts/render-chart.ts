import { t } from '../languages/translate.ts';
import { type Html, html } from './html.ts';
import { table } from './page-components.ts';

const HEIGHT = 96;
const LEFT = 52;
const TOP = 10;
const FOOT = 24;
const STEP = 32;
const BAR_MIN = 2;
const GROUPS_ON_A_PHONE = 8;
const TICKS = [0, 0.5, 1];

export type Chart = {
  /** What the chart shows, for those who cannot see it. */
  label: string;
  /** The bars of each group, each with the name of its colour in the stylesheet. */
  series: { name: 'in' | 'out'; title: string }[];
  /** Groups of bars, from left to right. A value that is undefined has no bar. */
  groups: { label: string; title: string; values: (number | undefined)[] }[];
  /** The end of the axis; default: a round number above all values. */
  highest?: number;
  format: (value: number) => string;
};

/** Draws bars over an axis, with the values on hover and in a table. */
export function renderChart(chart: Chart): Html {
  const { series, groups, format } = chart;
  return html`<figure class="days chart">${draw(chart, groups, 'wide')}${draw(chart, groups.slice(-GROUPS_ON_A_PHONE), 'narrow')}
<figcaption>${series.map(({ name, title }) => html`<span class="key ${name}">${title}</span> `)}</figcaption></figure>
<details class="numbers"><summary>${t('Ver os números')}</summary>${table({
    caption: chart.label,
    rows: groups.toReversed(),
    empty: '',
    columns: [
      { title: 'Hora', cell: (group) => group.title },
      ...series.map(({ title }, index) => ({
        title,
        cell: ({ values }: (typeof groups)[number]) => describe(values[index], format),
        align: 'end' as const,
      })),
    ],
  })}</details>`;
}

function draw({ label, series, highest, format }: Chart, groups: Chart['groups'], name: string): Html {
  const values = groups.flatMap((group) => group.values.filter((value) => value !== undefined));
  const top = highest ?? roundUp(Math.max(1, ...values));
  const width = LEFT + groups.length * STEP;
  const y = (value: number): number => TOP + HEIGHT - (value / top) * HEIGHT;
  const bar = (STEP - 8) / series.length;
  const drawGroup = ({ label: text, title, values: own }: Chart['groups'][number], index: number): Html => {
    const x = LEFT + index * STEP;
    const described = series.map((one, at) => `${one.title} ${describe(own[at], format)}`).join(', ');
    return html`<g><title>${title}: ${described}</title><rect class="hit" x="${x}" y="${TOP}" width="${STEP}" height="${HEIGHT + FOOT}"></rect>
${series.map((one, at) => {
  const value = own[at];
  if (value === undefined) return undefined;
  const height = Math.max(BAR_MIN, TOP + HEIGHT - y(value));
  return html`<rect class="${one.name}" x="${x + 4 + at * bar}" y="${TOP + HEIGHT - height}" width="${bar - 2}" height="${height}" rx="2"></rect>`;
})}<text x="${x + STEP / 2}" y="${TOP + HEIGHT + 17}">${text}</text></g>`;
  };
  return html`<svg class="${name}" viewBox="0 0 ${width} ${TOP + HEIGHT + FOOT}" role="img" aria-label="${t('{label}; os números estão na tabela abaixo', { label })}">
${TICKS.map((share) => html`<line class="axis" x1="${LEFT}" x2="${width}" y1="${y(top * share)}" y2="${y(top * share)}"></line><text class="tick" x="${LEFT - 6}" y="${y(top * share) + 4}">${format(top * share)}</text>`)}
${groups.map(drawGroup)}</svg>`;
}

function describe(value: number | undefined, format: Chart['format']): string {
  return value === undefined ? t('sem tentativas') : format(value);
}

/** 1, 2 or 5 times a power of ten, at or above a number. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= value) ?? value;
}
