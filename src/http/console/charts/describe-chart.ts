import { type Drawing, type Slot, UNKNOWN } from './chart.ts';
import { formatValue } from './format-value.ts';

/** `21/11/2026: Recebido R$ 12,00, Pago R$ 3,00, provado`. */
export function describeSlot(chart: Drawing, slot: Slot): string {
  const values = chart.series.map((name, at) => `${name} ${describeValue(chart, slot, at)}`);
  return `${slot.title}: ${[...values, ...(slot.mark ? [slot.mark.text] : [])].join(', ')}`;
}

/** The value of a series at a slot, as text. */
export function describeValue({ unit }: Pick<Drawing, 'unit'>, { values, unknown }: Slot, at: number): string {
  const value = values[at];
  return value === undefined ? (unknown ?? UNKNOWN) : formatValue(value, unit);
}

/** What a chart shows, for who does not see it: its range, and of each series the lowest, the highest and the last value. */
export function summarizeChart(chart: Drawing): string {
  const { title, slots, series } = chart;
  const [first, last] = [slots[0], slots.at(-1)];
  if (!first || !last) return `${title}: sem valores`;
  const lines = series.map((name, at) => summarizeSeries(chart, name, at));
  return `${title}, de ${first.title} a ${last.title}. ${lines.join(' ')} Os mesmos valores estão na tabela abaixo.`;
}

function summarizeSeries(chart: Drawing, name: string, at: number): string {
  const known = chart.slots.flatMap((slot) => {
    const value = slot.values[at];
    return value === undefined ? [] : [{ value, title: slot.title }];
  });
  const last = known.at(-1);
  if (!last) return `${name}: nenhum valor conhecido.`;
  const lowest = known.reduce((a, b) => (b.value < a.value ? b : a));
  const highest = known.reduce((a, b) => (b.value > a.value ? b : a));
  const say = ({ value, title }: typeof last): string => `${formatValue(value, chart.unit)} em ${title}`;
  const missing = chart.slots.length - known.length;
  return `${name}: o menor ${say(lowest)}, o maior ${say(highest)}, o último ${say(last)}${missing > 0 ? `, ${missing} sem valor` : ''}.`;
}
