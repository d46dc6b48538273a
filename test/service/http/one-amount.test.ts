/** What is at stake in a mismatch, asked at every place that says it. */
import { beforeAll, expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { formatAmount, parseSum } from '../../../src/domain/money.ts';
import { MISMATCH_TITLES } from '../../../src/http/console/mismatches/explain-mismatch.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { refreshMismatchAlerts } from '../../../src/mismatches/alert-mismatches.ts';
import { readMismatchMetrics } from '../../../src/mismatches/read-mismatch-metrics.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { centsOf, lineOf, type ReadSheet, readWorkbook, rowsOf, sheetOf } from '../reports/read-workbook.ts';

const KIND = 'commission_differs';
const PAYMENTS = 7;
const AMOUNT = '409.70';

type Mismatch = {
  id: string;
  kind: string;
  at_stake: string | null;
  amount: string | null;
  transaction_id: string | null;
};
const env = closeAfterAll(await openConsoleEnvironment());
let sheets: ReadSheet[];
let open: Mismatch[];

beforeAll(async () => {
  const at = `${env.today} 00:00:00`;
  const shown = Array.from(
    { length: PAYMENTS },
    (_, index): ShownTransaction => ({
      ...{ id: `0f0e0d0c-0000-4000-8000-00000000000${index}`, operation: 'cashin', status: 'paid', amount: AMOUNT },
      ...{ commission: '1.00', date_created: at, events: [{ status: 'paid', date_created: at }] },
    }),
  );
  const { context } = env;
  const asked = new Date(context.clock.now().getTime() - 30_000);
  await applyObservations(
    context,
    shown.map((one) => observe(one, asked)),
  );
  await applyObservations(
    context,
    shown.map((one) => observe({ ...one, commission: '1.10' }, context.clock.now())),
  );
  const balance = { platform: env.paid.platform, at: `${addDays(env.today, -4)}T00:00:00-03:00`, balance: '12345.67' };
  expect((await call('POST', '/statements', balance)).status).toBe(201);
  await refreshMismatchAlerts(context);
  await makeReport(context, env.today);
  sheets = await readWorkbook((await openReport(context, { day: env.today, format: 'xlsx' })).file);
  open = await listOpen();
}, 60_000);

const call = <T>(method: string, address: string, body?: object) => env.api<T>('admin', method, address, body);

async function listOpen(query = ''): Promise<Mismatch[]> {
  const { json } = await call<{ mismatches: Mismatch[] }>('GET', `/mismatches?limit=200&state=open${query}`);
  return json.mismatches;
}

const cents = (amount: string | null): bigint => (amount === null ? 0n : (parseSum(amount) ?? 0n));
const atStake = (ones: Mismatch[]): bigint => ones.reduce((sum, one) => sum + cents(one.at_stake), 0n);
const spell = (sum: bigint): string =>
  `R$ ${formatAmount(sum)
    .replace('.', ',')
    .replace(/\B(?=(\d{3})+,)/g, '.')}`;

/** The cells of a table's rows, as texts: of the first table below a heading. */
function tableOf(html: string, heading: string): string[][] {
  const [, below = ''] = html.split(`<h2>${heading}</h2>`);
  const [, body = ''] = /<tbody[^>]*>(.*?)<\/tbody>/s.exec(below) ?? [];
  return body
    .split('<tr')
    .slice(1)
    .map((row) =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => (cell ?? '').replace(/<[^>]*>/g, '').trim()),
    );
}

const titleOf = (kind: string): string => (MISMATCH_TITLES as Record<string, string>)[kind] ?? kind;

/** The sums at stake by the title of their kind; without any, a dash. */
function sumsByTitle(): Record<string, string> {
  const byKind = Object.entries(Object.groupBy(open, ({ kind }) => kind));
  return Object.fromEntries(
    byKind.map(([kind, ones = []]) => [titleOf(kind), atStake(ones) === 0n ? '–' : spell(atStake(ones))]),
  );
}

test('the API has the difference of each commission as at_stake, and the amount of its payment as amount', async () => {
  const commissions = open.filter(({ kind }) => kind === KIND);
  expect(commissions).toHaveLength(PAYMENTS);
  for (const { id, transaction_id, ...one } of commissions) {
    expect(one).toMatchObject({ at_stake: '0.10', amount: AMOUNT });
    expect((await call('GET', `/mismatches/${id}`)).json).toMatchObject({ at_stake: '0.10', amount: AMOUNT });
    const of = (await call<{ mismatches: Mismatch[] }>('GET', `/transactions/${transaction_id}`)).json;
    expect(of.mismatches).toMatchObject([{ kind: KIND, at_stake: '0.10', amount: AMOUNT }]);
  }
  expect(open.filter(({ kind }) => kind === 'balance_differs')).toHaveLength(1);
  expect(open.filter(({ kind }) => kind === 'amount_differs')).toHaveLength(1);
});

test('the numbers, the metric and the alerts have the sums of the list, kind by kind', async () => {
  const { mismatches } = (await call('GET', '/numbers')).json as {
    mismatches: { kind: string; unresolved: number; at_stake: string }[];
  };
  const readings = await readMismatchMetrics(env.context);
  const metric = readings.find(({ name }) => name === 'confere_mismatches_stake_cents');
  const { alerts } = (await call('GET', '/alerts?state=firing&limit=200')).json as {
    alerts: { kind: string; at_stake: string | null }[];
  };
  const kinds = Object.entries(Object.groupBy(open, ({ kind }) => kind));
  expect(mismatches.map(({ kind }) => kind).sort()).toEqual(kinds.map(([kind]) => kind).sort());
  for (const [kind, ones = []] of kinds) {
    const sum = atStake(ones);
    const numbers = mismatches.filter((one) => one.kind === kind);
    expect([kind, numbers.reduce((all, one) => all + cents(one.at_stake), 0n)]).toEqual([kind, sum]);
    const values = typeof metric?.values === 'object' ? metric.values : [];
    expect([kind, values.find(({ labels }) => labels.kind === kind)?.value]).toEqual([kind, Number(sum)]);
    const alerted = alerts.filter((one) => one.kind === kind);
    expect([kind, alerted.reduce((all, one) => all + cents(one.at_stake), 0n)]).toEqual([kind, sum]);
  }
});

test('the first page, the causes and the forms have the same sums', async () => {
  const { get } = await openConsoleSession(env, 'operator');
  const overview = await get('/');
  const summary = tableOf(overview.html, 'Divergências em aberto').map(([title = '', , , stake = '']) => [
    title,
    stake,
  ]);
  const expected = sumsByTitle();
  for (const [title, stake] of summary) expect([title, stake]).toEqual([title, expected[title ?? '']]);
  expect(summary).toHaveLength(Object.keys(expected).length);
  expect(overview.text).toContain(`${open.length} divergências em aberto ao todo, ${spell(atStake(open))} em jogo`);

  const causes = tableOf((await get('/mismatches')).html, 'Por causa');
  for (const [title, stake] of Object.entries(expected)) {
    const own = causes.filter((row) => row[0] === title);
    const sum = own.reduce((all, row) => all + cents((row[5] ?? '').replace(/R\$ |\./g, '').replace(',', '.')), 0n);
    expect([title, stake === '–' ? own.map((row) => row[5]) : spell(sum)]).toEqual([
      title,
      stake === '–' ? ['–'] : stake,
    ]);
  }
  const form = await get(`/mismatches?kind=${KIND}`);
  expect(form.text).toContain(`Tratar das ${PAYMENTS} em aberto, R$ 0,70 em jogo`);
});

test('each row and page names what is at stake and the amount of the transaction', async () => {
  const { get } = await openConsoleSession(env, 'operator');
  const list = tableOf((await get(`/mismatches?kind=${KIND}`)).html.replace(/<h1>/, '<h2>list</h2>'), 'list');
  expect(list.map((row) => row.slice(6, 8))).toEqual(Array.from({ length: PAYMENTS }, () => ['R$ 0,10', 'R$ 409,70']));
  for (const one of open.filter(({ transaction_id }) => transaction_id !== null)) {
    const { text } = await get(`/mismatches/${one.id}`);
    expect(text).toContain(`Em jogo ${spell(cents(one.at_stake))}`);
    expect(text).toContain(`Valor da transação ${spell(cents(one.amount))}`);
  }
});

test('the sheet has both columns, its total and Resumo have the same sums', () => {
  const sheet = sheetOf(sheets, 'Divergências');
  const rows = rowsOf(sheet).filter((row) => row.Tipo?.value === 'Tarifa mudou');
  expect(rows.map((row) => [row['Em jogo']?.value, row['Valor em questão']?.value])).toEqual(
    Array.from({ length: PAYMENTS }, () => [0.1, 409.7]),
  );
  const column = sheet.rows[2]?.findIndex((cell) => cell?.value === 'Em jogo') ?? -1;
  const total = sheet.rows.findLast((row) => String(row[0]?.value ?? '').startsWith('Total'));
  expect(centsOf(total?.[column])).toBe(atStake(open));
  for (const [kind, ones = []] of Object.entries(Object.groupBy(open, ({ kind }) => kind))) {
    const [count, stake] = lineOf(sheetOf(sheets, 'Resumo'), titleOf(kind)) ?? [];
    expect([kind, count?.value, centsOf(stake)]).toEqual([kind, ones.length, atStake(ones)]);
  }
});

// the last one: it resolves them
test('a sheet of before keeps what was at stake then, and what a person decided counts with what is at stake', async () => {
  const { context } = env;
  const commissions = open.filter(({ kind }) => kind === KIND);
  const [changed] = commissions;
  const stored = await context.db
    .selectFrom('transactions')
    .selectAll()
    .where('id', '=', changed?.transaction_id ?? '')
    .executeTakeFirstOrThrow();
  const at = stored.created_wall;
  await applyObservations(context, [
    observe(
      {
        ...{ id: stored.id, operation: 'cashin', status: 'paid', amount: AMOUNT, commission: '1.25', date_created: at },
        events: [{ status: 'paid', date_created: at }],
      },
      context.clock.now(),
    ),
  ]);
  expect(atStake(await listOpen(`&kind=${KIND}`))).toBe(85n);
  const { file } = await openReport(context, { day: env.today, format: 'xlsx', locale: 'en', revision: 1 });
  const then = rowsOf(sheetOf(await readWorkbook(file), 'Mismatches')).filter(
    (row) => row.Kind?.value === 'Commission changed',
  );
  expect(then.map((row) => row['At stake']?.value)).toEqual(Array.from({ length: PAYMENTS }, () => 0.1));
  const ids = commissions.map(({ id }) => id);
  expect((await call('POST', '/mismatches/resolve', { ids, note: 'combinado' })).status).toBe(200);
  const { get } = await openConsoleSession(env, 'operator');
  expect((await get('/')).text).toContain(`${PAYMENTS} resolvidas por decisão, R$ 0,85 em jogo`);
});
