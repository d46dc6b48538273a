import { formatCount, formatDay, formatMoney } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { DayTotals } from './read-overview.ts';

const HEIGHT = 96;
const STEP = 40;
const BAR = 13;
const BAR_MIN = 2;
const DAYS_ON_A_PHONE = 7;

/**
 * Draws the last days: receipts and payments as bars, and under each day whether a run has proven it. A table repeats
 * all values for readers who cannot see the drawing.
 */
export function renderDaysChart(days: DayTotals[]): Html {
  const sums = days.flatMap(({ receipts, payments }) => [receipts.cents, payments.cents]);
  const highest = sums.toSorted((a, b) => (a < b ? 1 : -1)).find((cents) => cents > 0n) ?? 1n;
  // a height of pixels, not money: rounding is fine here
  const height = (cents: bigint): number =>
    cents <= 0n ? 0 : Math.max(BAR_MIN, Number((cents * BigInt(HEIGHT)) / highest));
  const draw = (
    shown: DayTotals[],
    name: string,
  ): Html => html`<svg class="${name}" viewBox="0 0 ${shown.length * STEP} ${HEIGHT + 40}" role="img" aria-label="Recebimentos e pagamentos dos últimos ${shown.length} dias; os números estão na tabela abaixo">
<line class="axis" x1="0" x2="${shown.length * STEP}" y1="${HEIGHT + 0.5}" y2="${HEIGHT + 0.5}"></line>
${shown.map((day, index) => drawDay(day, index * STEP, height, index === shown.length - 1))}</svg>`;
  return html`<figure class="days">${draw(days, 'wide')}${draw(days.slice(-DAYS_ON_A_PHONE), 'narrow')}
<figcaption><span class="key in">recebido</span> <span class="key out">pago</span> <span class="key proven">provado</span> <span class="key open">ainda não provado</span></figcaption>
</figure>
<details class="numbers"><summary>Ver os números</summary>${dayTable(days)}</details>`;
}

function drawDay(day: DayTotals, x: number, height: (cents: bigint) => number, isToday: boolean): Html {
  const [received, paid] = [height(day.receipts.cents), height(day.payments.cents)];
  const middle = x + STEP / 2;
  const label = `${formatDay(day.day)}: recebido ${formatMoney(day.receipts.cents)}, pago ${formatMoney(day.payments.cents)}, ${describeProof(day)}`;
  return html`<g${isToday && html` class="today"`}><title>${label}</title><rect class="hit" x="${x}" y="0" width="${STEP}" height="${HEIGHT + 40}"></rect>
<rect class="in" x="${middle - BAR - 1}" y="${HEIGHT - received}" width="${BAR}" height="${received}" rx="2"></rect>
<rect class="out" x="${middle + 1}" y="${HEIGHT - paid}" width="${BAR}" height="${paid}" rx="2"></rect>
<text x="${middle}" y="${HEIGHT + 17}">${day.day.slice(8, 10)}</text>
${
  day.proven
    ? html`<path class="proven" d="M${middle - 5} ${HEIGHT + 29}l3.5 3.5l6.5 -7"></path>`
    : html`<circle class="open" cx="${middle}" cy="${HEIGHT + 29}" r="3.5"></circle>`
}</g>`;
}

/** Says in words whether a day is proven. */
export function describeProof(day: DayTotals): string {
  if (day.proven) return 'provado';
  return day.readAt === undefined ? 'nunca lido por inteiro' : 'lido antes do fim do dia';
}

function dayTable(days: DayTotals[]): Html {
  const rows = days.toReversed();
  return html`<div class="scroll"><table><caption class="unseen">Os últimos dias</caption><thead><tr><th scope="col">Dia</th><th scope="col" class="end">Recebido</th><th scope="col" class="end">Pago</th><th scope="col" class="end">Comissões</th><th scope="col">Prova</th></tr></thead>
<tbody>${rows.map(
    (day) => html`<tr><th scope="row">${formatDay(day.day)}</th>
<td class="end">${formatMoney(day.receipts.cents)} <span class="hint">(${formatCount(day.receipts.count)})</span></td>
<td class="end">${formatMoney(day.payments.cents)} <span class="hint">(${formatCount(day.payments.count)})</span></td>
<td class="end">${formatMoney(day.commissionCents)}</td><td>${describeProof(day)}</td></tr>`,
  )}</tbody></table></div>`;
}
