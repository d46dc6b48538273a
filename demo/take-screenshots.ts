/**
 * Takes the pictures of README and docs: of a demo, the console's first page, yesterday's orders, and the sheet Resumo and its charts as
 * LibreOffice prints them; and of the closing of a month. They change with the day; take them again when a page changes. Run it by `npm run screenshots`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Page } from 'playwright-core';
import { runScenario } from './run-scenario.ts';
import { shootMonth } from './shoot-month.ts';
import { startDemoMerchant } from './start-demo-merchant.ts';
import { type Programs, startPrograms } from './start-programs.ts';

const IMAGES = path.resolve(import.meta.dirname, '../docs/images');
const BYTES_MAX = 200_000;
const WINDOW = { width: 1280, height: 860 };
/** The printed sheet without its margins, at this resolution. */
const DPI = 80;
const SHEET = ['-x', '40', '-y', '30', '-W', '855', '-H', '515'];
/** The pictures of Resumo, by printed page. */
const PAGES = { 1: 'resumo', 2: 'resumo-charts' };
/** LibreOffice writes numbers as its own locale does. */
const OFFICE_SETTINGS = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>pt-BR</value></prop></item></oor:items>`;
/** Live traffic for two runs of today, so that the page has something to show. */
const LIVE_MS = 130_000;

const home = mkdtempSync(path.join(tmpdir(), 'confere-screenshots-'));
try {
  await takeScreenshots();
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function takeScreenshots(): Promise<void> {
  await shootGuide();
  const { signal } = new AbortController();
  await using merchant = await startDemoMerchant();
  await using programs = await startPrograms({ home, seed: '20261', rate: '2/s', signal });
  const options = { home, transactions: 1200, live: true, signal };
  if (!(await runScenario(programs, merchant, options)))
    throw new Error('the demo does not agree: see the lines with ✗');
  shootSummary();
  await sleep(LIVE_MS);
  await withConsole(programs.app, async (page, shoot) => {
    await shoot('console');
    await page.locator('a[href*="state=unpaid"]').first().click();
    await page.getByRole('table', { name: 'Totais por estado' }).waitFor();
    await shoot('orders');
  });
  for (const name of readdirSync(IMAGES)) {
    const { size } = statSync(path.join(IMAGES, name));
    if (size > BYTES_MAX) throw new Error(`${name} has ${size} bytes, more than ${BYTES_MAX}`);
    process.stdout.write(`docs/images/${name}: ${Math.round(size / 1000)} KB\n`);
  }
}

/** The pictures of the guide for accountants, from programs of its own. */
async function shootGuide(): Promise<void> {
  const { signal } = new AbortController();
  const options = { home: path.join(home, 'guide'), seed: '20261', rate: undefined, signal };
  await using programs = await startPrograms(options);
  await withConsole(programs.app, (page, shoot) => shootMonth(programs, page, shoot));
}

/** Opens the console in a browser, logged in as an admin. */
async function withConsole(
  { url, token }: Programs['app'],
  use: (page: Page, shoot: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: WINDOW, locale: 'pt-BR', colorScheme: 'light' });
    await page.goto(`${url}/login`);
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Entrar' }).click();
    await page.getByRole('navigation', { name: 'Principal' }).waitFor();
    await use(page, async (name) => void (await page.screenshot({ path: path.join(IMAGES, `${name}.png`) })));
  } finally {
    await browser.close();
  }
}

/** The first pages of the workbook that the demo wrote. */
function shootSummary(): void {
  const workbook = readdirSync(home).find((name) => name.endsWith('.xlsx'));
  if (workbook === undefined) throw new Error('the demo wrote no workbook');
  const run = (command: string, args: string[]) => execFileSync(command, args, { cwd: home, stdio: 'ignore' });
  mkdirSync(path.join(home, 'office/user'), { recursive: true });
  writeFileSync(path.join(home, 'office/user/registrymodifications.xcu'), OFFICE_SETTINGS);
  run('soffice', [`-env:UserInstallation=file://${home}/office`, '--headless', '--convert-to', 'pdf', workbook]);
  const pdf = workbook.replace(/xlsx$/, 'pdf');
  for (const [page, name] of Object.entries(PAGES)) {
    const shown = ['-f', page, '-l', page, '-singlefile', '-r', String(DPI), ...SHEET];
    run('pdftoppm', [...shown, '-png', pdf, path.join(IMAGES, name)]);
  }
}
