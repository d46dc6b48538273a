import type { Context } from '../../src/context.ts';
import { createProviderClient, type ProviderClient } from '../../src/provider/client.ts';
import { findRun, type PresentedRun } from '../../src/reconciliation/numbers/read-runs.ts';
import { claimRun } from '../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../src/reconciliation/runs/start-run.ts';
import type { RunHow } from '../../src/reconciliation/windows/run-ref.ts';
import { openEnvironment, type TestEnvironment } from './open-environment.ts';
import { PROVIDER_KEY, TestProvider } from './test-provider.ts';

/** An environment with a provider whose list it reads. */
export type ReconciliationEnvironment = TestEnvironment & {
  provider: TestProvider;
  client: ProviderClient;
  /** Queues a run over days, both inclusive, and executes it. */
  reconcile(
    from: string,
    to: string,
    more?: { trigger?: string; platform?: string; how?: RunHow },
  ): Promise<PresentedRun>;
  /** Executes a queued run. */
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

export async function openReconciliationEnvironment(
  env: Record<string, string> = {},
): Promise<ReconciliationEnvironment> {
  const provider = await new TestProvider().listen();
  const environment = await openEnvironment({ PROVIDER_URL: provider.url, PROVIDER_API_KEY: PROVIDER_KEY, ...env });
  environment.use(provider);
  const { context, timers } = environment;
  const options = { url: provider.url, apiKey: PROVIDER_KEY, signal: context.signal, timers };
  const client = environment.use(createProviderClient(options));
  const work = workWith(context, client);
  return {
    ...environment,
    provider,
    client,
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
  };
}

/** Executes a queued run. @returns it as it ended. */
export function workWith(context: Context, client: ProviderClient): (id: string) => Promise<PresentedRun> {
  return async (id) => {
    const run = await claimRun(context, { id });
    if (!run) throw new Error(`run ${id} could not be claimed`);
    await executeRun(context, client, run);
    const done = await findRun(context.db, id);
    if (!done) throw new Error(`run ${id} is gone`);
    return done;
  };
}
