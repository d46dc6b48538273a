/** The faults of the night shift, one a row, and what has to be seen of each. */
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killProgram } from '../../demo/start-programs.ts';
import { PROBE_EVERY_MS } from '../../src/callbacks/health/merchant-health.ts';
import { FAKETIME, GRACE_MS, type Installation, MERCHANT_ALERT_MS } from './start-installation.ts';

const MINUTE_MS = 60_000;
const FILL_BYTES = 1024 ** 2;

export type Fault = {
  name: string;
  /** The alert that a person gets, and where: a page, or a ticket. */
  alert: string;
  to: 'pager' | 'tickets';
  /** Further tickets that are true. */
  tickets?: string[];
  /** The verdicts that are right meanwhile. */
  verdicts: string[];
  /** How long nobody can know: a setting delays it. */
  hiddenMs?: number;
  /** How long nobody asks after its end: a pause that the provider asked for, or until a merchant is probed. */
  lastsMs?: number;
  /** How long the verdict may stay green: verification counts as late after a minute. */
  greenMs?: number;
  missing?(installation: Installation): string | undefined;
  /** @returns what ends the fault. */
  begin(installation: Installation): Promise<() => Promise<unknown>>;
};

const provider = (name: string, alert: string, fault: Record<string, unknown>): Fault => ({
  ...{ name, alert, to: 'pager', verdicts: ['unknown', 'wrong'], greenMs: 2 * MINUTE_MS },
  async begin({ sandbox }) {
    const set = (faults: unknown[]) => sandbox.call('PATCH', '/sandbox/switches', { faults });
    await set([{ on: 'any', ...fault }]);
    return () => set([]);
  },
});

export const FAULTS: Fault[] = [
  provider('provider 503', 'provider_failing', { kind: 'status', status: 503 }),
  {
    ...provider('provider 503 with Retry-After', 'provider_failing', {
      kind: 'status',
      status: 503,
      retry_after_s: 150,
    }),
    lastsMs: 150_000,
  },
  provider('provider 401', 'provider_unauthorized', { kind: 'status', status: 401 }),
  provider('provider slow', 'provider_failing', { kind: 'slow', delay_ms: 5_000 }),
  provider('provider garbage', 'provider_failing', { kind: 'malformed', as: 'html' }),
  {
    ...{ name: 'database stopped', alert: 'database_unreadable', to: 'pager', verdicts: ['503'] },
    async begin({ database }) {
      await database.stop();
      return () => database.start();
    },
  },
  {
    ...{ name: 'database read-only', alert: 'database_read_only', to: 'pager', verdicts: ['wrong'] },
    async begin({ database }) {
      await database.run('SET GLOBAL read_only = 1');
      return () => database.run('SET GLOBAL read_only = 0');
    },
  },
  {
    ...{ name: 'database out of connections', alert: 'database_unreadable', to: 'pager', verdicts: ['503'] },
    begin: ({ database }) => database.exhaust(),
  },
  {
    ...{ name: 'disk full', alert: 'disk_full', to: 'pager', verdicts: ['wrong'], greenMs: 2 * MINUTE_MS },
    missing: ({ disk }) => (disk ? undefined : 'no right to mount'),
    async begin({ disk = '' }) {
      const file = path.join(disk, 'filled');
      fill(file);
      return async () => rmSync(file);
    },
  },
  {
    ...{ name: 'worker killed', alert: 'replica_silent', to: 'tickets', verdicts: ['good'] },
    async begin({ workers: [, second] }) {
      await killProgram(second.program);
      return () => second.start();
    },
  },
  {
    ...{ name: 'workers stopped', alert: 'worker_dead', to: 'pager', verdicts: ['unknown', 'wrong'] },
    ...{ tickets: ['replica_silent'], greenMs: 2 * MINUTE_MS },
    async begin({ workers }) {
      for (const { program } of workers) program.child.kill('SIGSTOP');
      return async () => {
        for (const { program } of workers) program.child.kill('SIGCONT');
      };
    },
  },
  {
    ...{
      name: 'clock 10 min ahead',
      alert: 'clock_differs',
      to: 'tickets',
      verdicts: ['wrong'],
      greenMs: 2 * MINUTE_MS,
    },
    missing: () => (existsSync(FAKETIME) ? undefined : `no ${FAKETIME} here (Debian: faketime)`),
    async begin({ setClock }) {
      setClock(600);
      return async () => setClock(0);
    },
  },
  {
    ...{ name: 'merchant dead', alert: 'merchant_failing', to: 'tickets', verdicts: ['wrong'] },
    ...{ hiddenMs: MERCHANT_ALERT_MS, greenMs: MERCHANT_ALERT_MS + MINUTE_MS, lastsMs: PROBE_EVERY_MS },
    async begin({ shop }) {
      shop.isDead = true;
      return async () => {
        shop.isDead = false;
      };
    },
  },
  {
    ...{ name: 'forged webhooks', alert: 'webhook_contradiction', to: 'pager', verdicts: ['wrong'] },
    ...{ hiddenMs: GRACE_MS, greenMs: GRACE_MS + MINUTE_MS },
    async begin({ sandbox, api }) {
      const forge = (share: number) => sandbox.call('PATCH', '/sandbox/switches', { webhooks: { forge: share } });
      await forge(0.05);
      return async () => {
        await forge(0);
        await sleep(2 * GRACE_MS);
        const resolved = { kind: 'webhook_contradiction', note: 'forged' };
        await api.call('POST', '/mismatches/resolve', resolved);
      };
    },
  },
];

/** Writes until nothing more fits. */
function fill(file: string): void {
  const out = openSync(file, 'w');
  try {
    for (let bytes = FILL_BYTES; ; ) writeSync(out, Buffer.alloc(bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(out);
  }
}
