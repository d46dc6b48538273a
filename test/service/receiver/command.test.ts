import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { takeApart } from '../../../src/inbox/take-apart.ts';
import { writeArrivals } from '../../../src/inbox/write-arrivals.ts';
import { callCommand } from '../../support/call-command.ts';
import { openTestContext } from '../../support/environment.ts';

let context: Context;

beforeAll(async () => {
  context = await openTestContext();
  const arrivals = ['{"hello":1}', '{"hello":2}', 'not json'].map((text) => {
    const body = Buffer.from(text);
    const hash = createHash('sha256').update(body).digest();
    const fault = text.startsWith('{') ? undefined : ('not_json' as const);
    return { body, hash, fault, address: '127.0.0.1', headers: {}, receivedAt: context.clock.now() };
  });
  await writeArrivals(context, arrivals);
  await takeApart(context, 0);
});
afterAll(() => context[Symbol.asyncDispose]());

async function webhooks(...args: string[]): Promise<{ code: number; text: string }> {
  const env = {
    DATABASE_URL: context.config.DATABASE_URL ?? '',
    SECRET_KEY: context.config.SECRET_KEY?.toString('base64') ?? '',
    DATA_DIR: context.config.DATA_DIR,
  };
  const { code, out, err } = await callCommand(['webhooks', ...args], env);
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

  it('puts those of one reason back, or those that are named', async () => {
    expect(await webhooks('reprocess', '--reason', 'not_json', '--json')).toEqual({
      code: 0,
      text: '{"reprocessed":1}\n',
    });
    expect((await list('--state', 'pending')).map((row) => row.reason)).toEqual(['not_json']);
    const [one] = await list('--state', 'quarantined');
    expect(await webhooks('reprocess', one?.id ?? '')).toMatchObject({ code: 0 });
    expect((await list('--state', 'quarantined')).map((row) => row.id)).not.toContain(one?.id);
    await takeApart(context, 0);
    expect((await list('--state', 'quarantined')).map((row) => row.reason).sort()).toEqual([
      'no_key',
      'no_key',
      'not_json',
    ]);
  });

  it('tells wrong use with 2, and an unknown webhook with 1', async () => {
    expect((await webhooks('reprocess')).code).toBe(2);
    expect((await webhooks('list', '--state', 'lost')).code).toBe(2);
    expect((await webhooks('reprocess', `wh_${'0'.repeat(32)}`)).code).toBe(1);
  });
});
