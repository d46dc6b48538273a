import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findFreePort } from '../../../demo/start-programs.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

test.each(['npm alone', 'the whole group'])(
  'npm start ends with exit 0 within 20 s of a SIGTERM to %s',
  async (target) => {
    using home = temporaryDirectory();
    const port = await findFreePort();
    const inherited = Object.fromEntries(['PATH', 'HOME', 'LANG', 'TMPDIR'].map((key) => [key, process.env[key]]));
    const npm: ChildProcess = spawn('npm', ['start'], {
      cwd: ROOT,
      env: {
        ...inherited,
        ENV_FILE: '',
        DATABASE_URL: urlOf(await createTestDatabase()),
        SECRET_KEY,
        DATA_DIR: path.join(home.path, 'data'),
        PORT: String(port),
        PROVIDER_URL: 'http://127.0.0.1:9',
        PROVIDER_API_KEY: 'k',
        JOBS: 'off',
      },
      stdio: 'ignore',
      detached: true,
    });
    const ended = new Promise<number | null>((resolve) => npm.once('exit', resolve));
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
    await eventually(answers);
    process.kill(target === 'npm alone' ? (npm.pid ?? 0) : -(npm.pid ?? 0), 'SIGTERM');
    // a shutdown that takes over 18 s exits 1
    expect(await ended).toBe(0);
    // npm waits for it: no serve is left behind as an orphan
    expect(await answers()).toBe(false);
  },
);
