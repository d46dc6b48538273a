import { randomBytes } from 'node:crypto';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import { createLog } from '../../../src/log.ts';
import { createProviderClient, type ProviderClient } from '../../../src/provider/client.ts';
import { claimRun } from '../../../src/reconciliation/claim-run.ts';
import { findRun, type PresentedRun } from '../../../src/reconciliation/read-runs.ts';
import type { RunHow } from '../../../src/reconciliation/run-ref.ts';
import { startRun } from '../../../src/reconciliation/start-run.ts';
import { executeRun } from '../../../src/reconciliation/work-runs.ts';
import { freshDatabase } from '../../support/database.ts';
import { urlOf } from '../../support/programs.ts';
import { KEY, QuirkyProvider } from '../../support/quirky-provider.ts';

/** A ledger of its own beside a provider of its own. */
export type World = AsyncDisposable & {
  provider: QuirkyProvider;
  context: Context;
  client: ProviderClient;
  env: Record<string, string>;
  /** Another process's context on the same database, with its own holder and connections. */
  replica(env?: Record<string, string>): Promise<Context>;
  reconcile(
    from: string,
    to: string,
    more?: { trigger?: string; platform?: string; how?: RunHow },
  ): Promise<PresentedRun>;
  /** Works a queued run to its end. */
  work(id: string): Promise<PresentedRun>;
  mismatches(kind?: string): Promise<Mismatch[]>;
  ids(): Promise<string[]>;
};

export type Mismatch = {
  kind: string;
  scope: string;
  state: string;
  severity: string;
  resolution: string | null;
  run_seq: number | null;
  reopened: number;
  baseline: number;
  transaction_id: string | null;
  actual: string | null;
};

export async function openWorld(env: Record<string, string> = {}): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await new QuirkyProvider().listen());
  const all = {
    DATABASE_URL: urlOf(await freshDatabase()),
    SECRET_KEY: randomBytes(32).toString('base64'),
    PROVIDER_URL: provider.url,
    PROVIDER_API_KEY: KEY,
    ...env,
  };
  const log = createLog('silent', process.stderr);
  const stop = new AbortController();
  const open = async (more: Record<string, string> = {}): Promise<Context> =>
    stack.use(await openContext(readConfig({ ...all, ...more }), { log, signal: stop.signal, migrates: true }));
  const context = await open();
  const client = stack.use(createProviderClient({ url: provider.url, apiKey: KEY, signal: stop.signal }));
  const owned = stack.move();
  const work = async (id: string): Promise<PresentedRun> => {
    const run = await claimRun(context, { id });
    if (!run) throw new Error(`run ${id} could not be claimed`);
    await executeRun(context, client, run);
    const done = await findRun(context.db, id);
    if (!done) throw new Error(`run ${id} is gone`);
    return done;
  };
  return {
    provider,
    context,
    client,
    env: all,
    replica: async (more) => {
      const replica = await openContext(readConfig({ ...all, ...more }), { log, signal: stop.signal, migrates: false });
      owned.use(replica);
      return replica;
    },
    async reconcile(from, to, more = {}) {
      const { id } = await startRun(context, { from, to, trigger: 'test', createdBy: 'test', ...more });
      return await work(id);
    },
    work,
    async mismatches(kind) {
      let query = context.db
        .selectFrom('mismatches')
        .select(['kind', 'scope', 'state', 'severity', 'resolution', 'run_seq', 'reopened', 'baseline'])
        .select(['transaction_id', 'actual'])
        .orderBy('seq');
      if (kind) query = query.where('kind', '=', kind);
      return await query.execute();
    },
    async ids() {
      const rows = await context.db.selectFrom('transactions').select('id').orderBy('id').execute();
      return rows.map((row) => row.id);
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await owned.disposeAsync();
    },
  };
}
