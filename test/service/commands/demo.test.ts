import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { INHERITED_VARIABLES } from '../../support/run-command.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TRANSACTIONS = 300;

/** The headings and the checks of a summary, up to their figures. */
function listSteps(summary: string): string[] {
  const lines = summary.split('\n').filter((line) => /^(?:\d\.| {2}✓) /.test(line));
  return lines.map((line) => line.replaceAll(/\d[\d.-]*/g, '#').split(':')[0] ?? '');
}

test('npm run demo -- --once starts the whole on two embedded databases, agrees in each line of its summary, and exits 0', async () => {
  using home = temporaryDirectory();
  const inherited = Object.fromEntries(INHERITED_VARIABLES.map((name) => [name, process.env[name]]));
  // its set-up is that of this run
  const args = ['run', 'demo', '--silent', '--ignore-scripts', '--', '--once', '--transactions', String(TRANSACTIONS)];
  const env = { ...inherited, DATA_DIR: home.path };
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, env });
  expect(stdout).toContain(`made ${TRANSACTIONS} transactions`);
  const checks = stdout.split('\n').filter((line) => /^ {2}[✓✗]/.test(line));
  expect(checks.filter((line) => line.includes('✗'))).toEqual([]);
  for (const says of [
    /every webhook was taken in/,
    new RegExp(`run complete: ${TRANSACTIONS} transactions in [0-9]+ pages, proven complete`),
    new RegExp(`the ledger equals the provider's list: ${TRANSACTIONS} transactions, field by field`),
    /a second run applies 0/,
    // one in a hundred webhooks is forged: by the hour of the run none may be
    /([0-9]+) forged webhooks, \1 contradictions/,
    /[1-9][0-9]* callbacks for [1-9][0-9]* changes/,
    /in order for each transaction/,
    /300 orders, each as planted: [0-9]+ cancelled, [0-9]+ paid, [0-9]+ paid_after_cancel, [0-9]+ paid_twice, .*[0-9]+ underpaid, [0-9]+ unpaid; [1-9]/,
    /Saldo final: R\$ ([1-9][0-9]+\.[0-9]{2}); the sandbox's books: R\$ \1/,
  ]) {
    expect(
      checks.filter((line) => says.test(line)),
      String(says),
    ).toHaveLength(1);
  }
  expect(stdout).toContain('Everything agrees.');
  const shown = readFileSync(path.join(ROOT, 'README.md'), 'utf8').split('demo --silent -- --once\n')[1] ?? '';
  expect(listSteps(shown.split('```')[0] ?? ''), 'the README shows these steps').toEqual(listSteps(stdout));
  expect(stdout).toMatch(/The books of the 3 platforms open on [0-9-]{10} with R\$ 25000\.00 each\./);
  const [, workbook = ''] = /^ {3}(\/.*\.xlsx)$/m.exec(stdout) ?? [];
  expect(workbook.startsWith(path.join(home.path, 'demo-once'))).toBe(true);
  expect(existsSync(workbook)).toBe(true);
}, 120_000);

test('Ctrl-C twice ends the demo and all that it started', async () => {
  using home = temporaryDirectory();
  const inherited = Object.fromEntries(INHERITED_VARIABLES.map((name) => [name, process.env[name]]));
  const demo = spawn(path.join(ROOT, 'bin/confere'), ['demo'], {
    env: { ...inherited, DATA_DIR: home.path },
    stdio: 'ignore',
  });
  const ended = once(demo, 'exit');
  const log = path.join(home.path, 'demo/sandbox.log');
  const sandbox = await eventually(() => {
    const [url] = (existsSync(log) && /http:\/\/127\.0\.0\.1:\d+/.exec(readFileSync(log, 'utf8'))) || [];
    return url;
  });
  const answers = () =>
    fetch(`${sandbox}/sandbox/healthz`).then(
      (answer) => answer.ok,
      () => false,
    );
  await eventually(answers);
  using presses = new DisposableStack();
  const pressing = setInterval(() => demo.kill('SIGINT'), 50);
  presses.defer(() => clearInterval(pressing));
  // by its own exit, or by a signal that came while Node was exiting
  await ended;
  expect(await answers()).toBe(false);
});
