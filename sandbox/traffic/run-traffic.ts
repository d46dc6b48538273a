import type { Sandbox } from '../context.ts';
import { createTransaction } from '../lifecycle/create-transaction.ts';
import { makeCharge } from './make-charge.ts';

const IDLE_MS = 250;
const REDRAW_MS = 1_000;
const IN_FLIGHT_MAX = 32;

/** Creates transactions as clients would, at the rate `traffic.per_second`, until the sandbox ends. */
export async function runTraffic(sandbox: Sandbox): Promise<void> {
  const random = sandbox.random.fork('traffic');
  const inFlight = new Set<Promise<void>>();
  while (!sandbox.signal.aborted) {
    const { traffic } = sandbox.switches.current;
    // exponential gaps, as independent clients cause
    const drawnMs = (-Math.log(1 - random.next()) * 1_000) / traffic.per_second;
    // redrawn each second, which exponential gaps allow: a higher rate takes effect at once
    const waitMs = traffic.per_second > 0 ? Math.min(drawnMs, REDRAW_MS) : IDLE_MS;
    await sandbox.timers.sleep(waitMs, { signal: sandbox.signal }).catch(() => undefined);
    if (traffic.per_second === 0 || drawnMs > REDRAW_MS || sandbox.signal.aborted) continue;
    const operation = random.chance(traffic.cashouts) ? 'cashout' : 'cashin';
    const creation = createOne(sandbox, () =>
      createTransaction(sandbox, makeCharge(random, operation, traffic.platforms), true),
    );
    inFlight.add(creation);
    void creation.finally(() => inFlight.delete(creation));
    if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
}

async function createOne(sandbox: Sandbox, create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
    sandbox.wake.steps();
  } catch (error) {
    sandbox.log(`traffic: ${error instanceof Error ? error.message : String(error)}`);
  }
}
