import { expect, test } from 'vitest';
import type { Chart } from '../../../src/http/console/charts/chart.ts';
import { renderChart } from '../../../src/http/console/charts/render-chart.ts';
import { t } from '../../../src/texts/translate.ts';

const DAYS: Chart['slots'] = [
  { label: '19/11', title: '19/11/2026', href: '/reports/2026-11-19', values: [100_000n, 30_000n] },
  { label: '20/11', title: '20/11/2026', href: '/reports/2026-11-20', values: [undefined, undefined] },
  { label: '21/11', title: '21/11/2026', href: '/reports/2026-11-21', values: [-50_000n, 0n], isNow: true },
];
const BARS: Chart = {
  id: 'moved',
  title: t('Recebimentos e pagamentos'),
  form: 'bars',
  unit: 'cents',
  series: [t('Recebimentos'), t('Pagamentos')],
  slotTitle: 'Dia',
  slots: DAYS,
};

const draw = (chart: Chart): string => renderChart(chart).text;
/** The drawing for a wide window. */
const wide = (chart: Chart): string => /<div class="wide">.*?<\/div>/s.exec(draw(chart))?.[0] ?? '';
const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

test('an unknown value is a gap, a zero is not, and a negative bar hangs from zero', () => {
  const svg = wide(BARS);
  const bars = [...svg.matchAll(/class="bar (s\d)" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g)];
  expect(bars.map(([, name, , height]) => [name, Number(height) > 2])).toEqual([
    ['s1', true],
    ['s2', true],
    ['s1', true],
    ['s2', false],
  ]);
  expect(count(svg, /class="gap"/g)).toBe(1);
  const zero = /class="grid zero" x1="[\d.]+" x2="[\d.]+" y1="([\d.]+)"/.exec(svg)?.[1];
  expect(bars[2]?.[2]).toBe(zero);
  expect(svg).toContain('20/11/2026: Recebimentos desconhecido, Pagamentos desconhecido');
});

test('a line is broken where a value is unknown, and a value alone is a point', () => {
  const values = [1n, 2n, undefined, 4n, undefined, 6n, 7n];
  const slots = values.map((value, index) => ({ label: `${index}h`, title: `${index}h`, values: [value] }));
  const svg = wide({ ...BARS, form: 'lines', unit: 'ms', series: [t('Metade até')], slots });
  const [, path = ''] = /class="line s1" d="([^"]*)"/.exec(svg) ?? [];
  expect(path.replace(/[^ML]/g, '')).toBe('MLMML');
  const many = Array.from({ length: 92 }, (_, index) => ({
    ...slots[0],
    title: `${index}`,
    label: `${index}`,
    values: [index === 50 ? 5n : undefined],
  }));
  expect(count(wide({ ...BARS, form: 'lines', unit: 'ms', series: [t('Pagamentos')], slots: many }), /<circle/g)).toBe(
    1,
  );
});

test('every day is a link with its values, and the table repeats all of them', () => {
  const page = draw(BARS);
  const [, drawing = '', table = ''] = /^(.*)(<details.*)$/s.exec(page) ?? [];
  // once in each of the two drawings
  expect(count(drawing, /<a href="\/reports\/2026-11-\d+" aria-label="[^"]*: Recebimentos [^"]*">/g)).toBe(6);
  expect(count(drawing, /<title>/g)).toBe(6);
  for (const text of ['R$ 1.000,00', 'R$ 300,00', '-R$ 500,00', 'R$ 0,00', 'desconhecido'])
    expect(table).toContain(text);
  expect(table.indexOf('21/11/2026')).toBeLessThan(table.indexOf('19/11/2026'));
  expect(page).toContain('<a class="skip-chart" href="#moved-numbers">');
  expect(count(page, /id="moved-numbers"/g)).toBe(1);
});

test('who does not see the drawing hears its range and its extremes', () => {
  expect(wide(BARS)).toContain(
    'aria-label="Recebimentos e pagamentos, de 19/11/2026 a 21/11/2026. Recebimentos: o menor -R$ 500,00 em 21/11/2026, o maior R$ 1.000,00 em 19/11/2026, o último -R$ 500,00 em 21/11/2026, 1 sem valor.',
  );
  // an image has no parts for readers: what is a link stands outside of it
  const [image = ''] = /<g role="img".*?<\/g>/s.exec(wide(BARS)) ?? [];
  expect(image).toContain('class="bar s1"');
  expect(image).not.toContain('<a ');
});

test('a chart without any known value is a sentence', () => {
  const slots = DAYS.map((slot) => ({ ...slot, values: [undefined, undefined], unknown: t('ainda não contado') }));
  expect(draw({ ...BARS, slots })).toBe('<p class="empty">Recebimentos e pagamentos: ainda não contado.</p>');
});

test('a chart without a slot, and one with 92 days, have finite coordinates and no style', () => {
  const many = Array.from({ length: 92 }, (_, index) => ({
    ...{ label: '01/01', title: `dia ${index}`, values: [BigInt(index) * 10n ** 16n, undefined] },
  }));
  for (const slots of [[], many, DAYS.slice(2), DAYS]) {
    for (const form of ['bars', 'lines'] as const) {
      const page = draw({ ...BARS, form, slots });
      expect(page).not.toMatch(/NaN|Infinity|undefined|style=/);
    }
  }
});

test('labels of the horizontal axis never touch, and the last one is always there', () => {
  const slots = Array.from({ length: 92 }, (_, index) => ({ label: '01/01', title: `${index}`, values: [1n, 2n] }));
  const svg = wide({ ...BARS, slots });
  const xs = [...svg.matchAll(/<text x="([\d.]+)" y="\d+">01\/01/g)].map(([, x]) => Number(x));
  expect(xs.length).toBeGreaterThan(5);
  for (const [index, x] of xs.slice(1).entries()) expect(x - (xs[index] ?? 0)).toBeGreaterThan(40);
  expect(xs.at(-1)).toBeGreaterThan(770);
});
