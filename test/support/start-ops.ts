/** Prometheus and Alertmanager as processes, with the files of ops/. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../../demo/start-programs.ts';
import { eventually } from './eventually.ts';

export type Labels = Record<string, string> & { alertname: string };
export type ActiveAlert = { labels: Labels; status: { state: string; inhibitedBy: string[] } };

/** Reads a file of ops/. */
export const readSample = (file: string): string =>
  readFileSync(path.resolve(import.meta.dirname, '../../ops', file), 'utf8');

/** Starts an Alertmanager with a configuration. */
export async function startAlertmanager(home: string, config: string) {
  const files = { 'alertmanager.yml': config };
  const server = await startServer(home, 'prometheus-alertmanager', files, (directory) => [
    `--config.file=${directory}/alertmanager.yml`,
    `--storage.path=${directory}/data`,
    '--cluster.listen-address=',
  ]);
  const url = `${server.url}/api/v2/alerts`;
  return {
    ...server,
    /** @param endsAt the end of all; undefined: as an alert that is sent again and again. */
    async post(labels: Labels[], endsAt?: Date): Promise<void> {
      const startsAt = new Date(Date.now() - 60_000).toISOString();
      const alerts = labels.map((one) => ({ labels: one, startsAt, ...(endsAt && { endsAt: endsAt.toISOString() }) }));
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(alerts) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    /** @param filters as Alertmanager writes them: `job=confere`. */
    list: async (...filters: string[]): Promise<ActiveAlert[]> => {
      const query = new URLSearchParams(filters.map((filter): [string, string] => ['filter', filter]));
      return (await (await fetch(`${url}?${query.toString()}`)).json()) as ActiveAlert[];
    },
  };
}

/**
 * Starts a Prometheus with ops/prometheus.yml and ops/alerts.yml.
 * @param options.webs their addresses, as those of the workers. `adapt`: changes both files.
 */
export async function startPrometheus(
  home: string,
  options: { alertmanager: string; webs: string[]; workers: string[]; adapt?: (text: string) => string },
): Promise<AsyncDisposable & { url: string }> {
  const { alertmanager, webs, workers, adapt = (text) => text } = options;
  const targets = (urls: string[]): string => urls.map((url) => new URL(url).host).join(', ');
  const config = readSample('prometheus.yml')
    .replace('127.0.0.1:9093', new URL(alertmanager).host)
    .replace('web1:3000, web2:3000', targets(webs))
    .replace('worker1:3001, worker2:3001', targets(workers));
  const files = { 'prometheus.yml': adapt(config), 'alerts.yml': adapt(readSample('alerts.yml')) };
  return await startServer(home, 'prometheus', files, (directory) => [
    `--config.file=${directory}/prometheus.yml`,
    `--storage.tsdb.path=${directory}/data`,
  ]);
}

/** Starts a server with these files in a directory of its name, and waits until it is ready. @throws Error with its log. */
async function startServer(
  home: string,
  command: string,
  files: Record<string, string>,
  argsIn: (directory: string) => string[],
): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const directory = path.join(home, command);
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
  const address = `127.0.0.1:${await findFreePort()}`;
  const logFile = path.join(directory, 'log');
  const log = openSync(logFile, 'a');
  const args = [`--web.listen-address=${address}`, ...argsIn(directory)];
  const child = spawn(command, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  stack.defer(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually(`${command} is ready`, async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8'));
    return await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const owned = stack.move();
  return { url: `http://${address}`, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
