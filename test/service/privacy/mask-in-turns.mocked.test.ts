import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';

/** Longer than a slice of a loop; a page of long texts takes as long a text. The clock is moved: none waits. */
const TEXT_MS = 11;
/** Texts of a row that are masked; where turns change their order, two rows follow each other. */
const TEXTS_A_TURN_MAX = 2 * 8;
const MERCHANTS = 20;

const turns = { now: 0, texts: new Map<number, number>() };

vi.mock(import('../../../src/domain/person/find-document-parts.ts'), async (original) => {
  const { holdsDocumentParts } = await original();
  return {
    holdsDocumentParts: (text) => {
      passedMs += TEXT_MS;
      turns.texts.set(turns.now, (turns.texts.get(turns.now) ?? 0) + 1);
      return holdsDocumentParts(text);
    },
  };
});

let passedMs = 0;
const now = performance.now.bind(performance);
vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);

const env = closeAfterAll(await openConsoleEnvironment());
let cookie = '';
let isOver = false;

function count(): void {
  turns.now++;
  if (!isOver) setImmediate(count);
}

beforeAll(async () => {
  for (let n = 0; n < MERCHANTS; n++)
    await createMerchant(env.context, { name: `Loja ${n}`, url: 'http://127.0.0.1:9/' });
  await makeReport(env.context, env.today);
  ({ cookie } = await openConsoleSession(env, 'viewer'));
  setImmediate(count);
});
afterAll(async () => {
  isOver = true;
  vi.restoreAllMocks();
});

test.each([
  '/api/v1/transactions?limit=20',
  '/transactions?limit=20',
  '/transactions/export?format=csv',
  '/api/v1/merchants',
  '/merchants',
  '/api/v1/reports/{day}.csv',
])("a viewer's %s masks a row in each turn, and others have theirs between", async (address) => {
  turns.texts.clear();
  const response = await fetch(`${env.url}${address.replace('{day}', env.today)}`, {
    headers: { authorization: `Bearer ${env.tokens.viewer}`, cookie },
  });
  expect(response.status).toBe(200);
  await response.text();
  const masked = [...turns.texts.values()].reduce((sum, one) => sum + one, 0);
  expect(masked).toBeGreaterThan(TEXTS_A_TURN_MAX);
  expect(Math.max(...turns.texts.values())).toBeLessThanOrEqual(TEXTS_A_TURN_MAX);
});
