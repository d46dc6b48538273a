/** A restore from a backup that is older than the first checkpoint, and whose gap ends by a webhook before it is confirmed. */
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { confirmRestore } from '../../../src/backup/confirm-restore.ts';
import { compareChain } from '../../../src/backup/examine-restored.ts';
import { findLastRestore, recordRestore } from '../../../src/backup/record-restore.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { createCheckpointer } from '../../../src/tlog/checkpoints.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';

const lost = closeAfterAll(await openEnvironment({ PUBLIC_URL: 'https://lost.example' }));
let restored: TestEnvironment;
beforeAll(async () => {
  restored = lost.use(await openEnvironment());
  await audit(lost.context, { actor: 'command', action: 'test', target: 't' });
  await sealNow(lost.context);
  await createCheckpointer(lost.context)();
});

test('checkpoints that were kept of it say what is missing; without any, it is unknown', async () => {
  const { context } = restored;
  const restore = await recordRestore(context, context.clock.now());
  const kept = path.join(lost.context.config.DATA_DIR, 'manifests');
  expect(await compareChain(context, restore, kept)).toMatchObject({
    ok: true,
    says: expect.stringMatching(/; 1 leaves of the log are missing: checkpoints-.* names 1$/),
  });
  expect(await compareChain(context, restore, undefined)).toMatchObject({
    says: expect.stringMatching(/has no checkpoints: whether there were later ones is unknown$/),
  });
});

test('a confirmation ends the gap at the first webhook of the restored service, if one came', async () => {
  const { context, timers } = restored;
  await timers.advance(1_000);
  await createReceiver(context, undefined)({ body: Buffer.from('{"id":1}'), address: '127.0.0.1', headers: {} });
  const { received_at: first } = await context.db
    .selectFrom('webhooks')
    .select('received_at')
    .executeTakeFirstOrThrow();
  await timers.advance(30_000);
  await confirmRestore(context);
  expect((await findLastRestore(context.db))?.gap_to).toEqual(first);
});
