/** Leases and limits that the documents name are those of the code. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PROBE_TIMEOUT_MS, SILENT_MS } from '../../../embedded/detect-unresponsive-host.ts';
import { RETRY_MS } from '../../../embedded/fail-over.ts';
import { SEARCH_EVERY_MS } from '../../../jobs/main.ts';
import { LEASE_MS as TICK_LEASE_MS } from '../../../jobs/run-tick.ts';
import { LEASE_MS as ALERT_LEASE_MS } from '../../../src/alerts/claim-sends.ts';
import { LEASE_MS as CALLBACK_LEASE_MS } from '../../../src/callbacks/queue/claim-callbacks.ts';
import { STOP_MS } from '../../../src/commands/serve/serve.ts';
import { LEDGER_CONNECTIONS, POOL_CONNECTIONS, PREPARED_CONNECTIONS } from '../../../src/context.ts';
import { READ_TIMEOUT_MS } from '../../../src/database/limit-statement-time.ts';
import { WATCH_HOSTS_EVERY_MS } from '../../../src/database/open/watch-hosts.ts';
import { LEASE_MS as ITEM_LEASE_MS } from '../../../src/inbox/items/claim-items.ts';
import { COMMIT_TIMEOUT_MS } from '../../../src/inbox/receive/write-arrivals.ts';
import { FOREIGN_QUIET_MS } from '../../../src/inbox/spool/spool.ts';
import { IN_PLACE_WAIT_MS_MAX } from '../../../src/provider/schedule-requests.ts';
import { LEASE_MS as RUN_LEASE_MS } from '../../../src/reconciliation/runs/claim-run.ts';
import { LEASE_MS as DOUBT_LEASE_MS } from '../../../src/reconciliation/watches/fetch-doubted.ts';
import { LEASE_MS as OPEN_LEASE_MS } from '../../../src/reconciliation/watches/fetch-open.ts';
import { SEALER_LEASE_MS } from '../../../src/seal/seal-ledger.ts';

/** Without line breaks. */
const read = (file: string): string =>
  readFileSync(path.resolve(import.meta.dirname, '../../../docs', file), 'utf8').replace(/\s+/g, ' ');
const s = (ms: number): string => String(ms / 1000);

const SENTENCES: Record<string, Record<string, string>> = {
  'install.md': {
    'a stop': `the pending work is cut off after ${s(STOP_MS)} seconds`,
    'a kill': `after ${s(ITEM_LEASE_MS)} seconds for webhooks, two minutes at most`,
    sealing: `| sealing the ledger | ${s(SEALER_LEASE_MS)} s |`,
    items: `| fetching what a webhook names | ${s(ITEM_LEASE_MS)} s |`,
    runs: `| a run of reconciliation | ${s(RUN_LEASE_MS)} s |`,
    ticks: `| a tick of a job; another process searches for it every ${s(SEARCH_EVERY_MS)} s | ${s(TICK_LEASE_MS)} s |`,
    callbacks: `| a callback in flight, not renewed: its attempt ends before | ${s(CALLBACK_LEASE_MS)} s |`,
    doubts: `| fetching a transaction in doubt | ${s(DOUBT_LEASE_MS)} s |`,
    alerts: `| an alert on its way to a channel | ${s(ALERT_LEASE_MS)} s |`,
    'open transactions': `| fetching open transactions | ${s(OPEN_LEASE_MS)} s |`,
    spool: `(in another container); otherwise none | ${s(FOREIGN_QUIET_MS)} s |`,
  },
  'configure.md': {
    'a host that is away': `It asks a host again every ${s(RETRY_MS)} seconds`,
    'a host that hangs': `After ${s(SILENT_MS)} seconds without an answer, Confere opens a probe connection. If the probe gets no answer within ${s(PROBE_TIMEOUT_MS)} seconds`,
    'a fail-over': `that wait longer than ${s(COMMIT_TIMEOUT_MS)} seconds for a fail-over are answered 503`,
    connections: `up to ${POOL_CONNECTIONS} connections (\`connections\` in DATABASE_URL), three more`,
    'their number': `${4 * (POOL_CONNECTIONS + PREPARED_CONNECTIONS + LEDGER_CONNECTIONS) + 10} for two web and two worker processes`,
  },
  'api.md': { lists: `takes the database longer than ${s(READ_TIMEOUT_MS)} s` },
  'reconcile.md': { 'Retry-After': `| \`Retry-After\` up to ${IN_PLACE_WAIT_MS_MAX / 60_000} minutes | waits |` },
  'scaling.md': {
    rivals: `Each process asks all hosts every ${s(WATCH_HOSTS_EVERY_MS)} seconds`,
    'a host that hangs': `is left after ${s(SILENT_MS)} seconds of silence and two failed probes of ${s(PROBE_TIMEOUT_MS)} seconds`,
    'a commit': `Webhooks that wait longer than ${s(COMMIT_TIMEOUT_MS)} seconds are spooled`,
  },
};
const sentences = Object.entries(SENTENCES).flatMap(([page, list]) =>
  Object.entries(list).map(([about, sentence]) => ({ page, about, sentence })),
);

test.each(sentences)('$page says of $about what the code does', ({ page, sentence }) => {
  expect(read(page)).toContain(sentence);
});

test('no lease is longer than the two minutes that the documents promise', () => {
  const leases = [SEALER_LEASE_MS, ITEM_LEASE_MS, RUN_LEASE_MS, TICK_LEASE_MS, CALLBACK_LEASE_MS, DOUBT_LEASE_MS];
  expect(Math.max(...leases, ALERT_LEASE_MS, OPEN_LEASE_MS, FOREIGN_QUIET_MS)).toBe(120_000);
  expect(read('runbooks.md')).toContain(`expire: after ${s(ITEM_LEASE_MS)} seconds for webhooks, two minutes at most`);
});
