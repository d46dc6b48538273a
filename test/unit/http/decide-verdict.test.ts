import { expect, test } from 'vitest';
import { decideVerdict, type VerdictFacts } from '../../../src/http/console/overview/decide-verdict.ts';

const NOW = new Date('2026-11-22T15:00:00Z');
const minutesAgo = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);

const GOOD: VerdictFacts = {
  now: NOW,
  today: '2026-11-22',
  alerts: [],
  alertCount: 0,
  notices: [],
  alertsBefore: 0,
  statements: [],
  openMismatches: { count: 0, cents: 0n, critical: 0, broken: 0, checkedAt: undefined },
  decided: { count: 0, cents: 0n },
  merchants: [],
  failedCallbacks: { n: 0, isMore: false },
  readAt: minutesAgo(10),
  watchedAt: minutesAgo(10),
  activeRun: undefined,
  unverifiedSince: minutesAgo(1),
  providerFault: { percent: 96, cause: '503' },
  unwritableSince: undefined,
  booksFrom: '2026-10-01',
  unproven: { count: 0, oldest: undefined },
  unopened: [],
};

const alert = (severity: string, text: string, more: { cents?: bigint; since?: Date } = {}) => ({
  ...{ title: 'Título', text, severity, cents: 0n, since: minutesAgo(5), path: `/mismatches/${text}` },
  ...more,
});
const merchant = (id: string, isDisabled: boolean) => ({ id, name: id, isDisabled, since: minutesAgo(60) });

test('all known and nothing wrong is good', () => {
  expect(decideVerdict(GOOD)).toEqual({ state: 'good', wrong: [], unknown: [], notices: [], decided: undefined });
});

test('a request that waits for a decision is named, and changes no verdict', () => {
  const { state, notices } = decideVerdict({ ...GOOD, notices: [alert('medium', 'mudança')] });
  const action = { kind: 'link', path: '/mismatches/mudança' };
  expect([state, notices]).toMatchObject(['good', [{ text: 'Título: mudança (há 5 min)', action }]]);
});

/** Each fact alone makes a green verdict impossible. */
const REASONS: [
  name: string,
  state: 'wrong' | 'unknown',
  facts: Partial<VerdictFacts>,
  text: string,
  action: object,
][] = [
  [
    'a database that takes no writes',
    'wrong',
    { unwritableSince: minutesAgo(2) },
    'O banco de dados não aceita gravações (há 2 min): a página mostra o que estava gravado antes',
    { kind: 'link', path: '/runbooks/database_read_only' },
  ],
  [
    'a webhook that waits for more than a minute',
    'unknown',
    { unverifiedSince: new Date(NOW.getTime() - 61_000) },
    'Um anúncio (webhook) espera verificação há 1 min: 96 % das consultas ao provedor falham ou demoram (503)',
    { kind: 'link', path: '/inbox?state=pending' },
  ],
  [
    'an alert',
    'wrong',
    { alerts: [alert('medium', 'mm_1')], alertCount: 1 },
    'Título: mm_1 (há 5 min)',
    { kind: 'link', path: '/mismatches/mm_1' },
  ],
  [
    'an alert that was not read',
    'wrong',
    { alerts: [], alertCount: 1 },
    'e mais 1 alerta',
    { kind: 'link', path: '/alerts?state=firing' },
  ],
  [
    'a stated balance that differs',
    'wrong',
    { statements: [{ platform: 'p1', differenceCents: -1_126_905n }] },
    'O saldo informado da plataforma p1 difere do razão em R$ 11.269,05',
    { kind: 'link', path: '/balances' },
  ],
  [
    'an open mismatch',
    'wrong',
    { openMismatches: { count: 1, cents: 500n, critical: 1, broken: 0, checkedAt: minutesAgo(10) } },
    '1 divergência em aberto ao todo, R$ 5,00 em jogo; 1 é crítica: das divergências, só uma crítica impede fechar um mês. A cadeia e os saldos dos livros conferem (verificados há 10 min)',
    { kind: 'link', path: '/mismatches' },
  ],
  [
    'a disabled merchant',
    'wrong',
    { merchants: [merchant('me_1', true)] },
    'O lojista me_1 está desativado há 1 h',
    { kind: 'link', path: '/merchants/me_1' },
  ],
  [
    'a merchant that fails',
    'wrong',
    { merchants: [merchant('me_1', false)] },
    'O lojista me_1 não aceita callbacks há 1 h',
    { kind: 'link', path: '/merchants/me_1' },
  ],
  [
    'a failed callback',
    'wrong',
    { failedCallbacks: { n: 2, isMore: true } },
    'mais de 2 callbacks falharam de vez',
    { kind: 'link', path: '/callbacks?state=failed' },
  ],
  [
    'no reading of today',
    'unknown',
    { readAt: undefined },
    'Nenhuma conferência leu hoje por inteiro',
    { kind: 'run', from: '2026-11-22', to: '2026-11-22' },
  ],
  [
    'a reading of today that is older than ten minutes',
    'unknown',
    { readAt: new Date(minutesAgo(10).getTime() - 1) },
    'A última conferência completa de hoje começou há 10 min',
    { kind: 'run', from: '2026-11-22', to: '2026-11-22' },
  ],
  [
    'an alert of before a restore',
    'unknown',
    { alertsBefore: 2 },
    '2 alertas são de antes da restauração, e nada diz que ainda valem',
    { kind: 'link', path: '/alerts' },
  ],
  [
    'a run that reads a large day',
    'unknown',
    { readAt: undefined, activeRun: { id: 'run_1', reading: { pages: 12, known: 4000 } } },
    'Nenhuma conferência leu hoje por inteiro; a conferência em curso leu 12 de 4.000 páginas até agora',
    { kind: 'link', path: '/reconciliations/run_1' },
  ],
  [
    'a run that is active',
    'unknown',
    { readAt: undefined, activeRun: { id: 'run_1', reading: undefined } },
    'Nenhuma conferência leu hoje por inteiro',
    { kind: 'link', path: '/reconciliations/run_1' },
  ],
  [
    'a watch that has never gone round',
    'unknown',
    { watchedAt: undefined },
    'O vigia, que encontra o que parou, ainda não rodou',
    { kind: 'link', path: '/system' },
  ],
  [
    'a watch whose last round is older than ten minutes',
    'unknown',
    { watchedAt: new Date(minutesAgo(10).getTime() - 1) },
    'O vigia, que encontra o que parou, rodou pela última vez há 10 min',
    { kind: 'link', path: '/system' },
  ],
  [
    'an ended day that is not proven',
    'unknown',
    { unproven: { count: 3, oldest: '2026-10-05' } },
    '3 dias terminados sem prova desde 01/10/2026, o mais antigo 05/10/2026',
    { kind: 'run', from: '2026-10-05', to: '2026-11-22' },
  ],
  [
    'a platform without an opening',
    'unknown',
    { unopened: ['p1', 'p2'] },
    'Sem saldo inicial: p1, p2',
    { kind: 'link', path: '/balances/openings' },
  ],
  [
    'books without an entry',
    'unknown',
    { unopened: undefined },
    'Nada foi lançado ainda, e não há saldo inicial',
    { kind: 'link', path: '/balances/openings' },
  ],
];

test.each(REASONS)('%s: %s', (_name, state, facts, text, action) => {
  const verdict = decideVerdict({ ...GOOD, ...facts });
  expect(verdict.state).toBe(state);
  expect([...verdict.wrong, ...verdict.unknown]).toMatchObject([{ text, action }]);
});

test('what a person decided is counted in every state, and is no reason against a green verdict', () => {
  const decided = { count: 2, cents: 1_126_905n };
  for (const facts of [{}, { readAt: undefined }, { alertCount: 1 }]) {
    const verdict = decideVerdict({ ...GOOD, ...facts, decided });
    expect(verdict.decided).toMatchObject({
      text: '2 resolvidas por decisão, R$ 11.269,05 em jogo: a evidência continua a mesma',
      action: { path: '/mismatches?state=resolved&decided=true' },
    });
  }
  expect(decideVerdict({ ...GOOD, decided }).state).toBe('good');
});

test('the worst comes first: alerts by severity, money and age, then balances, mismatches, merchants and callbacks', () => {
  const { wrong, unknown, state } = decideVerdict({
    ...GOOD,
    alerts: [
      alert('medium', 'medium', { cents: 99_900n }),
      alert('critical', 'critical-new'),
      alert('critical', 'critical-old', { since: minutesAgo(50) }),
      alert('high', 'high'),
      alert('critical', 'critical-dear', { cents: 100n }),
      alert('medium', 'one too many'),
    ],
    alertCount: 7,
    statements: [
      { platform: 'small', differenceCents: 5n },
      { platform: 'big', differenceCents: -50n },
    ],
    openMismatches: { count: 2, cents: 0n, critical: 0, broken: 1, checkedAt: minutesAgo(10) },
    merchants: [merchant('me_failing', false), merchant('me_disabled', true)],
    failedCallbacks: { n: 1, isMore: false },
    readAt: undefined,
    unproven: { count: 1, oldest: '2026-11-21' },
    unopened: ['p'],
  });
  expect(state).toBe('wrong');
  const order = ['critical-dear', 'critical-old', 'critical-new', 'high', 'medium', 'mais 2 alertas', 'big', 'small'];
  const found = [...order, '2 divergências', 'me_disabled', 'me_failing', '1 callback falhou'];
  expect(wrong.map(({ text }) => found.find((one) => text.includes(one)))).toEqual(found);
  expect(unknown.map(({ text }) => text)).toEqual([
    'Nenhuma conferência leu hoje por inteiro',
    '1 dia terminado sem prova desde 01/10/2026, o mais antigo 21/11/2026',
    'Sem saldo inicial: p',
  ]);
});
