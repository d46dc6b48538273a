import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { addDays, type Day } from '../../src/domain/calendar.ts';
import { webhookIdOf } from '../../src/domain/ids.ts';
import { markBankLine } from '../../src/ledger/bank/mark-lines.ts';
import { adjustBooks } from '../../src/ledger/stated/adjust-books.ts';
import { stateContract } from '../../src/ledger/stated/commission-contracts.ts';
import { setPlatformName } from '../../src/ledger/stated/platform-names.ts';
import { stateOpening } from '../../src/ledger/stated/state-opening.ts';
import { issuePullToken } from '../../src/merchants/pull-token.ts';
import { countWebhookDays } from '../../src/reconciliation/numbers/count-webhook-days.ts';
import { makeReport } from '../../src/reports/revisions/make-report.ts';
import { closeAfterAll } from '../support/close-after-all.ts';
import { eventually } from '../support/eventually.ts';
import { expectOrders } from '../support/expect-orders.ts';
import { importBank as importStatement } from '../support/import-bank.ts';
import { openConsoleEnvironment } from '../support/open-console-environment.ts';
import { DEEP } from '../support/property.ts';
import { listPages } from '../support/route-examples.ts';
import { closeBrowser, evaluate, findViolations, logIn, openBrowser, SWAGGER_RULES } from './browser.ts';

/** SCREENSHOTS=1 writes a picture of each page here. */
const SHOTS = process.env.SCREENSHOTS ? '/tmp/confere-screenshots' : undefined;

/** Time for all pages in a browser on a busy machine; the deep run examines each in every theme. */
const PATIENCE_MS = DEEP ? 1_200_000 : 240_000;

/**
 * What a page is examined in: a phone in `npm test`. The structure of a page is the same in all: each has the rules that
 * depend on it. Pages whose names have the same first word are of one kind: axe-core examines the first of a kind, and all
 * in `npm run test:deep`.
 */
const DESKTOP = { width: 1280, height: 900 };
const THEMES = {
  phone: { size: { width: 360, height: 780 }, scheme: 'light', rules: 'layout' },
  dark: { size: DESKTOP, scheme: 'dark', rules: 'colours' },
  desktop: { size: DESKTOP, scheme: 'light', rules: 'all' },
} as const;

const FEE = { kind: 'fee', amountCents: -1_234_56n, note: 'tarifa', actor: 'test' } as const;

const env = closeAfterAll(await openConsoleEnvironment());
type Visited = [name: string, address: string, heading: string | RegExp, status?: number];
let addresses: Visited[];
let twoStepForms: string[];

beforeAll(async () => {
  const { db } = env.context;
  const platform = env.paid.platform ?? '';
  await setPlatformName(env.context, { platform, name: 'Loja do Centro, matriz e filiais', actor: 'admin' });
  await makeReport(env.context, env.today);
  await reviseDay(env.context, addDays(env.today, -3));
  const mismatch = await db
    .selectFrom('mismatches')
    .select('id')
    .where('kind', '=', 'amount_differs')
    .executeTakeFirst();
  const webhooks = await db.selectFrom('webhooks').select('hash').orderBy('seq').execute();
  const run = await db.selectFrom('runs').select('id').orderBy('seq').executeTakeFirst();
  const repeated = await db
    .selectFrom('mismatches')
    .select('id')
    .where('kind', '=', 'duplicate_reference')
    .executeTakeFirst();
  const contract = await stateContract(env.context, {
    ...{
      platform: null,
      operation: 'cashin',
      fixedCents: 10n,
      basisPoints: 50,
      from: env.today,
      to: null,
      actor: 'test',
    },
  });
  const adjustment = await adjustBooks(env.context, { ...FEE, platform, day: env.today });
  const opening = await stateOpening(env.context, { platform, day: env.today, actor: 'test', balanceCents: 500_000n });
  await importBank(env.context, platform, env.today);
  await addAttempts(env.context);
  await countWebhookDays(env.context);
  const merchant = await db.selectFrom('merchants').select(['seq', 'id']).orderBy('seq', 'desc').executeTakeFirst();
  await issuePullToken(env.context, merchant?.id ?? '');
  const callback = await db.selectFrom('callbacks').select('seq').executeTakeFirst();
  // the form that sends a merchant's callbacks again proposes yesterday
  const past = { state: 'delivered', created_at: new Date(`${addDays(env.today, -1)}T15:00:00Z`) };
  await db
    .updateTable('callbacks')
    .set({ ...past, merchant_seq: merchant?.seq ?? 0 })
    .where('seq', '=', callback?.seq ?? 0)
    .execute();
  const order = await expectOrders(env);
  const items = {
    ...{
      '/runbooks': 'status_differs',
      '/transactions': env.paid.id,
      '/expected': order,
      '/callbacks': `cb_${callback?.seq}`,
    },
    '/mismatches/assign': `/mismatches/assign?mismatch=${mismatch?.id}`,
    ...{ '/mismatches': mismatch?.id ?? '', '/inbox': webhookIdOf(webhooks[1]?.hash ?? Buffer.alloc(32)) },
    ...{
      '/reconciliations': run?.id ?? '',
      '/merchants': merchant?.id ?? '',
      '/reports/months': env.today.slice(0, 7),
    },
    ...{ '/balances/adjustments': adjustment, '/balances/openings': opening, '/balances/fees': contract },
    '/balances/bank/matches': 'bm_1',
    ...{ '/balances/bank/lines': 'bl_2', '/balances/bank/lines/:id/unmark': '/balances/bank/lines/bl_3/unmark' },
    '/balances/bank/accounts': '341%2F1234%2F56789-0',
    '/reports': `${addDays(env.today, -3)}?from=1&to=2`,
  };
  const pages = listPages(items, env.today);
  // the month that runs is not closed: http/console-months.test.ts previews that
  twoStepForms = pages.filter(({ name, form }) => form && !name.startsWith('month-')).map(({ name }) => name);
  addresses = [
    ...pages.map(({ name, address, heading }): Visited => [name, address, heading]),
    ['transactions-found', `/transactions?q=R%24+1.234%2C56&status=paid&platform=${env.paid.platform}`, 'Transações'],
    ['transactions-ambiguous', `/transactions?q=${env.paid.id.slice(0, 8)}`, 'Transações'],
    ['proof-wrong', '/transactions/proof?hour=4', 'Prova de um pagamento', 422],
    ['transaction-changed', `/transactions/${env.changed.id}`, /Entrada de/],
    ['runbooks-english', '/runbooks?lang=en', 'Runbooks'],
    ['runbook-accounting', '/runbooks/accounting?lang=pt-BR', 'Guia do contador'],
    ['charts-quarter', `/charts?from=${addDays(env.today, -91)}&to=${env.today}`, 'Gráficos'],
    ['charts-wrong', '/charts?from=2026-02-02&to=2026-02-01&platform=unknown', 'Gráficos', 422],
    ['charts-callbacks-day', `/charts/callbacks?from=${env.today}&to=${env.today}`, 'Gráficos'],
    ['mismatches-of-kind', '/mismatches?kind=amount_differs', 'Divergências'],
    ['mismatch-ids', `/mismatches/${repeated?.id}`, 'Referência repetida'],
    ['bank-lines-open', '/balances/bank/lines?state=open', 'Linhas do extrato'],
    ['quarantine', '/inbox?state=quarantined', 'Webhooks'],
    ['not-found', '/transactions/no-such', 'Não encontrado', 404],
    ['unknown-address', '/conciliacoes', 'Não encontrado', 404],
    ['wrong-filter', '/mismatches?kind=nonsense', 'Divergências', 422],
    ['wrong-request', '/transactions?cursor=nonsense', 'Requisição inválida', 422],
  ];
});
afterAll(async () => {
  await closeBrowser();
});

test(
  'every page opens, fits the window, is accessible, and gives the browser nothing to complain of',
  async () => {
    await using opened = await openBrowser(env.url, { size: THEMES.phone.size });
    const { page } = opened;
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(`${env.url}/login`);
    const violations = await examine(page, 'login');
    await logIn(page, env.url, env.tokens.admin);
    const previewed: string[] = [];
    for (const [name, address, heading, status = 200] of addresses) {
      const answer = await page.goto(`${env.url}${address}`);
      expect(answer?.status(), name).toBe(status);
      const shown = (await evaluate(page, READ_PAGE)) as { headings: string[]; buttons: string[] };
      expect(shown.headings, name).toEqual([
        typeof heading === 'string' ? expect.stringContaining(heading) : expect.stringMatching(heading),
      ]);
      violations.push(...(await examine(page, name)));
      const next = page.getByRole('button', { name: 'Ver o que muda' });
      if (!shown.buttons.includes('Ver o que muda') || name.startsWith('month-')) continue;
      await fillIn(page);
      await next.click();
      await page.waitForLoadState();
      expect(await page.getByRole('main').getByRole('alert').allTextContents(), name).toEqual([]);
      await page.getByRole('heading', { level: 1, name: /: confira$/ }).waitFor();
      violations.push(...(await examine(page, `${name}-preview`)));
      previewed.push(name);
      if (name !== 'merchant-secret') continue;
      await page.getByRole('button', { name: 'Confirmar' }).click();
      await page.getByText('guarde este segredo agora').waitFor();
      violations.push(...(await examine(page, `${name}-shown`)));
    }
    expect(violations).toEqual([]);
    expect(previewed.sort()).toEqual(twoStepForms.sort());
    expect(opened.complaints.filter((text) => !/status of (?:404|422)/.test(text))).toEqual([]);
  },
  PATIENCE_MS,
);

/** The headings of the first level and the buttons that are seen, by their texts. A page is drawn whole when it is loaded. */
const READ_PAGE = `(() => {
  const textsOf = (selector) =>
    [...document.querySelectorAll(selector)]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }))
      .map((one) => one.textContent.replace(/\\s+/g, ' ').trim());
  return { headings: textsOf('h1'), buttons: textsOf('button') };
})()`;

const examined = new Set<string>();

/**
 * Examines the open page: its width on a phone, where it is tightest, and the first page of a kind with axe-core.
 * `npm run test:deep` does both in every theme, for each page. @returns what is not accessible.
 */
async function examine(page: Page, name: string): Promise<string[]> {
  const kind = name.replace(/-.*?(-preview)?$/, '$1');
  const isFirst = !examined.has(kind);
  examined.add(kind);
  const isPictured = DEEP || SHOTS !== undefined;
  const themes = Object.entries(THEMES).filter(([theme]) => isPictured || theme === 'phone');
  const show = async ({ size, scheme }: (typeof THEMES)[keyof typeof THEMES]) => {
    if (!isPictured) return;
    await page.setViewportSize(size);
    // no transition between the colours
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  };
  for (const [theme, how] of themes) {
    await show(how);
    const wider = await evaluate(page, 'document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(wider, `${name} is wider than the window in ${theme}`).toBe(0);
    await shoot(page, theme, name);
  }
  const found: string[] = [];
  if (!DEEP && !isFirst) return found;
  // after all widths, because axe-core unfolds what is folded; the last first, whose window is open
  for (const [theme, how] of themes.toReversed()) {
    await show(how);
    found.push(...(await findViolations(page, `${name} in ${theme}`, DEEP ? how.rules : 'all')));
  }
  return found;
}

/** Types into the empty fields of a form, by their names. */
async function fillIn(page: Page): Promise<void> {
  const typed: Record<string, string> = {
    ...{
      at: `${addDays(env.today, -1)}T12:00:00`,
      day: env.today,
      balance: '1.234,56',
      balance_day: env.today,
      amount: '-1.234,56',
    },
    ...{ note: 'tarifa', name: 'Padaria', url: 'http://127.0.0.1:9/new', number: 'pedido-9', due_day: env.today },
    transaction_id: env.changed.id,
    // nobody owes less than nothing
    ...(/\/(?:expected|adjustments)\/new$/.test(page.url()) ? { amount: '19,90' } : {}),
    ...(page.url().endsWith('/fees/new') ? { fixed: '0,50', percent: '1,00', from: env.today } : {}),
  };
  // the other one has an opening
  const chosen: Record<string, string> = {
    platform: 'a3bb189e-8bf9-4888-9912-ace4e6543002',
    kind: 'fee_out',
    owner: 'none',
  };
  const candidates = page.locator('select[name="entry"] option');
  if ((await candidates.count()) > 1) chosen.entry = (await candidates.nth(1).getAttribute('value')) ?? '';
  for (const field of await page.getByRole('main').locator('input[name], select[name], textarea[name]').all()) {
    const name = (await field.getAttribute('name')) ?? '';
    if ((await field.inputValue()) !== '') continue;
    if (chosen[name] !== undefined) await field.selectOption(chosen[name]);
    if (typed[name] !== undefined) await field.fill(typed[name]);
  }
}

test('a day of a chart leads to its report by keyboard, and a link jumps over all days', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer);
  await page.goto(`${env.url}/charts`);
  const skip = page.getByRole('link', { name: 'Pular o gráfico' }).first();
  await skip.focus();
  expect(await skip.boundingBox()).toMatchObject({ x: expect.toSatisfy((x: number) => x > 0) });
  await page.keyboard.press('Tab');
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/: Recebimentos /);
  await skip.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toContain(
    'Ver os números: Recebimentos e pagamentos',
  );
  await page.locator('.wide').first().getByRole('link').last().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${env.url}/reports/${env.today}`);
});

test.runIf(DEEP)(
  'the page of the API fits a phone and violates no policy, also with a dialog open and after a request',
  async () => {
    await using opened = await openBrowser(env.url, { size: { width: 360, height: 780 } });
    const { page } = opened;
    await logIn(page, env.url, env.tokens.admin);
    await page.goto(`${env.url}/openapi`);
    await page.getByText('/api/v1/jobs', { exact: true }).click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.getByText('Server response').waitFor();
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.getByRole('heading', { name: 'Available authorizations' }).waitFor();
    const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(wider).toBe(0);
    const broken = (await findViolations(page, 'API')).filter((line) => !SWAGGER_RULES.has(line.split(' | ')[1]));
    expect(broken).toEqual([]);
    expect(opened.complaints.filter((text) => !/status of 401/.test(text))).toEqual([]);
  },
);

test('a page that is not accessible is found out, in every theme', async () => {
  await using opened = await openBrowser(env.url, { dark: true });
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer, '/');
  await page.evaluate(
    "document.querySelector('h1, h2').style.color = '#444'; document.querySelector('main').append(document.createElement('select'))",
  );
  const rulesOf = async (rules: 'all' | 'colours') =>
    (await findViolations(page, 'overview', rules)).map((line) => line.split(' | ')[1] ?? '').sort();
  expect(await rulesOf('all')).toEqual(['color-contrast', 'select-name']);
  expect(await rulesOf('colours')).toEqual(['color-contrast']);
});

test('no amount, field or table leaves its place in windows of 1024, 820 and 360 px', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.operator);
  const day = addDays(env.today, -3);
  for (const address of [
    '/',
    '/transactions',
    '/charts',
    '/reconciliations',
    '/callbacks',
    '/merchants',
    '/reports',
    `/reports/${day}`,
  ]) {
    await page.goto(`${env.url}${address}`);
    for (const width of [1024, 820, 360]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(FIND_OUTSIDE), `${address} in ${width} px`).toEqual([]);
    }
    expect(await page.evaluate(WIDEN), address).toBe(0);
  }
});

/** Gives each card the largest amount, and returns what is wider than its parent, or cut off. */
const FIND_OUTSIDE = `(() => {
  for (const one of document.querySelectorAll('.big .money')) one.textContent = 'R$ 9.123.456.789,10';
  const right = (element) => element.getBoundingClientRect().right - 1;
  const outside = [...document.querySelectorAll('.big .money, label > *')].filter((one) => right(one) > right(one.closest('.figure, label')) );
  const cut = [...document.querySelectorAll('.sheet')].filter((one) => one.scrollWidth > one.clientWidth + 1);
  return [...outside, ...cut].map((one) => one.outerHTML.slice(0, 80));
})()`;

/** Gives the page the longest name, of a merchant, and the largest amounts. @returns how much wider than the window it is. */
const WIDEN = `(() => {
  for (const one of document.querySelectorAll('h1, .role, [role="table"] td:not(.end) a')) one.textContent = 'x'.repeat(200);
  for (const one of document.querySelectorAll('td.end .money')) one.textContent = '-R$ 9.123.456.789,10';
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
})()`;

test('a missing item and an invalid filter are answered with pages', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer);
  for (const [address, status, heading] of [
    ['/transactions/no-such', 404, 'Não encontrado'],
    ['/inbox/wh_00000000000000000000000000000000', 404, 'Não encontrado'],
    ['/reports/2026-13-40-r1.xlsx', 404, 'Não encontrado'],
    ['/callbacks/cb_999999', 404, 'Não encontrado'],
    ['/mismatches?kind=nonsense', 422, 'Divergências'],
    ['/transactions?cursor=nonsense', 422, 'Requisição inválida'],
    ['/transactions?from=2026-02-30', 422, 'Transações'],
    ['/transactions/%E0%A4%A', 400, 'Requisição inválida'],
  ] as const) {
    const answer = await page.goto(`${env.url}${address}`);
    expect(answer?.status(), address).toBe(status);
    expect(answer?.headers()['content-type'], address).toContain('text/html');
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  }
});

test('an unknown address is a page in a browser, and a problem for a program', async () => {
  await using opened = await openBrowser(env.url);
  const answer = await opened.page.goto(`${env.url}/conciliacoes`);
  expect(answer?.status()).toBe(404);
  await opened.page.getByRole('heading', { level: 1, name: 'Não encontrado' }).waitFor();
  expect(opened.complaints.filter((text) => !text.includes('404'))).toEqual([]);
  for (const accept of ['*/*', 'application/json']) {
    const problem = await fetch(`${env.url}/conciliacoes`, { headers: { accept } });
    expect(problem.status).toBe(404);
    expect(problem.headers.get('content-type')).toContain('application/problem+json');
    expect(await problem.json()).toMatchObject({ status: 404, detail: 'there is nothing at this address' });
  }
});

test.each([1280, 390])('the first Tab reaches the link to the content in a window of %i px', async (width) => {
  await using opened = await openBrowser(env.url, { size: { width, height: 844 } });
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer);
  await page.goto(`${env.url}/callbacks`);
  const current = page.locator('nav [aria-current]');
  await page.waitForFunction('document.readyState === "complete"');
  await eventually('the entry of the page is in sight', async () => {
    const box = await current.boundingBox();
    return box !== null && box.x < width - 60;
  });
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Ir para o conteúdo');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('conteudo');
});

/** A day of attempts, some of which fail: what the charts of a merchant's page draw. */
async function addAttempts({ db, clock }: Context): Promise<void> {
  const callbacks = await db.selectFrom('callbacks').select('seq').orderBy('seq').limit(60).execute();
  const nowMs = clock.now().getTime();
  const rows = callbacks.map(({ seq }, index) => ({
    ...{ callback_seq: seq, number: 1, started_at: new Date(nowMs - (index * 24 * 3_600_000) / 60) },
    ...(index % 7 === 0 ? { response_status: 503, error_class: 'http_status' } : { response_status: 200 }),
    ...{ duration_ms: 20 + ((index * 37) % 180), request_headers: '{"content-type":"application/json"}' },
  }));
  await db.insertInto('callback_attempts').values(rows).execute();
}

/** Imports a statement of three lines: one matches an adjustment, one has two candidates, one is nothing of PIX. */
async function importBank(context: Context, platform: string, day: Day): Promise<void> {
  const memo = 'TED RECEBIDA 341 1234 56789-0 MERCADO E PADARIA DO LARGO DA MATRIZ LTDA';
  const lines = [1_000, 250, -9].map((amount, index) => ({ day, amount: `${amount}.00`, fitid: `f${index}`, memo }));
  for (const amountCents of [-100_000n, -25_000n, -25_000n])
    await adjustBooks(context, { ...FEE, kind: 'bank', platform, day, amountCents });
  await importStatement(context, { branch: '1234', lines, balance: { amount: '9876543.21', day } });
  await markBankLine(context, 'bl_3', { actor: 'test', note: 'tarifa' });
}

/** Makes two revisions of a day: the second has an adjustment. */
async function reviseDay(context: Context, day: Day): Promise<void> {
  await makeReport(context, day);
  const platform = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
  await adjustBooks(context, { ...FEE, platform, day, amountCents: -1_234_567_89n });
  await makeReport(context, day);
}

async function shoot(page: Page, theme: string, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SHOTS, `${theme}-${name}.png`), fullPage: true });
}
