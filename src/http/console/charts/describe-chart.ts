import { t } from '../../../texts/translate.ts';
import type { Drawing, Slot } from './chart.ts';
import { formatValue } from './format-value.ts';

/** `21/11/2026: Recebido R$ 12,00, Pago R$ 3,00, provado`. */
export function describeSlot(chart: Drawing, slot: Slot): string {
  const values = chart.series.map((name, at) => `${name} ${describeValue(chart, slot, at)}`);
  return `${slot.title}: ${[...values, ...(slot.mark ? [slot.mark.text] : [])].join(', ')}`;
}

/** The value of a series at a slot, as text. */
export function describeValue({ unit }: Pick<Drawing, 'unit'>, slot: Slot, at: number): string {
  const value = slot.values[at];
  return value === undefined ? describeUnknown(slot) : formatValue(value, unit);
}

/** Describes a chart for a screen reader: its range, and the lowest, the highest and the last value of each series. */
export function summarizeChart(chart: Drawing): string {
  const { title, slots, series } = chart;
  const [first, last] = [slots[0], slots.at(-1)];
  if (!first || !last) return title;
  const lines = series.map((name, at) => summarizeSeries(chart, name, at));
  const range = t('{title}, de {first} a {last}.', { title, first: first.title, last: last.title });
  return `${range} ${lines.join(' ')} ${t('Os mesmos valores estão na tabela abaixo.')}`;
}

function summarizeSeries(chart: Drawing, name: string, at: number): string {
  const known = chart.slots.flatMap((slot) => {
    const value = slot.values[at];
    return value === undefined ? [] : [{ value, title: slot.title }];
  });
  const last = known.at(-1);
  if (!last) return t('{name}: nenhum valor conhecido.', { name });
  const lowest = known.reduce((a, b) => (b.value < a.value ? b : a));
  const highest = known.reduce((a, b) => (b.value > a.value ? b : a));
  const say = ({ value, title }: typeof last): string =>
    t('{value} em {title}', { value: formatValue(value, chart.unit), title });
  const extremes = { name, lowest: say(lowest), highest: say(highest), last: say(last) };
  const missing = chart.slots.length - known.length;
  const text = t('{name}: o menor {lowest}, o maior {highest}, o último {last}', extremes);
  return `${text}${missing > 0 ? `, ${t('{n} sem valor', { n: missing })}` : ''}.`;
}

/** The text of a slot's unknown value. */
export function describeUnknown({ unknown }: Pick<Slot, 'unknown'>): string {
  return unknown ?? t('desconhecido');
}
