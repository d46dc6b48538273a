import type { Page } from 'playwright-core';
import { addDays } from '../src/domain/calendar.ts';
import { formatAmount, parseSignedAmount } from '../src/domain/money.ts';
import { reconcile } from './run-scenario.ts';
import type { Programs } from './start-programs.ts';

/** Days of the month before this one that have transactions. */
const DAYS = 12;
const PER_DAY = 12;
const RUN_MS_MAX = 120_000;
/** Midnight at the provider. */
const MIDNIGHT = '00:00:00-03:00';

/**
 * Closes the month before this one in the console, step by step as docs/accounting.pt-BR.md: states a balance, closes the month, and
 * adjusts it afterwards. The page is logged in.
 * @param shoot takes the picture of the open page.
 */
export async function shootMonth(
  { app, sandbox }: Programs,
  page: Page,
  shoot: (name: string) => Promise<void>,
): Promise<void> {
  const today = new Date().toISOString().slice(0, 10);
  const firstDay = `${today.slice(0, 7)}-01`;
  const lastDay = addDays(firstDay, -1);
  const days = DAYS + Number(today.slice(8));
  const story = { days, count: days * PER_DAY, announce: 0, cashouts: 0.1 };
  const { to } = await sandbox.call<{ to: string }>('POST', '/sandbox/stories', story);
  // a month closes once each of its days is read, also the empty ones
  const from = `${lastDay.slice(0, 7)}-01`;
  const run = await reconcile(app, { from, to }, AbortSignal.timeout(RUN_MS_MAX));
  if (run.state !== 'complete') throw new Error(`the run of ${from} to ${to} ended ${run.state}`);
  const platforms = await readPlatforms({ app, sandbox });
  for (const [index, platform] of platforms.entries())
    await app.call('PUT', '/platforms', {
      platform,
      name: ['Loja Centro', 'Loja Praia', 'Loja Norte'][index] ?? platform,
    });

  const press = async (button: string): Promise<void> => {
    await page.getByRole('button', { name: button }).click();
    await page.waitForLoadState();
  };
  const platform = platforms[0] ?? '';
  await page.goto(`${app.url}/balances/statements/new`);
  await page.getByLabel(/^Plataforma/).selectOption(platform);
  await page.getByLabel('Instante').fill(`${lastDay}T23:59:59`);
  await page.getByLabel('Saldo no painel').fill((await readBalance(app, platform, firstDay)).replace('.', ','));
  await press('Ver o que muda');
  await shoot('month-statement');
  await press('Confirmar');

  await page.goto(`${app.url}/reports/months/${lastDay.slice(0, 7)}/close`);
  await press('Ver o que muda');
  await shoot('month-close');
  await press('Confirmar');
  const note = 'tarifa mensal que chegou depois';
  await app.call('POST', '/adjustments', { platform, day: lastDay, kind: 'fee', amount: '-39.90', note });
  await page.goto(`${app.url}/reports/months/${lastDay.slice(0, 7)}`);
  await shoot('month-closed');
}

async function readPlatforms({ sandbox }: Pick<Programs, 'app' | 'sandbox'>): Promise<string[]> {
  return (await sandbox.call<{ traffic: { platforms: string[] } }>('GET', '/sandbox/switches')).traffic.platforms;
}

/** Reads the balance of the ledger at the provider before a day. */
async function readBalance(app: Programs['app'], platform: string, day: string): Promise<string> {
  const at = encodeURIComponent(`${day}T${MIDNIGHT}`);
  const { balances } = await app.call<{ balances: { account: string; amount: string }[] }>('GET', `/balances?at=${at}`);
  const held = balances.filter(
    ({ account }) => account.startsWith('Assets:Provider:') && account.endsWith(`:${platform}`),
  );
  return formatAmount(held.reduce((sum, { amount }) => sum + (parseSignedAmount(amount) ?? 0n), 0n));
}
