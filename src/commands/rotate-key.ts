import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Transaction } from 'kysely';
import { auditChange } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { resealAll } from '../database/keys/reseal.ts';
import { adoptNextKey, writeNextKey } from '../database/keys/secret-key-file.ts';
import { KEY_CHECK } from '../database/keys/settings.ts';
import { createVault, type Place, type Vault } from '../database/keys/vault.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { ConfereError, wrongUse } from '../domain/errors.ts';
import { readInput } from './parse-options.ts';
import { print, withContext } from './with-context.ts';

const KEY_BYTES = 32;

type Options = { newKeyFile?: string; json?: boolean };
type Rotated = { key_id: string; old_key_id: string; secrets: number };

export function rotateKeyCommand(program: Command): void {
  program
    .command('rotate-key')
    .description('encrypt all stored secrets with another SECRET_KEY; then restart each replica with it')
    .option('--new-key-file <file>', 'the new key: base64 of 32 bytes; - for standard input')
    .option('--json', 'print one JSON object')
    .action(async ({ newKeyFile, json }: Options) => {
      const given = newKeyFile === undefined ? undefined : await readKey(newKeyFile);
      await withContext({}, async (context) => {
        const inFile = context.config.SECRET_KEY === undefined;
        if (!inFile && given === undefined) {
          throw wrongUse('SECRET_KEY is set: give the new one with --new-key-file');
        }
        const done = await rotate(context, given ?? randomBytes(KEY_BYTES), inFile);
        print(json, done, describe(done, inFile));
      });
    });
}

async function readKey(file: string): Promise<Buffer> {
  const text = (await readInput(file)).trim();
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_BYTES && key.toString('base64') === text) return key;
  throw wrongUse('the new key must be base64 of 32 bytes (openssl rand -base64 32)');
}

/** Rotates in one transaction: after a crash at any instant, all secrets are encrypted with the same key. */
async function rotate(context: Context, key: Buffer, inFile: boolean): Promise<Rotated> {
  const { config, vault } = context;
  const next = createVault(key, vault.binds);
  if (next.keyId === vault.keyId) throw wrongUse('that is the key that is in use');
  const file = inFile ? writeNextKey(config.DATA_DIR, key) : undefined;
  const target = `key:${next.keyId}`;
  const secrets = await auditChange(context, (inner) => transact(inner.db, (trx) => reencrypt(trx, vault, next)), {
    actor: 'command',
    action: 'secrets.rotate_key',
    target,
  });
  if (file !== undefined) adoptNextKey(config.DATA_DIR, file);
  const done = { key_id: next.keyId, old_key_id: vault.keyId, secrets };
  return done;
}

async function reencrypt(trx: Transaction<Database>, old: Vault, next: Vault): Promise<number> {
  // each writer of a secret locks this row in share mode until it commits
  const check = await trx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', KEY_CHECK)
    .forUpdate()
    .executeTakeFirstOrThrow();
  // a retry after a COMMIT that succeeded, but whose response was lost
  if (check.value.equals(next.check))
    return await resealAll(
      (work) => work(trx),
      () => undefined,
      next.keyId,
    );
  if (!check.value.equals(old.check)) throw new ConfereError('conflict', 'the key is being rotated by someone else');
  const encryptAgain = (sealed: Buffer, place: Place): Buffer => next.encrypt(old.decrypt(sealed, place), place);
  const secrets = await resealAll((work) => work(trx), encryptAgain, next.keyId);
  await trx.updateTable('settings').set({ value: next.check }).where('name', '=', KEY_CHECK).execute();
  return secrets;
}

function describe({ key_id, old_key_id, secrets }: Rotated, inFile: boolean): string {
  const then = inFile
    ? 'DATA_DIR/secret.key holds the new key: back it up, and start serve again'
    : 'set SECRET_KEY to the new key on every replica and start each again; until then it signs no callback';
  return `encrypted ${secrets} secrets anew, with key ${key_id} in place of ${old_key_id}\n${then}`;
}
