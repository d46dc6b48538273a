import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export type Browser = AsyncDisposable & {
  browser: BrowserContext;
  page: Page;
  /** What the browser complained of: script errors, policy violations, requests that failed or went elsewhere. */
  complaints: string[];
};

/** A real browser with a profile of its own. @param size the window; a phone's is 390 wide. */
export async function openBrowser(
  url: string,
  options: { size?: { width: number; height: number }; dark?: boolean; script?: boolean } = {},
): Promise<Browser> {
  const profile = mkdtempSync(path.join(tmpdir(), 'confere-chromium-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium',
    headless: true,
    args: ARGS,
    viewport: options.size ?? { width: 1280, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script ?? true,
    locale: 'pt-BR',
    acceptDownloads: true,
  });
  const complaints: string[] = [];
  const page = browser.pages()[0] ?? (await browser.newPage());
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) complaints.push(`went elsewhere: ${request.url()}`);
  });
  return {
    browser,
    page,
    complaints,
    async [Symbol.asyncDispose]() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Logs in by the form, as a person does. */
export async function logIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/login`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Entrar' }).click();
  await page.getByRole('navigation', { name: 'Principal' }).waitFor();
}
