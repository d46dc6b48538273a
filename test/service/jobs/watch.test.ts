import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import { openBooks } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';

test('a failed step of the watch does not stop the others', async () => {
  await using environment = await openEnvironment();
  const said: unknown[] = [];
  const log = Object.assign(Object.create(environment.context.log), {
    error: (fields: { step: string }) => said.push(fields.step),
  });
  const context = { ...environment.context, log };
  const opening = { platform: 'p', day: '2026-11-21', balanceCents: 7n, actor: 'command' };
  await expect(openBooks({ ...context, signal: AbortSignal.abort() }, opening)).rejects.toThrow();
  await sql`RENAME TABLE owed_webhooks TO owed_webhooks_elsewhere`.execute(context.db);

  const failing = ['checkExpectedWebhooks', 'webhook_loss_rate', 'countWebhookDays'];
  await expect(watch(context)).rejects.toThrow(`steps of the watch failed: ${failing.join(', ')}`);
  expect(said).toEqual(failing);
  const rows = await context.db.selectFrom('openings').select('reposted_at').execute();
  expect(rows).toEqual([{ reposted_at: expect.any(Date) }]);

  await sql`RENAME TABLE owed_webhooks_elsewhere TO owed_webhooks`.execute(context.db);
  await watch(context);
});
