/**
 * Programs of Debian against the log of a running service: sigsum-witness countersigns what has grown and refuses the rest,
 * spicy-litetlog verifies proofs. bin/setup --engines unpacks them.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../demo/start-programs.ts';
import { openDatabase } from '../../embedded/open-database.ts';
import type { Database } from '../../src/database/tables.ts';
import { writeSealLeaf } from '../../src/tlog/append.ts';
import { listPublicKeys } from '../../src/tlog/keys.ts';
import { formatVerifier } from '../../src/tlog/note.ts';
import { createTestDatabase } from '../support/create-test-database.ts';
import { eventually } from '../support/eventually.ts';
import { makeRow } from '../support/make-provider-rows.ts';
import { openEnvironment } from '../support/open-environment.ts';
import { dropTriggers } from '../support/read-ledger-state.ts';
import { runCommandInProcess } from '../support/run-command-in-process.ts';
import {
  ADMIN_TOKEN,
  API_KEY,
  SECRET_KEY,
  type Served,
  startServe,
  temporaryDirectory,
  urlOf,
} from '../support/start-serve.ts';
import { TestProvider } from '../support/test-provider.ts';

const ENGINES = path.resolve(process.env.CONFERE_ENGINES ?? '.engines');
const program = (name: string): string => path.join(ENGINES, 'usr/bin', name);
const isInstalled = ['sigsum-witness', 'sigsum-key', 'spicy-litetlog'].every((name) => existsSync(program(name)));
/** A new process makes a checkpoint at once, and submits it within 20 s. */
const TEST_MS = 300_000;

type Place = Awaited<ReturnType<typeof createTestDatabase>>;

describe.skipIf(!isInstalled)('programs of Debian', () => {
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryDirectory());
  const fileOf = (name: string): string => path.join(home.path, name);
  let provider: TestProvider;
  let settings: Record<string, string>;
  let vkey: string;
  let place: Place;
  let served: Served;

  beforeAll(async () => {
    provider = stack.use(await new TestProvider(API_KEY).listen());
    place = await createTestDatabase();
    {
      await using env = await openEnvironment({ SECRET_KEY }, place);
      const [key] = await listPublicKeys(env.context);
      const publicKey = Buffer.from(key?.x ?? '', 'base64url');
      // the name that Sigsum gives a log
      const origin = `sigsum.org/v1/tree/${createHash('sha256').update(publicKey).digest('hex')}`;
      vkey = formatVerifier(origin, publicKey);
      settings = { LOG_ORIGIN: origin };
    }
    settings.WITNESSES = await startWitness();
    served = await start(place);
    stack.defer(() => served[Symbol.asyncDispose]());
  }, 120_000);
  afterAll(() => stack.disposeAsync());

  /** @returns its part of WITNESSES. */
  async function startWitness(): Promise<string> {
    writeFileSync(fileOf('log.vkey'), `${vkey}\n`);
    execFileSync(program('sigsum-key'), ['from-vkey', '-k', fileOf('log.vkey'), '-o', fileOf('log.pub')]);
    execFileSync(program('sigsum-key'), ['generate', '-o', fileOf('witness')]);
    const hash = execFileSync(program('sigsum-key'), ['to-hash', '-k', fileOf('witness.pub')], { encoding: 'utf8' });
    const name = `sigsum.org/v1/witness/${hash.trim()}`;
    const key = ['to-vkey', '-k', fileOf('witness.pub'), '-n', name, '-t', 'cosignature/v1'];
    const witnessKey = execFileSync(program('sigsum-key'), key, { encoding: 'utf8' }).trim();
    const port = await findFreePort();
    const state = [`--state-file=${fileOf('state')}`, `127.0.0.1:${port}`];
    const files = [`--signing-key=${fileOf('witness')}`, `--log-key=${fileOf('log.pub')}`];
    const witness = spawn(program('sigsum-witness'), [...files, ...state], { stdio: 'ignore' });
    stack.defer(() => void witness.kill());
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/`)
        .then(() => true)
        .catch(() => false);
    await eventually('the witness', answers);
    return `${witnessKey}=http://127.0.0.1:${port}`;
  }

  function start(on: Place, directory = 'own'): Promise<Served> {
    mkdirSync(fileOf(directory), { recursive: true });
    return startServe({ home: fileOf(directory), databaseUrl: urlOf(on), providerUrl: provider.url, env: settings });
  }
  const opened = new Map<string, Kysely<Database>>();
  function open({ database, ...target } = place): Kysely<Database> {
    const db = opened.get(database) ?? stack.use(openDatabase<Database>({ ...target, database })).db;
    opened.set(database, db);
    return db;
  }

  /** A payment by its webhook, and the seal of it by the service. */
  async function grow(on = place): Promise<void> {
    const db = open(on);
    const before = await countEntries();
    const { id } = provider.put(makeRow());
    provider.addEvent(id, 'paid');
    expect((await served.webhook({ id: before + 1, transaction_id: id, status: 'paid' })).status).toBe(200);
    await eventually('the seal of a payment', async () => {
      const head = await db.selectFrom('seals').select('entry_seq').orderBy('position', 'desc').executeTakeFirst();
      return (await countEntries()) > before && (head?.entry_seq ?? 0) > before;
    });
    async function countEntries(): Promise<number> {
      const row = await db.selectFrom('entries').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
      return row?.seq ?? 0;
    }
  }

  async function restart(on = place, directory = 'own'): Promise<void> {
    await served[Symbol.asyncDispose]();
    served = await start(on, directory);
  }
  const awaitCosignature = () =>
    eventually('a cosignature', async () => {
      const { leaves, signed } = await readSizes();
      return signed === leaves;
    });
  const readSizes = async (db = open()) => {
    const leaves = await sql<{ size: number }>`SELECT COUNT(*) AS size FROM log_hashes WHERE level = 0`.execute(db);
    const signed = await sql<{ size: number | null }>`SELECT MAX(size) AS size FROM log_checkpoints
      JOIN log_cosignatures ON checkpoint_seq = seq`.execute(db);
    return { leaves: Number(leaves.rows[0]?.size), signed: Number(signed.rows[0]?.size) };
  };
  const refusalOf = async (on: Place) =>
    (await open(on).selectFrom('log_witnesses').select('refused').execute())[0]?.refused;
  const awaitRefusal = (on: Place, says: string) =>
    eventually('the refusal', async () => (await refusalOf(on))?.includes(says) === true);

  test(
    'the witness countersigns each checkpoint of a running service, whose proofs spicy-litetlog accepts, and none with a byte changed',
    async () => {
      for (let round = 0; round < 3; round++) {
        for (let payment = 0; payment <= round; payment++) await grow();
        await restart();
        await awaitCosignature();
      }
      const missing = sql`SELECT size FROM log_checkpoints AS made LEFT JOIN log_cosignatures ON checkpoint_seq = made.seq
        JOIN log_origins ON log_origins.seq = origin_seq WHERE witness IS NULL AND origin = ${settings.LOG_ORIGIN}`;
      expect((await missing.execute(open())).rows).toEqual([]);
      const seals = await open().selectFrom('seals').select(['position', 'hash']).orderBy('position').execute();
      expect(seals.length).toBeGreaterThan(4);
      for (const seal of seals) await verifyProof(seal);
    },
    TEST_MS,
  );

  async function verifyProof(seal: { position: number; hash: Buffer }): Promise<void> {
    const response = await fetch(`${served.url}/api/v1/log/proof?seal=${seal.position}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const proof = (await response.text()).replace(/^.*\n/, '');
    const content = writeSealLeaf(seal);
    expect(verify(content, proof)).toBe(true);
    for (let at = 0; at < content.length; at += 9)
      expect([at, verify(changeAt(content, at), proof)]).toEqual([at, false]);
    // the proof, the checkpoint and its signature; what follows is of witnesses that it does not know
    const end = proof.indexOf('\n', proof.indexOf('\n— ') + 1) - '=\n'.length;
    for (let at = 0; at < end; at += 17) expect([at, verify(content, changeAt(proof, at))]).toEqual([at, false]);
  }

  function verify(content: string, proof: string): boolean {
    writeFileSync(fileOf('leaf'), content);
    writeFileSync(fileOf('leaf.spicy'), proof);
    try {
      execFileSync(program('spicy-litetlog'), ['-verify', vkey, fileOf('leaf')], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  test(
    'the witness refuses a restored older backup, which confere restore says, and one that was restored by hand',
    async () => {
      const environment = { DATABASE_URL: urlOf(place), SECRET_KEY, DATA_DIR: fileOf('own/data'), ...settings };
      const to = fileOf('backup');
      const made = await runCommandInProcess(['backup', '--to', to], environment);
      expect(made).toMatchObject({ code: 0, err: '' });
      await grow();
      await restart();
      await awaitCosignature();
      const older = await createTestDatabase('empty');
      const data = fileOf('older/data');
      const restoring = { ...environment, DATABASE_URL: urlOf(older), DATA_DIR: data };
      const restored = await runCommandInProcess(['restore', '--from', to], restoring);
      expect(restored.out).toContain('another name than before; a witness refused its newest checkpoint');
      // without its record: somebody put the files back
      const db = open(older);
      await dropTriggers(db);
      for (const table of ['restores', 'log_origins'])
        await sql`DELETE FROM ${sql.table(table)} ORDER BY seq DESC LIMIT 1`.execute(db);
      await sql`DELETE FROM audit WHERE action = 'restores.record'`.execute(db);
      await restart(older, 'older');
      await grow(older);
      await restart(older, 'older');
      // cut, or grown again by others
      await awaitRefusal(older, 'leaves');
    },
    TEST_MS,
  );

  test(
    'the witness refuses a deleted last seal, and a chain that was built again over a changed entry',
    async () => {
      const db = open();
      await dropTriggers(db);
      const { leaves } = await readSizes();
      const tables = ['seals', 'seal_stragglers', 'balance_spans', 'log_hashes', 'log_checkpoints', 'log_cosignatures'];
      await served[Symbol.asyncDispose]();
      await sql`DELETE FROM log_hashes WHERE level = 0 AND position = ${leaves - 1}`.execute(db);
      await sql`DELETE FROM log_checkpoints WHERE size = ${leaves}`.execute(db);
      await sql`DELETE FROM seals ORDER BY position DESC LIMIT 1`.execute(db);
      served = await start(place);
      await eventually('the seal again', async () => (await readSizes()).leaves === leaves);
      await restart();
      await awaitRefusal(place, `its checkpoint of ${leaves} leaves is no beginning of ours`);
      await served[Symbol.asyncDispose]();
      await sql`UPDATE log_witnesses SET refused = NULL`.execute(db);
      await sql`UPDATE entries SET at_wall = '2020-01-01 00:00:00' ORDER BY seq LIMIT 1`.execute(db);
      for (const table of tables) await sql`DELETE FROM ${sql.table(table)}`.execute(db);
      served = await start(place);
      while ((await readSizes()).leaves <= leaves) await grow();
      await restart();
      await awaitRefusal(place, 'is no beginning of ours');
    },
    TEST_MS,
  );
});

function changeAt(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}
