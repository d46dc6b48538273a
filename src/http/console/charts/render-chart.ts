import { t } from '../../../texts/translate.ts';
import { type Html, html } from '../parts/html.ts';
import { type TableColumn, table } from '../parts/page-components.ts';
import { type Chart, isGap, type Slot } from './chart.ts';
import { describeUnknown, describeValue, summarizeChart } from './describe-chart.ts';
import { drawChart } from './draw-chart.ts';

/**
 * Renders a chart with its legend, and the same values as a table, the newest first. Where slots are links, a link before
 * them jumps over all of them. Without any known value it is one sentence.
 */
export function renderChart<S extends Slot>(chart: Chart<S>): Html {
  const { id, form, series, marks } = chart;
  const gaps = chart.slots.filter(isGap).map(describeUnknown);
  const words = [...new Set(gaps)].join(', ');
  if (gaps.length === chart.slots.length)
    return html`<p class="empty">${chart.title}: ${words || t('nenhum valor')}.</p>`;
  const key = form === 'bars' ? 'bar' : 'line';
  const hasLinks = chart.slots.some(({ href }) => href !== undefined);
  return html`<figure class="chart">${hasLinks && html`<a class="skip-chart" href="#${id}-numbers">${t('Pular o gráfico')}</a>`}
${drawChart(chart, summarizeChart(chart))}
<figcaption>${series.map((name, at) => html`<span class="key ${key} s${at + 1}">${name}</span> `)}${
    marks && html`<span class="key proven">${marks.proven}</span> <span class="key open">${marks.open}</span>`
  }${gaps.length > 0 && html`<span class="key gap">${words}</span>`}</figcaption></figure>
<details class="numbers" id="${id}-numbers"><summary>${t('Ver os números')}<span class="unseen">: ${chart.title}</span></summary>${chartTable(chart)}</details>`;
}

function chartTable<S extends Slot>(chart: Chart<S>): Html {
  const values = chart.series.map(
    (title, at): TableColumn<S> => ({
      title,
      cell: (slot) => describeValue(chart, slot, at),
      align: 'end',
    }),
  );
  const titleCell = ({ href, title }: S): Html | string =>
    href === undefined ? title : html`<a href="${href}">${title}</a>`;
  return table<S>({
    caption: chart.title,
    rows: chart.slots.toReversed(),
    empty: '',
    columns: [{ title: chart.slotTitle, cell: titleCell }, ...values, ...(chart.columns ?? [])],
  });
}
