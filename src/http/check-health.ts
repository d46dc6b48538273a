import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Router } from 'express';
import ipaddr from 'ipaddr.js';
import type { Caller } from '../access/tokens.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { probeInbox } from '../inbox/receive/probe-inbox.ts';
import type { Spool } from '../inbox/spool/spool.ts';
import { registry } from '../metrics/metrics.ts';
import { refuse } from '../texts/refuse.ts';
import { SYSTEM_TIMERS } from '../timers.ts';
import { findBearer } from './access/authorize.ts';
import type { AuthGuard } from './access/guard-auth-attempts.ts';
import { matchesCidr } from './connections/match-cidr.ts';
import { createRouter } from './create-router.ts';
import { sharePage } from './expose-metrics.ts';
import { problemOf, sendProblem } from './send-problem.ts';

const DATABASE_MS_MAX = 1_500;
const PROBE_EVERY_MS = 1_000;
const PROBE_SETTING = 'ready_probe';

/**
 * `/healthz`, `/readyz` and `/metrics`.
 * @param web whether this process receives webhooks: it is ready if one would be stored; else if a commit lands.
 */
export function healthRoutes(
  context: Context,
  guard: AuthGuard,
  { web, spool, metrics }: { web?: boolean; spool?: Spool | undefined; metrics: () => Promise<string> },
): Router {
  return createHealthRoutes({
    ...{ config: context.config, signal: context.signal, spool, metrics },
    isWritable: createProbe(() => (web ? probeInbox(context) : probeSettings(context))),
    findCaller: (request) => findBearer(context, guard, request),
  });
}

export function createHealthRoutes(options: {
  config: Pick<Config, 'METRICS_ALLOW'>;
  signal: AbortSignal;
  spool?: Spool | undefined;
  /** Whether the database commits a write in time. */
  isWritable: () => Promise<boolean>;
  /** Renders `/metrics`. Without a database: those of this process alone. */
  metrics?: () => Promise<string>;
  /** Finds the caller of `/metrics` from a public address. Omitted without a database: then nobody is known. */
  findCaller?: (request: Request) => Promise<Caller | undefined>;
}): Router {
  const { config, signal, spool, metrics = sharePage(SYSTEM_TIMERS, () => registry.metrics()) } = options;
  const isSpoolWritable = createProbe(spool ? () => spool.probe() : () => Promise.reject(new Error('no spool')));
  const router = createRouter();
  router.get('/healthz', (_request, response) => {
    response.json({ alive: true });
  });
  router.get('/readyz', async (_request, response) => {
    if (signal.aborted) {
      sendProblem(response, problemOf(refuse('stopping')));
      return;
    }
    if (await options.isWritable()) response.json({ ready: true });
    else if (await isSpoolWritable()) response.json({ ready: true, degraded: true });
    else sendProblem(response, problemOf(refuse(spool ? 'database_and_spool_not_writable' : 'database_not_writable')));
  });
  router.get('/metrics', async (request, response) => {
    if (!isFromScraper(config, request) && !(await options.findCaller?.(request))) {
      throw refuse('metrics_token_missing');
    }
    response.type(registry.contentType).send(await metrics());
  });
  return router;
}

/**
 * Whether a request comes from loopback or an address of METRICS_ALLOW, as a scraper's does. A request through a proxy that
 * TRUST_PROXY does not name may come from anywhere: so trusted proxies must have added each address of X-Forwarded-For. A
 * proxy that adds no such header cannot be distinguished from a scraper.
 */
function isFromScraper({ METRICS_ALLOW }: Pick<Config, 'METRICS_ALLOW'>, request: Request): boolean {
  const { ip: address = '', ips, headers } = request;
  const forwardedFor = headers['x-forwarded-for'];
  const isForwarded = forwardedFor !== undefined || headers.forwarded !== undefined;
  if (isForwarded && ips.length !== forwardedFor?.toString().split(',').length) return false;
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === 'loopback' || matchesCidr(METRICS_ALLOW, address);
}

/**
 * Creates a probe that writes, because a database that only reads would answer too. It probes at most once
 * a second, and concurrent callers share the result.
 */
function createProbe(write: () => Promise<unknown>): () => Promise<boolean> {
  let probedAtMs = Number.NEGATIVE_INFINITY;
  let isWritable = Promise.resolve(false);
  return () => {
    const nowMs = performance.now();
    if (nowMs - probedAtMs >= PROBE_EVERY_MS) {
      probedAtMs = nowMs;
      isWritable = succeedsInTime(write());
    }
    return isWritable;
  };
}

async function succeedsInTime(write: Promise<unknown>): Promise<boolean> {
  const written = write.then(
    () => true,
    () => false,
  );
  return await Promise.race([written, sleep(DATABASE_MS_MAX, false, { ref: false })]);
}

async function probeSettings({ db, clock, holder }: Context): Promise<void> {
  // a new value each time: a write that changes nothing commits nothing
  const value = Buffer.from(`${clock.now().getTime()} ${holder}`);
  // all replicas write this row: on Galera one of two concurrent writes fails with a deadlock, so it is retried
  await transact(db, (trx) =>
    trx.insertInto('settings').values({ name: PROBE_SETTING, value }).onDuplicateKeyUpdate({ value }).execute(),
  );
}
