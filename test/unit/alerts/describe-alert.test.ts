import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import { LANGUAGES } from '../../../src/domain/language/language.ts';
import type { AlertFacts } from '../../../src/texts/alerts/alert-facts.ts';
import { ALERT_KINDS } from '../../../src/texts/alerts/alert-kinds.ts';
import { ALERT_TEXTS, describeAlert, summarize } from '../../../src/texts/alerts/describe-alert.ts';

const calendar = createCalendar('America/Sao_Paulo');
const SINCE = '2026-11-22T21:05:07.000Z';
/** Every fact, so that no text of a kind lacks one. */
const FACTS: Required<AlertFacts> = {
  ...{
    count: 3,
    cents: '1126905',
    since: SINCE,
    transaction: 'tx_1',
    expected: 'ep_1',
    mismatch: 'mm_1',
    about: 'p1',
    cause: 'run_1',
  },
  ...{ kinds: { stuck: 3 }, run: 'run_1', trigger: 'reconcile_recent', merchant: 'me_1', merchantName: 'Livraria' },
  ...{
    job: 'manifest',
    isRunning: false,
    error: 'unavailable',
    days: ['2026-11-21'],
    sheet: 'Extrato',
    opening: 'op_1',
    platform: 'p1',
  },
  hosts: ['db1:3306', 'db2:3306'],
  ...{ disks: [{ part: 'DATA_DIR', host: 'h1', mib: 5 }], parts: [{ part: 'inbox', since: SINCE }], zone: 'UTC' },
  ...{ operation: 'show', clocks: [{ host: 'h1', seconds: 600 }] },
  ...{ fits: 'America/Manaus', minutes: 60, hours: 2, percent: 7, total: 40 },
};
const shown = (name: string, facts: AlertFacts | null, locale: 'pt-BR' | 'en' = 'pt-BR') =>
  describeAlert(calendar, locale, {
    ...{ name, severity: 'critical', summary: 'the summary', facts, mismatchId: null },
    ...{ raisedAt: new Date(SINCE), endedAt: null },
  });

describe.each(LANGUAGES)('in %s', (locale) => {
  test.each(ALERT_KINDS)('%s has a title, a next step, and a text without a hole', (kind) => {
    const { title, todo, text } = shown(kind, FACTS, locale);
    expect(title).not.toBe(kind);
    expect(todo).toMatch(/^[^.]+\.$|^.*PROVIDER_.*\.$/);
    expect(text).not.toMatch(/undefined|null|NaN|T21:05/);
    expect(text.length).toBeGreaterThan(10);
  });

  test('every kind has a runbook', () => {
    const file = locale === 'en' ? 'runbooks.md' : 'runbooks.pt-BR.md';
    const text = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8');
    const sections = new Map(text.split(/^## /m).map((one) => [one.split('\n')[0], one.trim()]));
    expect(ALERT_KINDS.filter((kind) => (sections.get(kind)?.length ?? 0) < kind.length + 60)).toEqual([]);
  });
});

test('a text has local times, amounts as in Brazil, and the merchant’s name', () => {
  expect(shown('merchant_failing', FACTS)).toMatchObject({
    title: 'Lojista não recebe',
    text: 'o lojista Livraria (me_1) não aceita callbacks desde 22/11/2026 18:05:07',
    severity: 'crítica',
    since: '22/11/2026 18:05:07',
    runbookPath: '/runbooks/merchant_failing',
  });
  expect(shown('stuck', { count: 1, cents: '1126905', transaction: 'tx_1' }).text).toBe(
    'transação tx_1, R$ 11.269,05 em jogo',
  );
  expect(shown('stuck', FACTS, 'en').text).toBe(
    '3 mismatches of one cause, R$ 11,269.05 at stake; one of them: transaction tx_1',
  );
  expect(shown('report_missing', FACTS, 'en')).toMatchObject({
    text: 'no report of 21 Nov 2026 was made',
    runbookPath: '/runbooks/report_missing?lang=en',
  });
});

test('a text in Portuguese has words for the trigger of a run, and for the parts of a worker and its disks', () => {
  expect(shown('run_failed', FACTS).text).toContain('a conferência run_1 (Agenda: hoje e ontem) não conseguiu');
  expect(shown('disk_full', FACTS).text).toBe('disco de dados de h1 tem 5 MiB livres');
  const parts = [{ part: 'sealer' }, { part: 'new_part' }];
  expect(shown('worker_dead', { parts }).text).toContain('(selo do razão nunca, new_part nunca)');
});

test.each([
  ['balance_differs', { count: 1, cents: '1000', about: 'p1' }, 'Loja do Centro (p1), R$ 10,00 em jogo'],
  ['list_unstable', { count: 1, about: '2026-11-21 p1' }, '21/11/2026 Loja do Centro (p1)'],
  ['list_unstable', { count: 1, about: '2026-11-21' }, '21/11/2026'],
  ['opening_to_come', FACTS, /nada da plataforma Loja do Centro \(p1\) é lançado$/],
  ['stuck', { count: 1, about: 'p1' }, 'p1'],
])('%s of %o names the platform as people do, with its id once', (name, facts: AlertFacts, text) => {
  const alert = { name, severity: 'high', summary: '', facts, mismatchId: null, platformName: 'Loja do Centro' };
  const described = describeAlert(calendar, 'pt-BR', { ...alert, raisedAt: new Date(SINCE), endedAt: null });
  expect(described.text).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
});

test('a text names an order by its number where its reader may see it', () => {
  const alert = { name: 'paid_twice', severity: 'high', summary: '', facts: { expected: 'ep_1' }, mismatchId: 'mm_1' };
  const at = { raisedAt: new Date(SINCE), endedAt: null };
  expect(describeAlert(calendar, 'pt-BR', { ...alert, ...at, orderNumber: 'p-1' }).text).toBe('pedido p-1');
  expect(describeAlert(calendar, 'en', { ...alert, ...at }).text).toBe('order ep_1');
});

test('an id or a number of others begins no line of a mail, and hides nothing in one', () => {
  const text = (facts: AlertFacts) => shown('stuck', { count: 1, ...facts }).text;
  expect(text({ transaction: 'a\r\nALTO\tb\u2028c' })).toBe('transação a ALTO b⟨U+2028⟩c');
  expect(text({ expected: 'p\u202e1' })).toBe('pedido p⟨U+202E⟩1');
});

test('the summary is English with UTC, for the log and the API; an alert of an earlier version shows it', () => {
  const { summary } = summarize('merchant_failing', FACTS);
  expect(summary).toBe(`merchant_failing: merchant Livraria me_1, since ${SINCE}`);
  expect(shown('stuck', null)).toMatchObject({ title: 'Parada', text: 'the summary' });
});

test('an alert leads to what it is about', () => {
  const path = (name: string, facts: AlertFacts, mismatchId: string | null = null): string => {
    const alert = { name, severity: 'high', summary: '', facts, mismatchId, raisedAt: new Date(SINCE), endedAt: null };
    return describeAlert(calendar, 'pt-BR', alert).path;
  };
  expect(path('stuck', {}, 'mm_1')).toBe('/mismatches/mm_1');
  expect(path('run_failed', { run: 'run_1' })).toBe('/reconciliations/run_1');
  expect(path('callback_failed', { merchant: 'me_1' })).toBe('/merchants/me_1');
  expect(path('report_missing', { days: ['2026-11-21'] })).toBe('/reports/2026-11-21');
  expect(path('report_missing', { days: ['2026-11-20', '2026-11-21'] })).toBe('/reports');
  for (const name of ['disk_full', 'job_failed', 'job_overdue', 'worker_dead']) expect(path(name, {})).toBe('/system');
  const group = { count: 2, cause: 'critical 2026-11-22T21Z' };
  expect(path('stuck', group, 'mm_1')).toBe('/mismatches?kind=stuck&cause=critical+2026-11-22T21Z');
  expect(path('stuck', { ...group, count: 1 }, 'mm_1')).toBe('/mismatches/mm_1');
  expect(Object.keys(ALERT_TEXTS)).toEqual([...LANGUAGES]);
});
