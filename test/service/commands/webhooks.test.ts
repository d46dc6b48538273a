import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeArrivals } from '../../../src/inbox/receive/write-arrivals.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { readRows } from '../../support/read-rows.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const context = closeAfterAll(await openTestContext());

beforeAll(async () => {
  const arrivals = ['{"hello":1}', '{"hello":2}', 'not json'].map((text) => {
    const body = Buffer.from(text);
    const hash = createHash('sha256').update(body).digest();
    const defect = text.startsWith('{') ? undefined : ('not_json' as const);
    return { body, hash, defect, address: '127.0.0.1', headers: {}, receivedAt: context.clock.now() };
  });
  await writeArrivals(context, arrivals);
  await splitWebhooks(context, 0);
});

async function webhooks(...args: string[]): Promise<{ code: number; text: string }> {
  const env = {
    DATABASE_URL: context.config.DATABASE_URL ?? '',
    SECRET_KEY: context.config.SECRET_KEY?.toString('base64') ?? '',
    DATA_DIR: context.config.DATA_DIR,
  };
  const { code, out, err } = await runCommandInProcess(['webhooks', ...args], env);
  return { code: code ?? -1, text: code === 0 ? out : err };
}

type Listed = { webhooks: { id: string; state: string; reason: string }[] };

async function list(...args: string[]): Promise<Listed['webhooks']> {
  return (JSON.parse((await webhooks('list', '--json', ...args)).text) as Listed).webhooks;
}

describe('confere webhooks', () => {
  it('lists the inbox with reasons, for people and for programs', async () => {
    const rows = await list('--state', 'quarantined');
    expect(rows.map((row) => row.reason).sort()).toEqual(['no_key', 'no_key', 'not_json']);
    expect(await list('--limit', '1')).toEqual(rows.slice(0, 1));
    expect((await webhooks('list')).text).toContain(`${rows[0]?.id}`);
  });

  it('audits a list, and a search for a document by its keyed hash', async () => {
    await list('--reference', '5511144477735', '--state', 'applied');
    const rows = await context.db.selectFrom('audit').select(['actor', 'action', 'target']).orderBy('seq').execute();
    expect(rows.slice(-2)).toEqual([
      {
        actor: 'command',
        action: 'transactions.search_document',
        target: expect.stringMatching(/^document:[0-9a-f]{16}$/),
      },
      { actor: 'command', action: 'webhooks.list', target: '["state","reference"]' },
    ]);
  });

  it('reprocesses webhooks of one reason, or named ones', async () => {
    expect(await webhooks('reprocess', '--reason', 'not_json', '--json')).toEqual({
      code: 0,
      text: '{"reprocessed":1}\n',
    });
    expect((await list('--state', 'pending')).map((row) => row.reason)).toEqual(['not_json']);
    const [one] = await list('--state', 'quarantined');
    expect(await webhooks('reprocess', one?.id ?? '')).toMatchObject({ code: 0 });
    expect((await list('--state', 'quarantined')).map((row) => row.id)).not.toContain(one?.id);
    await splitWebhooks(context, 0);
    expect((await list('--state', 'quarantined')).map((row) => row.reason).sort()).toEqual([
      'no_key',
      'no_key',
      'not_json',
    ]);
  });

  it('purges old webhooks of one reason, audited; their hashes stay', async () => {
    const before = await list('--state', 'quarantined');
    expect((await webhooks('purge', '--reason', 'not_json', '--older-than', '1h', '--json')).text).toBe(
      '{"purged":0}\n',
    );
    await context.db
      .updateTable('webhooks')
      .set({ received_at: new Date(Date.now() - 7_200_000) })
      .execute();
    expect((await webhooks('purge', '--reason', 'not_json', '--older-than', '1h', '--json')).text).toBe(
      '{"purged":1}\n',
    );
    expect((await webhooks('purge', '--reason', 'not_json', '--older-than', '1h', '--json')).text).toBe(
      '{"purged":0}\n',
    );
    const rows = await context.db.selectFrom('webhooks').select(['reason', 'body', 'dropped_at']).execute();
    expect(rows.filter(({ dropped_at }) => dropped_at !== null)).toMatchObject([{ reason: 'not_json' }]);
    expect(rows.filter(({ body }) => body.length === 0)).toHaveLength(1);
    expect((await list('--state', 'quarantined')).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const audited = await readRows(context.db, 'audit', ['actor', 'target', 'detail'], { action: 'webhooks.purge' }, [
      'seq',
    ]);
    expect(audited).toEqual([{ actor: 'command', target: 'not_json', detail: 'older than 1h: 1' }]);
    // its body is dropped: nothing is left to process
    expect(await webhooks('reprocess', '--reason', 'not_json', '--json')).toMatchObject({
      text: '{"reprocessed":0}\n',
    });
  });

  it('exits 2 for wrong use, and 1 for an unknown webhook', async () => {
    expect((await webhooks('reprocess')).code).toBe(2);
    expect((await webhooks('list', '--state', 'lost')).code).toBe(2);
    expect((await webhooks('purge', '--reason', 'not_json')).code).toBe(2);
    expect((await webhooks('purge', '--reason', 'notjson', '--older-than', '1h')).code).toBe(2);
    expect((await webhooks('purge', '--reason', 'not_json', '--older-than', 'long')).code).toBe(2);
    expect((await webhooks('reprocess', `wh_${'0'.repeat(32)}`)).code).toBe(1);
  });
});
