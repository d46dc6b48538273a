/**
 * The alerts `provider_failing` and `provider_unauthorized`. Each worker reports every ten seconds how the provider answered it
 * (provider/track-health.ts), and decides from the reports of all. While requests fail it asks for a page of the list:
 * evidence either way, also where nothing else asks. One of the two alerts fires, never both.
 */
import { syncAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { decideHealth, type HealthReport, type ProviderHealth, SLOT_MS } from '../../provider/track-health.ts';
import { recordHeartbeat } from '../../runtime/heartbeat.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';
import type { AlertFacts } from '../../texts/alerts/alert-facts.ts';
import { parseFacts, summarize } from '../../texts/alerts/describe-alert.ts';

const FAILING = 'provider_failing';
const UNAUTHORIZED = 'provider_unauthorized';
const SCOPE = 'provider';
/** Older reports are of processes that have ended. */
const REPORT_MS_MAX = 4 * SLOT_MS;

/** Watches until the signal. */
export async function watchProvider(context: Context, client: ProviderClient): Promise<void> {
  let asking: Promise<unknown> | undefined;
  await runWorkerLoop({
    ...{ name: 'watch of the provider', wakeUp: createWakeSignal(context.timers), idleMs: SLOT_MS, context },
    async work() {
      const { isFiring, isSuspect } = await checkProvider(context, client);
      // not awaited: in a pause that the provider asked for it waits
      if (isFiring || isSuspect)
        asking ??= askList(context, client, { triesMax: 1 }).finally(() => {
          asking = undefined;
        });
      return false;
    },
  });
  await asking;
}

/**
 * Whether a run failed because the provider fails: not if that answers another request of the list. If so, `provider_failing`
 * fires on return.
 */
export async function reportGivenUp(context: Context, client: ProviderClient): Promise<boolean> {
  if (await askList(context, client, { triesMax: 1 })) return false;
  client.health.giveUp();
  return (await checkProvider(context, client)).isFiring;
}

/** How the provider answered all processes lately. */
export async function readProviderHealth(context: Pick<Context, 'db' | 'clock'>): Promise<ProviderHealth> {
  const { db, clock } = context;
  const now = clock.now();
  const rows = await db
    .selectFrom('heartbeats')
    .select('facts')
    .where('part', '=', 'provider')
    .where('seen_at', '>=', new Date(now.getTime() - REPORT_MS_MAX))
    .execute();
  const reports = rows.flatMap(({ facts }) => (facts === null ? [] : (JSON.parse(facts) as HealthReport)));
  const isFiring = (await readFiring(db)).some(({ name }) => name === FAILING);
  return decideHealth(reports, isFiring, now);
}

/** Reports how the provider answered this process, and raises and ends the two alerts. */
export async function checkProvider(
  context: Context,
  client: ProviderClient,
): Promise<{ isFiring: boolean; isSuspect: boolean }> {
  await recordHeartbeat(context, 'provider', { facts: JSON.stringify(client.health.report()) });
  const firing = await readFiring(context.db);
  const unauthorized = firing.find(({ name }) => name === UNAUTHORIZED);
  const { failing, isKeyRefused, suspect, authorizedAt } = await readProviderHealth(context);
  const isAccepted = unauthorized && authorizedAt && authorizedAt > unauthorized.raised_at;
  const isRefused = unauthorized ? !isAccepted : isKeyRefused;
  const facts = failing && {
    operation: failing.operation,
    error: failing.cause,
    percent: failing.percent,
    since: failing.since,
  };
  // after the end of the other one not before the list was asked again: its refusals may be old
  await sync(context, FAILING, isRefused || unauthorized ? undefined : facts, firing);
  // a run raises it too, with its own facts: they stay
  const error = `the provider refuses PROVIDER_API_KEY (${failing?.cause})`;
  if (!unauthorized || !isRefused) await sync(context, UNAUTHORIZED, isRefused ? { error } : undefined, firing);
  return { isFiring: isRefused || facts !== undefined, isSuspect: suspect !== undefined };
}

type Firing = { name: string; raised_at: Date; facts: string | null };

/** An alert of the same cause keeps its first facts: those of each moment differ. */
async function sync(
  context: Context,
  name: typeof FAILING | typeof UNAUTHORIZED,
  facts: AlertFacts | undefined,
  firing: Firing[],
): Promise<void> {
  const known = parseFacts(firing.find((alert) => alert.name === name)?.facts ?? null);
  const isSame = known?.operation === facts?.operation && known?.error === facts?.error;
  const said = facts && summarize(name, isSame && known ? known : facts);
  await syncAlerts(context, name, said ? [{ scope: SCOPE, severity: 'critical', ...said }] : []);
}

async function readFiring(db: Reader): Promise<Firing[]> {
  return await db
    .selectFrom('alerts')
    .select(['name', 'raised_at', 'facts'])
    .where('firing_scope', 'in', [`${FAILING} ${SCOPE}`, `${UNAUTHORIZED} ${SCOPE}`])
    .execute();
}

/** Asks for one page of today's list. @returns whether the provider answered it, also with a refusal of this request. */
export async function askList(
  { calendar, clock }: Context,
  client: ProviderClient,
  more?: { triesMax: number },
): Promise<boolean> {
  const today = calendar.dayOf(clock.now());
  const asked = client.withPriority('today').listPage({ initialDate: today, finalDate: today }, 1, more);
  return await asked.then(
    () => true,
    (error: unknown) => error instanceof ProviderError && error.code === 'provider_rejected',
  );
}
