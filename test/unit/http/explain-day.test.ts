import { expect, test } from 'vitest';
import { addMonths, boundsOfMonth } from '../../../src/domain/calendar.ts';
import { explainDay } from '../../../src/http/console/reports/explain-day.ts';
import { nameMonth, nameWeekdays } from '../../../src/http/console/reports/month.ts';
import type { ReportDay } from '../../../src/reports/serve/list-report-days.ts';
import { runInLanguage } from '../../../src/texts/language.ts';

const DAY = '2026-11-20';

function dayOf(state: ReportDay['state'], more: Partial<ReportDay> = {}, revisionState = 'provisional'): ReportDay {
  const fixed = { day: DAY, madeAt: new Date(0), proven: false, isReadWhole: false, digest: '', isRedacted: false };
  const newest = { ...fixed, figures: undefined, revision: 2, state: revisionState as 'provisional' };
  return {
    ...{ day: DAY, state, isReadWhole: true, unread: undefined, isInDoubt: false, revisedBy: undefined },
    ...{ revisions: [newest], figures: undefined, ledger: { closing: 0n, held: 0n } },
    ...more,
  };
}
const unread = (count: number, hasDay: boolean) => ({
  unread: { count, from: '2026-08-17', to: '2026-11-02', hasDay },
});

test.each([
  [dayOf('provisional', unread(1, true)), 'Provisório: falta uma leitura completa depois do fim do dia.'],
  [
    dayOf('provisional', unread(3, true)),
    'Provisório: falta uma leitura completa depois do fim do dia, e de 2 dias antes dele.',
  ],
  [
    dayOf('provisional', unread(2, false)),
    'Provisório: falta ler 2 dos 95 dias antes dele (de 17/08/2026 a 02/11/2026), cujas transações ainda podem mudá-lo.',
  ],
  [dayOf('provisional', { isInDoubt: true }), 'Provisório: o fuso horário do provedor está em dúvida.'],
  [dayOf('changed'), 'Mudou depois da revisão 2: a próxima dirá o que mudou e por quê.'],
  [dayOf('missing', { revisions: [] }), 'Não feito: o dia terminou e não tem relatório.'],
  [dayOf('missing', {}, 'partial'), 'Não feito: a revisão 2 é de quando o dia corria, e nenhuma o mostra inteiro.'],
  [dayOf('closed', {}, 'closed'), 'Completo: ele e os 95 dias antes dele foram lidos ou contados depois do seu fim.'],
  [
    dayOf('closed', { isReadWhole: false }),
    'Completo: ele e os 95 dias antes dele foram lidos ou contados depois do seu fim. O próprio dia foi provado por contagem. A revisão 2 ainda não o diz: a próxima dirá.',
  ],
  [dayOf('revised', { revisedBy: 2 }, 'closed'), 'Revisado e completo: a revisão 2 mudou linhas da anterior.'],
])('a day says its state in one sentence (%#)', (day, sentence) => {
  expect(explainDay(day).sentence).toBe(sentence);
});

test('only the sentence of a day that is complete in the usual way is said once for many', () => {
  const isUsual = (...given: Parameters<typeof dayOf>) => explainDay(dayOf(...given)).isUsual === true;
  expect(isUsual('closed', {}, 'closed')).toBe(true);
  expect(isUsual('closed', { isReadWhole: false }, 'closed')).toBe(false);
  expect(isUsual('closed')).toBe(false);
  expect(isUsual('revised', { revisedBy: 2 }, 'closed')).toBe(false);
});

test('a day names what ends its state', () => {
  const action = (...given: Parameters<typeof dayOf>) => explainDay(dayOf(...given)).action;
  const run = { kind: 'run', from: '2026-08-17', to: '2026-11-02' };
  expect(action('provisional', unread(2, false))).toMatchObject(run);
  expect(action('provisional', { isInDoubt: true })).toMatchObject({ kind: 'link', path: '/alerts' });
  expect(action('changed')).toEqual({ kind: 'make', text: 'Fazer a revisão 3' });
  for (const state of ['missing', 'running'] as const) expect(action(state)).toMatchObject({ kind: 'make' });
  expect(action('closed', {}, 'closed')).toBeUndefined();
  // the stored revision does not say yet that the day is closed
  expect(action('closed')).toMatchObject({ kind: 'make' });
});

test('months and weekdays have the names of the language', () => {
  expect([nameMonth('2026-03'), nameWeekdays()[0]]).toEqual(['março de 2026', 'dom']);
  expect(runInLanguage('en', () => [nameMonth('2026-03'), nameWeekdays()[0]])).toEqual(['March 2026', 'Sun']);
  expect([addMonths('2026-12', 1), addMonths('2026-01', -1), addMonths('2026-01', 1)]).toEqual([
    '2027-01',
    '2025-12',
    '2026-02',
  ]);
  expect(boundsOfMonth('2028-02')).toEqual({ from: '2028-02-01', to: '2028-02-29' });
});
