import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../../demo/start-programs.ts';
import { eventually } from './eventually.ts';
import { temporaryDirectory } from './start-serve.ts';

export type Labels = Record<string, string> & { alertname: string };
export type ActiveAlert = { labels: Labels; status: { state: string; inhibitedBy: string[] } };

/** Starts a real Alertmanager with a configuration. */
export async function startAlertmanager(config: string) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryDirectory());
  const [file, log] = ['alertmanager.yml', 'log'].map((name) => path.join(home.path, name)) as [string, string];
  writeFileSync(file, config);
  const port = await findFreePort();
  const address = `127.0.0.1:${port}`;
  const output = openSync(log, 'a');
  const child = spawn(
    'prometheus-alertmanager',
    [
      `--web.listen-address=${address}`,
      `--config.file=${file}`,
      `--storage.path=${home.path}/data`,
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', output, output] },
  );
  closeSync(output);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  stack.defer(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually('Alertmanager is ready', async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
    return await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const owned = stack.move();
  const url = `http://${address}/api/v2/alerts`;
  return {
    /** @param endsAt the end of all; undefined: as an alert that is sent again and again. */
    async post(labels: Labels[], endsAt?: Date): Promise<void> {
      const startsAt = new Date(Date.now() - 60_000).toISOString();
      const alerts = labels.map((one) => ({ labels: one, startsAt, ...(endsAt && { endsAt: endsAt.toISOString() }) }));
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(alerts) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    list: async () => (await (await fetch(url)).json()) as ActiveAlert[],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
