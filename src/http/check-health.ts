import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Router } from 'express';
import ipaddr from 'ipaddr.js';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { SPOOL_BYTES_MAX, type Spool } from '../inbox/spool/spool.ts';
import { registry } from '../metrics/metrics.ts';
import { findBearer } from './access/authorize.ts';
import type { AuthGuard } from './access/guard-auth-attempts.ts';
import { createRouter } from './create-router.ts';
import { sendProblem } from './send-problem.ts';

const DATABASE_MS_MAX = 1_500;
const PROBE_EVERY_MS = 1_000;
const PROBE_SETTING = 'ready_probe';
const NEAR_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal']);

/** Alive; able to take webhooks; what is counted. */
export function healthRoutes(context: Context, guard: AuthGuard, spool: Spool | undefined): Router {
  return createHealthRoutes({
    signal: context.signal,
    spool,
    databaseTakes: createProbe(context),
    findCaller: (request) => findBearer(context, guard, request),
  });
}

export function createHealthRoutes(of: {
  signal: AbortSignal;
  spool: Spool | undefined;
  /** Whether a commit lands. */
  databaseTakes: () => Promise<boolean>;
  /** Who may see the metrics from elsewhere; without a database nobody is known. */
  findCaller?: (request: Request) => Promise<Caller | undefined>;
}): Router {
  const { signal, spool } = of;
  const router = createRouter();
  router.get('/healthz', (_request, response) => {
    response.json({ alive: true });
  });
  router.get('/readyz', async (_request, response) => {
    if (signal.aborted) {
      sendProblem(response, { status: 503, detail: 'stopping' });
      return;
    }
    if (await of.databaseTakes()) response.json({ ready: true });
    else if (spool && spool.bytes < SPOOL_BYTES_MAX) response.json({ ready: true, degraded: true });
    else sendProblem(response, { status: 503, detail: 'the database takes nothing, and neither does a spool' });
  });
  router.get('/metrics', async (request, response) => {
    if (!isNear(request) && !(await of.findCaller?.(request))) {
      throw new ConfereError('unauthorized', 'from this address, send Authorization: Bearer with a token of a viewer');
    }
    response.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}

/**
 * Loopback and private addresses: whoever scrapes stands on the same network. What a proxy passed on, that TRUST_PROXY
 * does not name, comes from anywhere: so each address of X-Forwarded-For has to be told by a proxy that we trust. A proxy
 * that adds no such header can't be told from who scrapes.
 */
function isNear(request: Request): boolean {
  const { ip: address = '', ips, headers } = request;
  const forwardedFor = headers['x-forwarded-for'];
  const isPassedOn = forwardedFor !== undefined || headers.forwarded !== undefined;
  if (isPassedOn && ips.length !== forwardedFor?.toString().split(',').length) return false;
  return ipaddr.isValid(address) && NEAR_RANGES.has(ipaddr.process(address).range());
}

/**
 * A receiver that can only read would refuse every webhook: a small commit has to land, in time. Asked at most once a
 * second, however many ask: each answer serves them all.
 */
function createProbe(context: Context): () => Promise<boolean> {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let lands = Promise.resolve(false);
  return () => {
    const nowMs = performance.now();
    if (nowMs - askedAtMs >= PROBE_EVERY_MS) {
      askedAtMs = nowMs;
      lands = landsInTime(context);
    }
    return lands;
  };
}

async function landsInTime({ db, clock, holder }: Context): Promise<boolean> {
  // another value each time: a write that changes nothing commits nothing
  const value = Buffer.from(`${clock.now().getTime()} ${holder}`);
  // all replicas write this row: Galera ends one of two at once with a deadlock, which says nothing of what lands
  const landed = transact(db, (trx) =>
    trx.insertInto('settings').values({ name: PROBE_SETTING, value }).onDuplicateKeyUpdate({ value }).execute(),
  ).then(
    () => true,
    () => false,
  );
  return await Promise.race([landed, sleep(DATABASE_MS_MAX, false, { ref: false })]);
}
