import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays } from '../../src/domain/calendar.ts';
import { webhookIdOf } from '../../src/domain/ids.ts';
import { adjustBooks } from '../../src/ledger/stated/adjust-books.ts';
import { stateContract } from '../../src/ledger/stated/commission-contracts.ts';
import { stateOpening } from '../../src/ledger/stated/state-opening.ts';
import { countWebhookDays } from '../../src/reconciliation/numbers/count-webhook-days.ts';
import { makeReport } from '../../src/reports/revisions/make-report.ts';
import { closeAfterAll } from '../support/close-after-all.ts';
import { expectOrders } from '../support/expect-orders.ts';
import { importBank } from '../support/import-bank.ts';
import { openConsoleEnvironment } from '../support/open-console-environment.ts';
import { listPages } from '../support/route-examples.ts';
import { closeBrowser, openBrowser } from './browser.ts';
import { findPortuguese, findPortugueseAt } from './find-portuguese.ts';

const PATIENCE_MS = 180_000;
/** Data of the test that is Portuguese itself. */
const DATA = [
  'Café & Cia <b>',
  'Livraria do Largo',
  'Três livros usados',
  'José Carlos Pereira',
  'Maria Aparecida da Silva',
  'Beatriz Nogueira de Albuquerque Cavalcanti',
];
const PAGES_MIN = 35;
const env = closeAfterAll(await openConsoleEnvironment());
let page: Page;
/** Items, by the addresses of their lists. */
let examples: Record<string, string>;

beforeAll(async () => {
  const { db } = env.context;
  const platform = env.paid.platform ?? '';
  const revised = addDays(env.today, -3);
  const fee = { kind: 'fee', amountCents: -123_456n, note: 'fee of November', platform, actor: 'test' } as const;
  await makeReport(env.context, revised);
  await adjustBooks(env.context, { ...fee, day: revised });
  await makeReport(env.context, revised);
  await makeReport(env.context, env.today);
  const opening = await stateOpening(env.context, {
    ...{ platform, day: env.today, actor: 'test', balanceCents: 500_000n },
  });
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
  const adjustment = await adjustBooks(env.context, { ...fee, day: env.today });
  await countWebhookDays(env.context);
  const mismatch = await db
    .selectFrom('mismatches')
    .select('id')
    .where('kind', '=', 'amount_differs')
    .executeTakeFirst();
  const webhook = await db.selectFrom('webhooks').select('hash').orderBy('seq').executeTakeFirst();
  const run = await db.selectFrom('runs').select('id').orderBy('seq').executeTakeFirst();
  const merchant = await db.selectFrom('merchants').select('id').orderBy('seq', 'desc').executeTakeFirst();
  const line = { day: env.today, amount: '-7.00', fitid: 'f1', memo: 'x' };
  await adjustBooks(env.context, { ...fee, kind: 'bank', amountCents: 700n, day: env.today });
  await importBank(env.context, { lines: [line] });
  const callback = await db.selectFrom('callbacks').select('seq').executeTakeFirst();
  const order = await expectOrders(env);
  examples = {
    ...{ '/expected': order, '/transactions': env.paid.id, '/mismatches': mismatch?.id ?? '' },
    ...{ '/inbox': webhookIdOf(webhook?.hash ?? Buffer.alloc(32)), '/reconciliations': run?.id ?? '' },
    ...{ '/callbacks': `cb_${callback?.seq}`, '/runbooks': 'status_differs', '/merchants': merchant?.id ?? '' },
    ...{ '/reports': `${revised}?from=1&to=2`, '/reports/months': env.today.slice(0, 7) },
    ...{ '/balances/adjustments': adjustment, '/balances/openings': opening, '/balances/fees': contract },
    ...{ '/balances/bank/lines': 'bl_1', '/balances/bank/accounts': '341%2F56789-0', '/balances/bank/matches': 'bm_1' },
  };
});
afterAll(async () => {
  await closeBrowser();
});

async function logInInEnglish(): Promise<void> {
  await page.goto(`${env.url}/login`);
  await page.getByLabel('Token').fill(env.tokens.admin);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

test(
  'a browser that prefers English gets every page in English, and no text of the source language',
  async () => {
    await using opened = await openBrowser(env.url, { locale: 'en-US' });
    page = opened.page;
    await page.goto(`${env.url}/login`);
    const found: Record<string, string[]> = { '/login': await findPortuguese(page, DATA) };
    await logInInEnglish();
    for (const { route, address } of listPages(examples, env.today)) {
      const shown = await findPortugueseAt(page, address, DATA);
      expect(shown.status, route).toBe(200);
      found[route] = shown.found;
    }
    for (const address of [
      '/transactions/nothing',
      '/alerts?kind=nonsense',
      '/nothing-of-ours',
      '/inbox?state=quarantined',
      `/transactions?q=R%24+1%2C234.56&status=paid&operation=cashin&platform=${env.paid.platform}&from=${env.today}&by=status`,
      `/transactions?q=${env.paid.id.slice(0, 8)}&as=id`,
      '/transactions?from=2026-02-30&operation=x&q=R%24+ten',
    ]) {
      found[address] = (await findPortugueseAt(page, address, DATA)).found;
    }
    expect(Object.keys(found).length).toBeGreaterThan(PAGES_MIN);
    expect(Object.entries(found).filter(([, texts]) => texts.length > 0)).toEqual([]);
  },
  PATIENCE_MS,
);

test('a form takes, refuses and previews an amount in the language of its page', async () => {
  await using opened = await openBrowser(env.url, { locale: 'en-GB' });
  page = opened.page;
  await logInInEnglish();
  await page.goto(`${env.url}/balances/adjustments/new`);
  await page.locator('[name=platform]').selectOption(env.paid.platform ?? '');
  await page.getByLabel('Day').fill(env.today);
  await page.locator('[name=kind]').selectOption('fee_out');
  await page.getByLabel('Why').fill('fee of November');
  for (const wrong of ['1.234', '1,234']) {
    await page.getByLabel('Amount, in R$').fill(wrong);
    await page.getByRole('button', { name: 'See what changes' }).click();
    await page.getByRole('alert').filter({ hasText: 'Write an amount as 1,234.56 or -1,234.56.' }).waitFor();
    expect(await findPortuguese(page, DATA)).toEqual([]);
  }
  await page.getByLabel('Amount, in R$').fill('1,234.56');
  await page.getByRole('button', { name: 'See what changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Enter an adjustment: check it' }).waitFor();
  expect(await page.getByRole('main').textContent()).toContain('R$ 1,234.56');
  expect(await findPortuguese(page, DATA)).toEqual([]);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('status').filter({ hasText: 'The adjustment is posted.' }).waitFor();
  expect(await findPortuguese(page, DATA)).toEqual([]);
});

test.each([true, false])('a language that a person chose stays, with scripts: %s', async (script) => {
  await using opened = await openBrowser(env.url, { script });
  page = opened.page;
  await page.goto(`${env.url}/runbooks/stuck`);
  await page.getByRole('heading', { level: 1, name: 'Parada' }).waitFor();
  await page.getByRole('button', { name: 'English' }).click();
  await page.getByRole('heading', { level: 1, name: 'Stuck' }).waitFor();
  await logInInEnglish();
  await page.getByRole('link', { name: 'Callbacks', exact: true }).click();
  await page.getByLabel('State').selectOption('failed');
  await page.locator('.filters').getByRole('button', { name: 'Search' }).click();
  await page.getByRole('button', { name: 'Português' }).click();
  await page.getByLabel('Estado').waitFor();
  expect(new URL(page.url()).searchParams.get('state')).toBe('failed');
  expect(await page.getByLabel('Estado').inputValue()).toBe('failed');
  await page.getByRole('link', { name: 'Divergências', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Divergências' }).waitFor();
  expect(opened.complaints).toEqual([]);
});
