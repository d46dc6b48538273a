import type { Context } from '../../src/context.ts';
import { findWebhook } from '../../src/inbox/manage/read-webhooks.ts';
import { createReceiver, type Received } from '../../src/inbox/receive/receive.ts';
import { workInbox } from '../../src/inbox/verify/work-inbox.ts';
import { createProviderClient } from '../../src/provider/client.ts';
import { eventually } from './eventually.ts';
import { openEnvironment, type TestEnvironment } from './open-environment.ts';
import { API_KEY } from './start-serve.ts';
import { TestProvider } from './test-provider.ts';

/** Shorter than any pause that a test waits for: fetches and retries become due one by one. */
const STEP_MS = 200;

type Webhook = NonNullable<Awaited<ReturnType<typeof findWebhook>>>;

/** An environment with a provider, and the loop that verifies webhooks against it. */
export type InboxEnvironment = TestEnvironment & {
  provider: TestProvider;
  receive(body: unknown, address?: string): Promise<Received>;
  /** Returns a webhook as our API shows it. */
  webhook(id: string): Promise<Webhook>;
  /** Waits for a state of a webhook and advances the timers in short steps: fetches become due, grace ends. */
  waitForState(id: string, state: string): Promise<Webhook>;
};

/** @param workOn returns the context of the loop that verifies: one whose database fails, for example. */
export async function openInboxEnvironment(
  env: Record<string, string> = {},
  workOn: (context: Context) => Context = (context) => context,
): Promise<InboxEnvironment> {
  const environment = await openEnvironment({ WEBHOOK_GRACE: '1s', ...env });
  const { context } = environment;
  const provider = environment.use(await new TestProvider(API_KEY).listen());
  const options = { url: provider.url, apiKey: API_KEY, signal: context.signal, timers: environment.timers };
  const client = environment.use(createProviderClient(options));
  const drained = workInbox(workOn(context), client);
  environment.use({ [Symbol.asyncDispose]: () => drained });
  const receive = createReceiver(context, undefined);
  const webhook: InboxEnvironment['webhook'] = async (id) => {
    const found = await findWebhook(context.db, id);
    if (!found) throw new Error(`there is no webhook ${id}`);
    return found;
  };
  return {
    ...environment,
    provider,
    webhook,
    receive: (body, address = '127.0.0.1') => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      return receive({ body: bytes, address, headers: {} });
    },
    waitForState: (id, state) =>
      eventually(`${id} is ${state}`, async () => {
        await environment.timers.advance(STEP_MS);
        const found = await webhook(id);
        return found.state === state ? found : undefined;
      }),
  };
}
