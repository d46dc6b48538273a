import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyEmbeddedData } from '../../support/copy-embedded-data.ts';
import { eventually } from '../../support/eventually.ts';
import { API_KEY, type Served, startServe, temporaryDirectory } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

describe('with the database killed under it', () => {
  const home = temporaryDirectory();
  const stack = new AsyncDisposableStack();
  let served: Served;
  let providerUrl: string;

  beforeAll(async () => {
    stack.defer(() => home[Symbol.dispose]());
    await copyEmbeddedData(path.join(home.path, 'data'));
    const provider = stack.use(await new TestProvider(API_KEY).listen());
    providerUrl = provider.url;
    served = await startServe({ home: home.path, providerUrl, env: { WEBHOOK_GRACE: '1s' } });
    stack.defer(() => served[Symbol.asyncDispose]());
  });
  afterAll(() => stack.disposeAsync());

  async function inbox(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { webhooks: { id: string; repeats: number }[]; next_cursor: string | null } = await served.api.call(
        'GET',
        `/webhooks?limit=200${cursor ? `&cursor=${cursor}` : ''}`,
      );
      for (const webhook of page.webhooks) found.set(webhook.id, webhook.repeats);
      cursor = page.next_cursor;
    }
    return found;
  }

  it('answers every webhook 200, keeps each once, and the database comes back by itself', async () => {
    const pidFile = path.join(home.path, 'data/mariadb/server.pid');
    const bodies = Array.from({ length: 150 }, (_, n) => ({ transaction_id: randomUUID(), status: 'paid', n }));
    const answers: { status: number; json: Record<string, unknown> }[] = [];
    for (const [index, body] of bodies.entries()) {
      if (index === 40) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
      answers.push(await served.webhook(body));
      // the same bytes once more, while the spool holds them
      if (index === 60) answers.push(await served.webhook(body));
      await sleep(10);
    }
    expect([...new Set(answers.map((answer) => answer.status))]).toEqual([200]);
    expect(answers.filter((answer) => answer.json.duplicate === true)).toHaveLength(1);
    const ids = new Set(answers.map((answer) => String(answer.json.id)));
    expect(ids.size).toBe(bodies.length);
    const kept = await eventually(async () => {
      const found = await inbox().catch(() => new Map<string, number>());
      return found.size === ids.size ? found : undefined;
    });
    expect([...ids].filter((id) => !kept.has(id))).toEqual([]);
    expect([...kept.values()].reduce((sum, repeats) => sum + repeats, 0)).toBe(1);
    expect(readdirSync(path.join(home.path, 'data/spool')).length).toBeLessThanOrEqual(1);
  });

  it('drains after a restart what a killed process had spooled', async () => {
    const pidFile = path.join(home.path, 'data/mariadb/server.pid');
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    const body = { transaction_id: randomUUID(), status: 'paid', late: true };
    const answer = await served.webhook(body);
    expect(answer.status).toBe(200);
    await served.kill();
    served = await startServe({ home: home.path, providerUrl });
    await eventually(async () => (await inbox()).has(String(answer.json.id)));
    expect(await served.webhook(body)).toMatchObject({ status: 200, json: { duplicate: true } });
  });
});
