/**
 * `npm run soak:replicas`: for SOAK_SECONDS (180) four `confere serve` processes share one database while the sandbox makes
 * payments, and one of them is killed with SIGKILL every few seconds and started again. TEST_SEED chooses the victims and the
 * times. It passes if no tick of a job ran twice or was left out while its job was free, each webhook that was answered 200 is
 * booked, the ledger equals the provider's list and its books are whole, and each callback arrived under one id; else exit
 * code 1.
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { request } from 'undici';
import { compareLedger } from '../demo/compare-ledger.ts';
import {
  type Api,
  createApi,
  killProgram,
  type Program,
  type Server,
  startSandbox,
  startServe,
} from '../demo/start-programs.ts';
import { joinServer } from '../embedded/join-server.ts';
import { ensureDatabase, type OpenDatabase, openDatabase } from '../embedded/open-database.ts';
import { createRandom, type Random } from '../sandbox/domain/random.ts';
import type { Database } from '../src/database/tables.ts';
import { addDays, createCalendar } from '../src/domain/calendar.ts';
import { findNextDue } from '../src/timetable/find-due-times.ts';
import type { JobName } from '../src/timetable/list-jobs.ts';
import { checkTicks, type TickVersion, type Timetable } from './check-ticks.ts';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 180);
const SEED = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
const REPLICAS = 4;
/** A process that starts has no timetable yet: with two left, each tick has one that sees it. */
const RUNNING_MIN = 2;
const KILL_EVERY_MS = [1_500, 5_000] as const;
/** How long a kill waits for a process that runs a tick. */
const AIM_MS = 2_000;
const RATE = '10/s';
/** Planned changes of a payment happen this many times faster. */
const SPEED = 30;
const MERCHANTS = 3;
/** The share of callbacks that the last merchant refuses at first. */
const REFUSED = 0.1;
const POLL_MS = 500;
/** The longest lease is two minutes. */
const SETTLE_MS_MAX = 5 * 60_000;
const COMPARISONS = 10;
/** Another process runs an abandoned tick again, three times in all (jobs/run-tick.ts). */
const TRIES_MAX = 3;
const ZONE = 'America/Sao_Paulo';
const CONFERE = fileURLToPath(new URL('../bin/confere', import.meta.url));
const SECRET = 'whk_0123456789abcdef0123456789abcdef';
const TOKEN = 'adm_0123456789abcdef0123456789abcdef';
const KEY = 'pk_0123456789abcdef';
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** Seconds of the minute at which each job is due. Two are due more often than the lease of a dead process lasts. */
const DUE: Record<JobName, string> = {
  watch: '*/5',
  manifest: '*/5',
  reconcile_recent: '*/30',
  reconcile_week: '3',
  check_books: '8',
  daily_report: '13',
  retention: '18',
  reconcile_open: '23',
  day_manifests: '28',
  reconcile_counts: '33',
  reconcile_month: '38',
  reconcile_quarter: '43',
  check_all_books: '48',
};
const cronOf = (job: JobName): string => `${DUE[job]} * * * * *`;
const JOBS = Object.keys(DUE) as JobName[];

type Replica = { name: string; url: string; program: Program; instance: string; isReady: boolean };
/** What all replicas have in common. */
type Setup = { home: string; env: Record<string, string> };

async function soak(): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-soak-'));
  stack.defer(() => (process.env.SOAK_KEEP ? say(`kept ${home}`) : rmSync(home, { recursive: true, force: true })));
  const server = stack.use(await joinServer({ dataDir: home, log: () => undefined }));
  const target = { socketPath: server.socketPath, user: 'root' };
  const urlOf = (name: string): string =>
    `mysql://root@localhost/${name}?socket=${encodeURIComponent(target.socketPath)}`;
  for (const name of ['confere', 'sandbox']) await ensureDatabase(target, name);
  const opened: OpenDatabase<Database> = stack.use(openDatabase<Database>({ ...target, database: 'confere' }));
  const random = createRandom(String(SEED));

  const replicas: Replica[] = [];
  const balancer = stack.use(await openBalancer(replicas, random.fork('balancer')));
  const sandbox = stack.use(await startBusySandbox(home, urlOf('sandbox'), balancer.url));
  const shop = stack.use(await openShop(random.fork('shop')));
  const env = { ...makeEnvironment(sandbox.api.url), DATABASE_URL: urlOf('confere') };
  const setup = { home, env };
  await run(env, home, 'migrate');
  await recordTicks(opened.db);
  stack.defer(async () => {
    await Promise.all(replicas.map(({ program }) => program[Symbol.asyncDispose]()));
  });
  for (let n = 0; n < REPLICAS; n++) replicas.push(await startReplica(setup, `replica-${n}`));
  const api = (): Api => createApi(pick(replicas).url, '/api/v1', TOKEN);
  await addMerchants(api(), shop.url);
  await sandbox.api.call('PATCH', '/sandbox/switches', { traffic: { per_second: Number.parseInt(RATE, 10) } });

  const fromAt = new Date();
  say(`${REPLICAS} replicas for ${SECONDS} s, seed ${SEED}`);
  const killed = await killAtRandom(replicas, { setup, db: opened.db, random: random.fork('kills') });
  await sandbox.api.call('PATCH', '/sandbox/switches', { traffic: { per_second: 0 } });
  const toAt = new Date();
  say(`${killed.size} killed; ${balancer.answered.size} webhooks answered 200; waiting for the leases of the dead`);
  await untilSettled(opened.db, toAt);

  const faults: string[] = [];
  const check = (what: string, list: string[]): void => {
    say(`${list.length === 0 ? 'ok  ' : 'FAIL'} ${what}`);
    for (const one of list.slice(0, 20)) say(`       ${one}`);
    faults.push(...list);
  };
  await checkTimetable(opened.db, { killed, fromAt, toAt }, check);
  await checkLedger({ api: api(), sandbox: sandbox.api }, check);
  await untilSettled(opened.db, toAt);
  await checkWebhooks(opened.db, balancer.answered, check);
  await checkCallbacks(opened.db, shop.arrivals, check);
  await checkBooks(opened.db, check);
  check('each replica ends by SIGTERM with exit code 0', await stopAll(replicas));
  check('doctor --books', await readDoctor(setup));
  return faults.length === 0;
}

type Check = (what: string, faults: string[]) => void;

function makeEnvironment(providerUrl: string): Record<string, string> {
  const jobs = JOBS.map((job) => [`JOB_${job.toUpperCase()}`, cronOf(job)]);
  return {
    SECRET_KEY,
    PROVIDER_URL: providerUrl,
    PROVIDER_API_KEY: KEY,
    PROVIDER_TIME_ZONE: ZONE,
    WEBHOOK_SECRET: SECRET,
    ADMIN_TOKEN: TOKEN,
    WEBHOOK_GRACE: '30s',
    CALLBACK_ALLOW_PRIVATE: 'true',
    CALLBACK_RETRY_SCHEDULE: '1s,2s,5s,10s,30s',
    ...Object.fromEntries(jobs),
  };
}

async function run(env: Record<string, string>, home: string, ...args: string[]): Promise<string> {
  const inherited = { PATH: process.env.PATH, HOME: process.env.HOME, ENV_FILE: '' };
  const options = { env: { ...inherited, DATA_DIR: path.join(home, 'command'), ...env } };
  const { stdout } = await promisify(execFile)(CONFERE, args, options);
  return stdout;
}

async function startBusySandbox(home: string, databaseUrl: string, webhooks: string): Promise<Server & { api: Api }> {
  const args = ['--time-zone', ZONE, '--webhook-url', `${webhooks}/webhooks/pix`, '--webhook-token', SECRET];
  const sandbox = await startSandbox(home, { apiKey: KEY, seed: String(SEED), args, databaseUrl });
  const api = createApi(sandbox.url, '', KEY);
  await api.call('PATCH', '/sandbox/switches', {
    lives: { speed: SPEED },
    webhooks: { lose: 0.05, repeat: 0.1, late: 0.05, late_by_ms: 10_000, reorder: 0.05 },
  });
  return { ...sandbox, api };
}

async function startReplica({ home, env }: Setup, name: string): Promise<Replica> {
  const own = path.join(home, name);
  mkdirSync(own, { recursive: true });
  const program = await startServe(own, { env: { ...env, DATA_DIR: path.join(own, 'data') } });
  return { name, url: program.url, program, instance: readInstance(program), isReady: true };
}

/** The name that a process has in leases, from its log. */
function readInstance({ logFile, child }: Program): string {
  const lines = readFileSync(logFile, 'utf8').split('\n').reverse();
  const line = lines.find((one) => one.includes(`"pid":${child.pid},`) || one.includes(`"pid":${child.pid}}`));
  if (!line) throw new Error(`no line of process ${child.pid} in ${logFile}`);
  return (JSON.parse(line) as { instance: string }).instance;
}

function pick<T extends Pick<Replica, 'isReady'>>(replicas: T[], random?: Random): T {
  const ready = replicas.filter(({ isReady }) => isReady);
  const chosen = random ? ready[random.int(0, ready.length - 1)] : ready[0];
  if (!chosen) throw new Error('no replica is ready');
  return chosen;
}

/**
 * Kills a process every few seconds and starts it again meanwhile, until SECONDS have passed and all run again. Every other
 * kill aims at a process that runs a tick.
 * @returns when each process died, by the name that it had in leases.
 */
async function killAtRandom(
  replicas: Replica[],
  { setup, db, random }: { setup: Setup; db: Kysely<Database>; random: Random },
): Promise<Map<string, Date>> {
  const killed = new Map<string, Date>();
  const starts = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const endMs = Date.now() + SECONDS * 1000;
  while (Date.now() < endMs) {
    await sleep(random.int(...KILL_EVERY_MS));
    if (failures.length > 0) throw failures[0];
    if (replicas.filter(({ isReady }) => isReady).length <= RUNNING_MIN) continue;
    const victim = (random.chance(0.5) ? await findTickHolder(db, replicas) : undefined) ?? pick(replicas, random);
    victim.isReady = false;
    await killProgram(victim.program);
    killed.set(victim.instance, new Date());
    const start = startReplica(setup, victim.name)
      .then((fresh) => void Object.assign(victim, fresh))
      .catch((error: unknown) => void failures.push(error))
      .finally(() => starts.delete(start));
    starts.add(start);
  }
  await Promise.all(starts);
  if (failures.length > 0) throw failures[0];
  return killed;
}

async function findTickHolder(db: Kysely<Database>, replicas: Replica[]): Promise<Replica | undefined> {
  for (const endMs = Date.now() + AIM_MS; Date.now() < endMs; ) {
    const open = await db.selectFrom('job_ticks').select('holder').where('finished_at', 'is', null).execute();
    const holders = new Set(open.map(({ holder }) => holder));
    const found = replicas.find(({ isReady, instance }) => isReady && holders.has(instance));
    if (found) return found;
  }
  return undefined;
}

type Listening = AsyncDisposable & { url: string };

export async function listen(handler: http.RequestListener): Promise<Listening> {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(incoming: http.IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Passes each webhook to a replica that is ready, and answers 502 if it dies meanwhile: then the sandbox sends it again. */
export async function openBalancer(
  replicas: Pick<Replica, 'url' | 'isReady'>[],
  random: Random,
): Promise<Listening & { answered: Set<string> }> {
  const answered = new Set<string>();
  const pass = async (incoming: http.IncomingMessage): Promise<number> => {
    const body = await readBody(incoming);
    const { authorization = '', 'content-type': type = '' } = incoming.headers;
    const headers = { authorization, 'content-type': type };
    const answer = await request(`${pick(replicas, random).url}${incoming.url}`, { method: 'POST', headers, body });
    const { id } = (await answer.body.json()) as { id?: string };
    if (answer.statusCode === 200 && id) answered.add(id);
    return answer.statusCode;
  };
  const listening = await listen((incoming, outgoing) => {
    void pass(incoming)
      .catch(() => 502)
      .then((status) => outgoing.writeHead(status).end());
  });
  return { ...listening, answered };
}

type Arrival = { merchant: string; transaction: string; sequence: number; type: string; id: string };

/** The merchants. The last one refuses some callbacks at first. */
async function openShop(random: Random): Promise<Listening & { arrivals: Arrival[] }> {
  const arrivals: Arrival[] = [];
  const listening = await listen((incoming, outgoing) => {
    void readBody(incoming).then(
      (body) => {
        if (incoming.url === `/${MERCHANTS - 1}` && random.chance(REFUSED)) return outgoing.writeHead(503).end();
        const { type, data } = JSON.parse(body.toString()) as {
          type: string;
          data: { transaction: { id: string; sequence: number } };
        };
        const { id: transaction, sequence } = data.transaction;
        const id = String(incoming.headers['webhook-id']);
        arrivals.push({ merchant: incoming.url ?? '', transaction, sequence, type, id });
        return outgoing.end();
      },
      () => outgoing.destroy(),
    );
  });
  return { ...listening, arrivals };
}

async function addMerchants(api: Api, url: string): Promise<void> {
  for (let n = 0; n < MERCHANTS; n++) {
    const since = { events_since: '2020-01-01T00:00:00Z' };
    await api.call('POST', '/merchants', { name: `soak ${n}`, url: `${url}/${n}`, ...since });
  }
}

/** Triggers record each version of a tick, in the order in which the database writes them. */
async function recordTicks(db: Kysely<Database>): Promise<void> {
  const columns = sql.raw('job, due_at, holder, tries, lease_until, finished_at');
  const values = sql.raw('NEW.job, NEW.due_at, NEW.holder, NEW.tries, NEW.lease_until, NEW.finished_at');
  await sql`CREATE TABLE tick_versions (
    seq BIGINT AUTO_INCREMENT PRIMARY KEY, at DATETIME(3) NOT NULL, job VARBINARY(64), due_at DATETIME(3),
    holder VARBINARY(64), tries INT, lease_until DATETIME(3), finished_at DATETIME(3))`.execute(db);
  for (const change of ['INSERT', 'UPDATE'])
    await sql`CREATE TRIGGER ${sql.raw(`record_${change}`)} AFTER ${sql.raw(change)} ON job_ticks FOR EACH ROW
      INSERT INTO tick_versions (at, ${columns}) VALUES (NOW(3), ${values})`.execute(db);
}

/** Waits until webhooks, callbacks, runs and ticks that were due before `toAt` have ended. */
async function untilSettled(db: Kysely<Database>, toAt: Date): Promise<void> {
  let left = '';
  for (const endMs = Date.now() + SETTLE_MS_MAX; Date.now() < endMs; await sleep(POLL_MS)) {
    const { rows } = await sql<{ what: string; n: number }>`
      SELECT 'webhooks' AS what, COUNT(*) AS n FROM webhooks WHERE state NOT IN ('applied', 'quarantined')
      UNION ALL SELECT 'callbacks', COUNT(*) FROM callbacks WHERE state <> 'delivered'
      UNION ALL SELECT 'ticks', COUNT(*) FROM job_ticks WHERE finished_at IS NULL AND due_at <= ${toAt}`.execute(db);
    left = rows.flatMap(({ what, n }) => (Number(n) > 0 ? [`${n} ${what}`] : [])).join(', ');
    if (!left) return;
  }
  say(`did not end: ${left}`);
}

async function checkTimetable(
  db: Kysely<Database>,
  { killed, fromAt, toAt }: { killed: Map<string, Date>; fromAt: Date; toAt: Date },
  check: Check,
): Promise<void> {
  const { rows } = await sql<Record<string, unknown>>`SELECT * FROM tick_versions ORDER BY seq`.execute(db);
  const versions = rows.map(
    (row): TickVersion => ({
      job: String(row.job),
      dueAt: row.due_at as Date,
      holder: String(row.holder),
      tries: Number(row.tries),
      leaseUntil: row.lease_until as Date,
      finishedAt: row.finished_at as Date | null,
      at: row.at as Date,
    }),
  );
  const timetables = JOBS.map((job) => listDue(job, fromAt, toAt));
  const ended = versions.filter(({ dueAt }) => dueAt <= toAt);
  const verdict = checkTicks(ended, timetables, killed, new Date());
  const leftOut = [...Map.groupBy(verdict.leftOut, (job) => job)].map(([job, list]) => `${list.length} of ${job}`);
  check(
    `ticks: ${verdict.due} due, ${verdict.ran} ran, ${verdict.takenOver} of them again after a kill; left out while the one before was held: ${leftOut.join(', ') || 'none'}`,
    verdict.faults,
  );
  const errors = await db
    .selectFrom('job_ticks')
    .select(['job', 'due_at', 'holder', 'tries', 'error'])
    .where('error', 'is not', null)
    .execute();
  const failed = errors.filter(({ holder, tries }) => !(tries === TRIES_MAX && killed.has(holder)));
  check(
    `no tick failed, but for ${errors.length - failed.length} whose ${TRIES_MAX} processes were all killed`,
    failed.map(({ job, due_at, error }) => `${job} of ${due_at.toISOString()}: ${error}`),
  );
}

function listDue(job: JobName, fromAt: Date, toAt: Date): Timetable {
  const dueAt: Date[] = [];
  let nextAt = findNextDue(cronOf(job), ZONE, fromAt);
  for (; nextAt < toAt; nextAt = findNextDue(cronOf(job), ZONE, nextAt)) dueAt.push(nextAt);
  return { job, dueAt, nextAt, isMadeUp: job !== 'watch' };
}

/** The sandbox's planned changes go on: what differs must differ no more after a further reading. */
async function checkLedger({ api, sandbox }: { api: Api; sandbox: Api }, check: Check): Promise<void> {
  const today = createCalendar(ZONE).dayOf(new Date());
  const days = { from: addDays(today, -1), to: today };
  let compared = await compareLedger(api, sandbox, days);
  for (let n = 0; n < COMPARISONS && compared.differences.length > 0; n++) {
    const { id } = await api.call<{ id: string }>('POST', '/reconciliations', days);
    for (const endMs = Date.now() + SETTLE_MS_MAX; Date.now() < endMs; await sleep(POLL_MS)) {
      const { state } = await api.call<{ state: string }>('GET', `/reconciliations/${id}`);
      if (state !== 'queued' && state !== 'running') break;
    }
    compared = await compareLedger(api, sandbox, days);
  }
  const { ours, theirs, events, differences } = compared;
  check(`ledger: ${ours} transactions, the provider's ${theirs} with ${events} events`, differences);
}

async function checkWebhooks(db: Kysely<Database>, answered: Set<string>, check: Check): Promise<void> {
  const rows = await db.selectFrom('webhooks').select(['hash', 'state']).execute();
  const states = new Map(rows.map(({ hash, state }) => [`wh_${hash.toString('hex').slice(0, 32)}`, state]));
  const lost = [...answered].filter((id) => states.get(id) !== 'applied');
  check(
    `webhooks: ${answered.size} answered 200, each applied`,
    lost.map((id) => `${id}: ${states.get(id) ?? 'missing'}`),
  );
}

async function checkCallbacks(db: Kysely<Database>, arrivals: Arrival[], check: Check): Promise<void> {
  const { rows } = await sql<{ webhook_id: string; type: string }>`SELECT webhook_id, type FROM callbacks`.execute(db);
  const { events } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('events'))
    .executeTakeFirstOrThrow();
  const arrived = new Set(arrivals.map(({ id }) => id));
  const faults = rows.filter((row) => !arrived.has(row.webhook_id)).map((row) => `${row.webhook_id} did not arrive`);
  if (rows.length !== Number(events) * MERCHANTS) faults.push(`${rows.length} callbacks of ${events} events`);
  const named = Map.groupBy(arrivals, (one) => `${one.merchant} ${one.transaction} ${one.sequence} ${one.type}`);
  for (const [name, list] of named) if (new Set(list.map(({ id }) => id)).size > 1) faults.push(`${name}: two ids`);
  const firsts = Map.groupBy(
    [...named.values()].flatMap(([first]) => (first ? [first] : [])),
    (one) => `${one.merchant} ${one.transaction}`,
  );
  for (const [name, list] of firsts)
    if (list.some((one, index) => one.sequence < (list[index - 1]?.sequence ?? 0)))
      faults.push(`${name}: not in order`);
  check(
    `callbacks: ${rows.length} to ${MERCHANTS} merchants, ${arrivals.length - named.size} of them repeated`,
    faults,
  );
}

async function checkBooks(db: Kysely<Database>, check: Check): Promise<void> {
  const { rows } = await sql<{ entry: number; sum_cents: bigint }>`
    SELECT entry_seq AS entry, SUM(amount_cents) AS sum_cents FROM postings GROUP BY entry_seq HAVING SUM(amount_cents) <> 0`.execute(
    db,
  );
  const critical = await db
    .selectFrom('mismatches')
    .select(['kind', 'scope'])
    .where('severity', '=', 'critical')
    .execute();
  check(
    'each entry sums to zero',
    rows.map(({ entry }) => `entry ${entry}`),
  );
  check(
    'no critical mismatch',
    critical.map(({ kind, scope }) => `${kind} ${scope}`),
  );
}

async function stopAll(replicas: Replica[]): Promise<string[]> {
  const codes = await Promise.all(
    replicas.map(
      ({ program: { child } }) =>
        new Promise<number | null>((resolve) => {
          child.once('exit', resolve);
          child.kill('SIGTERM');
        }),
    ),
  );
  return codes.flatMap((code, index) => (code === 0 ? [] : [`${replicas[index]?.name}: ${code}`]));
}

/** Doctor also checks the machine: only its checks of the books count here. */
async function readDoctor({ home, env }: Setup): Promise<string[]> {
  const out = await run(env, home, 'doctor', '--books').catch((error: { stdout?: string }) => error.stdout ?? '');
  return /^ok {4}books/m.test(out) ? [] : out.split('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit((await soak()) ? 0 : 1);
