import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { eventually } from '../../support/eventually.ts';
import { openInboxEnvironment } from '../../support/open-inbox-environment.ts';

const WEBHOOKS = 60;

test('an outage of the provider is a few lines in the log, however many webhooks are tried again in it', async () => {
  const lines: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().trim().split('\n'));
      done();
    },
  });
  await using environment = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' }, (context) => ({
    ...context,
    log: createLog('info', output),
  }));
  environment.provider.switches.fault = () => ({ status: 503 });
  for (let nth = 0; nth < WEBHOOKS; nth++) await environment.receive({ id: randomUUID(), status: 'paid' });
  await eventually('each was tried several times', async () => {
    await environment.timers.advance(1_000);
    return environment.provider.count('show') >= 10 * WEBHOOKS;
  });
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(5);
  expect(lines[0]).toContain('verifying items failed');
});
