/**
 * Programs of Debian against the log: sigsum-witness countersigns what has grown and refuses the rest, spicy-litetlog verifies
 * proofs. bin/setup --engines unpacks them.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from '../../src/access/audit.ts';
import type { Context } from '../../src/context.ts';
import { sealNow } from '../../src/seal/seal-ledger.ts';
import { writeSealLeaf } from '../../src/tlog/append.ts';
import { makeCheckpoint } from '../../src/tlog/checkpoints.ts';
import { readPublicKeys, readSigningKeys } from '../../src/tlog/keys.ts';
import { hashLeaf } from '../../src/tlog/merkle.ts';
import { formatVerifier } from '../../src/tlog/note.ts';
import { proveLeaf } from '../../src/tlog/prove.ts';
import { submitNewest } from '../../src/tlog/witnesses.ts';
import { eventually } from '../support/eventually.ts';
import { openEnvironment, type TestEnvironment } from '../support/open-environment.ts';
import { dropTriggers } from '../support/read-ledger-state.ts';
import { temporaryDirectory } from '../support/start-serve.ts';

const ENGINES = path.resolve(process.env.CONFERE_ENGINES ?? '.engines');
const program = (name: string): string => path.join(ENGINES, 'usr/bin', name);
const isInstalled = ['sigsum-witness', 'sigsum-key', 'spicy-litetlog'].every((name) => existsSync(program(name)));

describe.skipIf(!isInstalled)('programs of Debian', () => {
  let env: TestEnvironment;
  let context: Context;
  let witness: ChildProcess;
  let vkey: string;
  const home = temporaryDirectory();
  const fileOf = (name: string): string => path.join(home.path, name);

  beforeAll(async () => {
    env = await openEnvironment();
    await readSigningKeys(env.context);
    const [publicKey = Buffer.alloc(32)] = await readPublicKeys(env.context.db);
    // the name that Sigsum gives a log
    const origin = `sigsum.org/v1/tree/${createHash('sha256').update(publicKey).digest('hex')}`;
    vkey = formatVerifier(origin, publicKey);
    writeFileSync(fileOf('log.vkey'), `${vkey}\n`);
    execFileSync(program('sigsum-key'), ['from-vkey', '-k', fileOf('log.vkey'), '-o', fileOf('log.pub')]);
    execFileSync(program('sigsum-key'), ['generate', '-o', fileOf('witness')]);
    const name = `sigsum.org/v1/witness/${hashOf(fileOf('witness.pub'))}`;
    const key = ['to-vkey', '-k', fileOf('witness.pub'), '-n', name, '-t', 'cosignature/v1'];
    const witnessKey = execFileSync(program('sigsum-key'), key, { encoding: 'utf8' }).trim();
    const port = await findPort();
    const state = [`--state-file=${fileOf('state')}`, `127.0.0.1:${port}`];
    const files = [`--signing-key=${fileOf('witness')}`, `--log-key=${fileOf('log.pub')}`];
    witness = spawn(program('sigsum-witness'), [...files, ...state], { stdio: 'inherit' });
    await eventually('the witness', () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      ),
    );
    context = await env.replica({ LOG_ORIGIN: origin, WITNESSES: `${witnessKey}=http://127.0.0.1:${port}` });
    await dropTriggers(context.db);
  }, 60_000);
  afterAll(async () => {
    witness.kill();
    await env[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });

  const hashOf = (file: string): string =>
    execFileSync(program('sigsum-key'), ['to-hash', '-k', file], { encoding: 'utf8' }).trim();

  async function grow(): Promise<void> {
    await audit(context, { actor: 'command', action: 'test', target: 't' });
    await sealNow(context);
    await makeCheckpoint(context);
  }
  const refusal = async () => (await context.db.selectFrom('log_witnesses').select('refused').execute())[0]?.refused;

  test('the witness countersigns each checkpoint of a log that grows', async () => {
    for (let round = 0; round < 5; round++) {
      await grow();
      expect(await submitNewest(context)).toBe(true);
    }
    expect(await context.db.selectFrom('log_cosignatures').select('checkpoint_seq').execute()).toHaveLength(5);
  });

  test('spicy-litetlog accepts each proof, and none with a byte changed', async () => {
    const seals = await context.db.selectFrom('seals').select(['position', 'hash']).orderBy('position').execute();
    expect(seals.length).toBeGreaterThan(4);
    const verify = (content: string, proof: string): boolean => {
      writeFileSync(fileOf('leaf'), content);
      writeFileSync(fileOf('leaf.spicy'), proof);
      try {
        execFileSync(program('spicy-litetlog'), ['-verify', vkey, fileOf('leaf')], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    };
    for (const seal of seals) {
      const proof = (await proveLeaf(context, { kind: 'seal', ref: seal.position }))?.replace(/^.*\n/, '') ?? '';
      const content = writeSealLeaf(seal);
      expect(verify(content, proof)).toBe(true);
      expect(verify(content.replace('seal', 'sea1'), proof)).toBe(false);
      // the proof, the checkpoint and its signature; what follows is of witnesses that it does not know
      const end = proof.indexOf('\n', proof.indexOf('\n— ') + 1) - '=\n'.length;
      for (let at = 0; at < Math.min(end, proof.length); at += 17) {
        const changed = `${proof.slice(0, at)}${proof[at] === 'A' ? 'B' : 'A'}${proof.slice(at + 1)}`;
        expect([at, verify(content, changed)]).toEqual([at, false]);
      }
    }
  });

  test('the witness refuses a rewritten leaf, a deleted last seal and an older state', async () => {
    const { db } = context;
    const restore = async (): Promise<void> => {
      await sql`DELETE FROM log_hashes`.execute(db);
      await sql`INSERT INTO log_hashes SELECT * FROM kept`.execute(db);
      await sql`DELETE FROM log_checkpoints WHERE size > 5`.execute(db);
    };
    await sql`CREATE TABLE kept AS SELECT * FROM log_hashes`.execute(db);
    await db
      .updateTable('log_hashes')
      .set({ hash: hashLeaf('x') })
      .where('position', '=', 1)
      .execute();
    await grow();
    expect(await submitNewest(context)).toBe(false);
    expect(await refusal()).toContain('is no beginning of ours');
    await restore();
    await db.updateTable('log_witnesses').set({ refused: null }).execute();
    // an older state that grew to less than the witness saw
    await sql`DELETE FROM log_hashes WHERE position >= 3`.execute(db);
    await sql`DELETE FROM log_checkpoints WHERE size > 3`.execute(db);
    await sql`DELETE FROM seals WHERE position > 3`.execute(db);
    await grow();
    expect(await submitNewest(context)).toBe(false);
    expect(await refusal()).toBe('it saw 5 leaves, and the log has 4');
    // and the same with more leaves than it saw: a fork with a proof of its own
    for (let round = 0; round < 3; round++) await grow();
    expect(await submitNewest(context)).toBe(false);
    expect(await refusal()).toContain('is no beginning of ours');
  });
});

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
