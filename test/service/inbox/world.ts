import { randomBytes } from 'node:crypto';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import { drainInbox } from '../../../src/inbox/drain.ts';
import { findWebhook } from '../../../src/inbox/read-webhooks.ts';
import { createReceiver, type Received } from '../../../src/inbox/receive.ts';
import { createLog } from '../../../src/log.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { freshDatabase } from '../../support/database.ts';
import { type FakeProvider, startFakeProvider } from '../../support/fake-provider.ts';

const DONE_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 10;

/** An inbox of its own that is worked off against a provider of its own. */
export type World = {
  context: Context;
  provider: FakeProvider;
  receive(body: unknown): Promise<Received>;
  /** A webhook as our API shows it. */
  webhook(id: string): Promise<NonNullable<Awaited<ReturnType<typeof findWebhook>>>>;
  /** Waits until a webhook is in this state. */
  reaches(id: string, state: string): Promise<NonNullable<Awaited<ReturnType<typeof findWebhook>>>>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function openWorld(env: Record<string, string> = {}): Promise<World> {
  const database = await freshDatabase();
  const config = readConfig({
    DATABASE_URL: `mysql://root@localhost/${database.database}?socket=${encodeURIComponent(database.socketPath)}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_GRACE: '1s',
    ...env,
  });
  const stopping = new AbortController();
  const log = createLog('silent', process.stderr);
  const context = await openContext(config, { log, signal: stopping.signal, migrates: true });
  const provider = await startFakeProvider();
  const client = createProviderClient({ url: provider.url, apiKey: 'key', signal: stopping.signal });
  const drained = drainInbox(context, client);
  const receive = createReceiver(context, undefined);
  const webhook: World['webhook'] = async (id) => {
    const found = await findWebhook(context.db, id);
    if (!found) throw new Error(`there is no webhook ${id}`);
    return found;
  };
  return {
    context,
    provider,
    webhook,
    receive: (body) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      return receive({ body: bytes, address: '127.0.0.1', headers: {} });
    },
    reaches: (id, state) =>
      until(`${id} is ${state}`, async () => {
        const found = await webhook(id);
        return found.state === state ? found : undefined;
      }),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await drained;
      await client[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
}

/** Waits until something holds: as long as it takes, within half a minute. */
export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + DONE_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
