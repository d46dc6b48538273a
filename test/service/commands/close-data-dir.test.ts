import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { joinServer } from '../../../embedded/join-server.ts';
import { restrictDataDir } from '../../../src/commands/serve/restrict-data-dir.ts';
import { createLog } from '../../../src/log.ts';
import { eventually } from '../../support/eventually.ts';
import { runCommand } from '../../support/run-command.ts';
import { API_KEY, startServe, temporaryDirectory } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

/** Files that group or others may read, write or enter. */
function listOpen(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const facts = lstatSync(path.join(directory, name));
    return !facts.isSymbolicLink() && (facts.mode & 0o077) !== 0;
  });
}

test('no file under DATA_DIR is open to group or others, files of earlier versions included', async () => {
  using home = temporaryDirectory();
  await using provider = await new TestProvider(API_KEY).listen();
  const data = path.join(home.path, 'data');
  mkdirSync(path.join(data, 'reports'), { recursive: true });
  for (const directory of [data, path.join(data, 'reports')]) chmodSync(directory, 0o755);
  writeFileSync(path.join(data, 'reports', 'confere-2020-01-01-r1.csv'), 'from before', { mode: 0o644 });
  chmodSync(path.join(data, 'reports', 'confere-2020-01-01-r1.csv'), 0o644);
  {
    await using served = await startServe({
      home: home.path,
      providerUrl: provider.url,
      env: { ADMIN_TOKEN: '', WEBHOOK_SECRET: 'whk_0123456789abcdef' },
    });
    expect((await served.webhook({ transaction_id: 'x' })).status).toBeLessThan(500);
    const env = { DATA_DIR: data, PROVIDER_URL: provider.url, PROVIDER_API_KEY: API_KEY };
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const exported = await runCommand(['export', '--day', day, '--out', path.join(data, 'out.xlsx')], env);
    expect(exported).toMatchObject({ code: 0 });
    const kinds = [/^admin-token$/, /^secret\.key$/, /^mariadb\/data\/ibdata1$/, /^reports\/.*\.xlsx$/, /^spool/];
    await eventually('one of each', async () => {
      const names = readdirSync(data, { recursive: true, encoding: 'utf8' });
      return kinds.every((kind) => names.some((name) => kind.test(name)));
    });
    expect(listOpen(data)).toEqual([]);
    // log collectors store the output: it has the path of the token, not the token
    const printed = readFileSync(served.program.logFile, 'utf8');
    expect(printed).toContain(path.join(data, 'admin-token'));
    expect(printed).not.toContain(readFileSync(path.join(data, 'admin-token'), 'utf8').trim());
  }
  expect(lstatSync(data).mode & 0o077).toBe(0);
});

test('a link in DATA_DIR and its target keep their modes', () => {
  using home = temporaryDirectory();
  const [data, elsewhere] = [path.join(home.path, 'data'), path.join(home.path, 'elsewhere')];
  for (const directory of [data, elsewhere]) mkdirSync(directory);
  writeFileSync(path.join(elsewhere, 'file'), '');
  for (const name of [elsewhere, path.join(elsewhere, 'file')]) chmodSync(name, 0o755);
  symlinkSync(elsewhere, path.join(data, 'link'));
  restrictDataDir(data, createLog('silent', process.stderr));
  expect([elsewhere, path.join(elsewhere, 'file')].map((name) => lstatSync(name).mode & 0o777)).toEqual([0o755, 0o755]);
});

test('files of others in DATA_DIR keep their modes', () => {
  using home = temporaryDirectory();
  const data = path.join(home.path, 'data');
  mkdirSync(path.join(data, 'reports'), { recursive: true });
  mkdirSync(path.join(data, 'website'));
  for (const name of ['reports', 'website', '.']) chmodSync(path.join(data, name), 0o755);
  restrictDataDir(data, createLog('silent', process.stderr));
  const modes = ['reports', 'website', '.'].map((name) => lstatSync(path.join(data, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o755, 0o755]);
});

test('a run directory that is a link is refused, also one to a directory of our own', async () => {
  using home = temporaryDirectory();
  const own = path.join(home.path, 'own');
  mkdirSync(own, { mode: 0o700 });
  symlinkSync(own, path.join(home.path, `confere-${process.getuid?.() ?? 0}`));
  const before = process.env.XDG_RUNTIME_DIR;
  process.env.XDG_RUNTIME_DIR = home.path;
  try {
    const joined = joinServer({ dataDir: path.join(home.path, 'data'), log: () => undefined });
    await expect(joined).rejects.toThrow(/not a symlink: move it away/);
  } finally {
    if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
    else process.env.XDG_RUNTIME_DIR = before;
  }
});
