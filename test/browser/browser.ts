import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
  type Browser as RunningBrowser,
} from 'playwright-core';
import { DEEP } from '../support/property.ts';

/** Chromium without its window: the same pages for two thirds of the time. */
export const CHROMIUM = '/usr/bin/chromium-headless-shell';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // one process draws all pages, also of other sites: no test is about what Chromium keeps apart
  '--disable-site-isolation-trials',
  '--renderer-process-limit=1',
  '--in-process-gpu',
  // each page runs axe-core: what V8 compiled for the one before serves it too
  '--js-flags=--no-flush-bytecode',
];

/** Rows of a table and days of a chart that are as the first ones: only the deep run examines them. */
const REPEATED = DEEP ? 'none' : 'tbody tr:nth-child(n+5), svg a:nth-of-type(n+5)';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Options of axe-core for groups of rules. */
const RULES = {
  all: { rules: { 'target-size': { enabled: true } } },
  colours: { runOnly: ['cat.color'] },
  layout: { runOnly: { type: 'rule', values: ['target-size', 'scrollable-region-focusable'] } },
} as const;

/** Rules of axe-core that Swagger UI 5 breaks within what it draws. What surrounds it is ours, and breaks none. */
export const SWAGGER_RULES: ReadonlySet<string | undefined> = new Set([
  ...['button-name', 'color-contrast', 'heading-order', 'label', 'label-content-name-mismatch', 'label-title-only'],
  ...['nested-interactive', 'region', 'scrollable-region-focusable', 'select-name', 'target-size'],
]);

export type Browser = AsyncDisposable & {
  browser: BrowserContext;
  page: Page;
  /** Problems that the browser reported: script errors, policy violations, failed requests, requests to other hosts. */
  complaints: string[];
};

let launched: Promise<RunningBrowser> | undefined;

/** One browser for all tests of a file: starting it takes ten times as long as opening a profile. */
function launch(): Promise<RunningBrowser> {
  launched ??= chromium.launch({ executablePath: CHROMIUM, headless: true, args: ARGS });
  return launched;
}

/** Closes the browser. Call it after the last test of a file. */
export async function closeBrowser(): Promise<void> {
  const running = await launched;
  launched = undefined;
  await running?.close();
}

/** Opens a new profile in a real browser. @param size the window; a phone's is 390 wide. */
export async function openBrowser(
  url: string,
  options: { size?: { width: number; height: number }; dark?: boolean; script?: boolean; locale?: string } = {},
): Promise<Browser> {
  const running = await launch();
  const browser = await running.newContext({
    viewport: options.size ?? { width: 1280, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script ?? true,
    locale: options.locale ?? 'pt-BR',
    acceptDownloads: true,
  });
  const complaints: string[] = [];
  const page = await browser.newPage();
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
    },
  };
}

/**
 * Logs in as the form would, without drawing it: two pages less for each test. `console.test.ts` and `portal.test.ts` fill
 * in the form.
 * @param opens the path to open next; by default the page stays as it is.
 */
export async function logIn(page: Page, url: string, token: string, opens?: string): Promise<void> {
  const form = { form: { token }, headers: { origin: url }, maxRedirects: 0 };
  const answer = await page.request.post(`${url}/login`, form);
  if (answer.status() !== 303) throw new Error(`the log-in was answered ${answer.status()}`);
  if (opens !== undefined) await page.goto(`${url}${opens}`);
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/**
 * The value of an expression in the open page, by the debugger itself: `page.evaluate` and locators first send each page 300 kB
 * of script, and `page.evaluate` compiles what it is given anew. @throws what the expression throws.
 */
export async function evaluate(page: Page, expression: string): Promise<unknown> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  const asked = { expression, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await (await session).send('Runtime.evaluate', asked);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

/**
 * Checks the page that is open with axe-core, also what is folded away. The script runs in the page by the debugger, which
 * its Content-Security-Policy does not forbid.
 * @param rules `all`: those for WCAG 2.2 A and AA, and best practices; `colours`: those alone that depend on the theme;
 * `layout`: those alone that depend on the window.
 * @returns a line for each violation: the page, the rule, how many elements, the first one, and what is wrong with it.
 */
export async function findViolations(page: Page, name: string, rules: keyof typeof RULES = 'all'): Promise<string[]> {
  if (!(await evaluate(page, "'axe' in window"))) await evaluate(page, `${AXE}; true`);
  const options = { resultTypes: ['violations'], ...RULES[rules] };
  const found = await evaluate(
    page,
    `(async () => {
      for (const one of document.querySelectorAll('details')) one.open = true;
      for (const one of document.querySelectorAll('${REPEATED}')) one.remove();
      const { violations } = await axe.run(document, ${JSON.stringify(options)});
      return violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].target.join(' '), nodes[0].failureSummary]);
    })()`,
  );
  return (found as unknown[][]).map((one) => [name, ...one].join(' | '));
}
