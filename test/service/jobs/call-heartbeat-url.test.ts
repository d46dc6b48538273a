import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { callHeartbeatUrl } from '../../../jobs/call-heartbeat-url.ts';
import { readConfig } from '../../../src/config.ts';
import { recordHeartbeat, WORKER_LOOPS } from '../../../src/runtime/heartbeat.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openHttpSink } from '../../support/open-http-sink.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const SECRET = 's3cret-ping';

test('the dead man’s switch is called while the worker’s loops are alive; a failure is a warning without the address', async () => {
  using home = temporaryDirectory();
  await using sink = await openHttpSink();
  const file = path.join(home.path, 'heartbeat-url');
  writeFileSync(file, `${sink.url}/${SECRET}\n`);
  let log = '';
  const logTo = new PassThrough().setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await using environment = await openEnvironment({ JOB_WATCH_URL_FILE: file, LOG_LEVEL: 'info' }, undefined, logTo);
  const { context } = environment;

  await callHeartbeatUrl(context);
  expect(sink.posted, 'no loop has shown life').toEqual([]);
  for (const part of WORKER_LOOPS) await recordHeartbeat(context, part);
  await callHeartbeatUrl(context);
  expect(sink.posted.map((one) => one.path)).toEqual([`/${SECRET}`]);

  await environment.timers.advance(200_000);
  await callHeartbeatUrl(context);
  expect(sink.posted).toHaveLength(1);
  expect(log).toContain('"dead":["inbox","sealer","alerts"]');

  for (const part of WORKER_LOOPS) await recordHeartbeat(context, part);
  sink.answer = () => 500;
  await callHeartbeatUrl(context);
  expect(log).toContain('"status":500');
  await sink[Symbol.asyncDispose]();
  await callHeartbeatUrl(context);
  expect(log).toContain('JOB_WATCH_URL did not answer');
  expect(log).not.toContain('"level":"error"');
  expect(log).not.toContain(SECRET);
  expect(log).not.toContain(sink.url.slice('http://'.length));
});

test('JOB_WATCH_URL must be https, except on this machine or with ALLOW_PLAIN_HTTP', () => {
  const JOB_WATCH_URL = 'http://ping.example/x';
  expect(() => readConfig({ JOB_WATCH_URL })).toThrow('JOB_WATCH_URL: must be https');
  expect(readConfig({ JOB_WATCH_URL, ALLOW_PLAIN_HTTP: 'true' })).toMatchObject({ JOB_WATCH_URL });
});
