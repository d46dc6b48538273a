/**
 * The keys that sign the log's checkpoints, and day manifests before them. The first one is made once, by the process that needs it first. A rotation adds one and
 * ends the one before after an overlap, in which both sign: a witness or a merchant that knows one of the two can verify. Private keys are stored
 * encrypted, as merchants' secrets are, until they end; public keys stay, so that old manifests can be verified.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { placeOf } from '../database/keys/sealed-columns.ts';
import { encryptForStorage } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { DAY_MS } from '../domain/calendar.ts';
import { formatVerifier } from './note.ts';
import { readOrigin, readOrigins } from './origins.ts';
import { generateSigningKey, presentPublicKey, type SigningKey } from './signing-key.ts';

/** How long the key before keeps signing after a rotation. */
export const OVERLAP_DAYS = 30;

type NewKey = ReturnType<typeof generateSigningKey>;

/** Returns the keys that sign now, the newest first. Makes the first key. */
export async function readSigningKeys(context: Context): Promise<SigningKey[]> {
  await ensureKey(context);
  const now = context.clock.now();
  const rows = await context.db
    .selectFrom('manifest_keys')
    .select(['id', 'public_key', 'ciphertext'])
    .where((eb) => eb.or([eb('signs_until', 'is', null), eb('signs_until', '>', now)]))
    .orderBy('generation', 'desc')
    .execute();
  return rows.flatMap(({ id, public_key: publicKey, ciphertext }) => {
    if (ciphertext === null) return [];
    return [
      { id, publicKey, privateKey: importKey(context.vault.decrypt(ciphertext, placeOf('manifest_keys', { id }))) },
    ];
  });
}

/** Returns the 32 bytes of each public key. */
export async function readPublicKeys(db: Reader): Promise<Buffer[]> {
  const rows = await db.selectFrom('manifest_keys').select('public_key').orderBy('generation', 'desc').execute();
  return rows.map((row) => row.public_key);
}

/** Returns all public keys as JSON Web Keys, the newest first. Makes the first key. */
export async function listPublicKeys(context: Context) {
  await ensureKey(context);
  const { origin } = await readOrigin(context);
  const earlier = (await readOrigins(context.db)).filter((one) => one.origin !== origin).reverse();
  const rows = await context.db.selectFrom('manifest_keys').selectAll().orderBy('generation', 'desc').execute();
  return rows.map((row) => ({
    ...presentPublicKey(row.public_key),
    vkey: formatVerifier(origin, row.public_key),
    earlier_vkeys: earlier.map((one) => formatVerifier(one.origin, row.public_key)),
    created_at: row.created_at.toISOString(),
    signs_until: row.signs_until?.toISOString() ?? null,
  }));
}

export type RotatedKey = { kid: string; old_kid: string | null; old_signs_until: string | null };

/**
 * Adds a key, which signs from now on. The one before keeps signing beside it for an overlap; those that end by this sign
 * no more, and their private keys are dropped.
 */
export async function rotateManifestKey(context: Context, overlapDays = OVERLAP_DAYS): Promise<RotatedKey> {
  const made = generateSigningKey();
  const now = context.clock.now();
  const until = new Date(now.getTime() + overlapDays * DAY_MS);
  return await transact(
    context.db,
    async (trx) => {
      const known = await trx
        .selectFrom('manifest_keys')
        .selectAll()
        .orderBy('generation', 'desc')
        .forUpdate()
        .execute();
      const [newest] = known;
      // a retry after a COMMIT that succeeded, but whose response was lost
      const isDone = newest?.id === made.id;
      const before = isDone ? known[1] : known.find((one) => one.signs_until === null);
      const done = { kid: made.id, old_kid: before?.id ?? null, old_signs_until: before ? until.toISOString() : null };
      if (isDone) return done;
      if (before)
        await trx.updateTable('manifest_keys').set({ signs_until: until }).where('seq', '=', before.seq).execute();
      await insertKey(context, trx, made, (newest?.generation ?? 0) + 1);
      await trx.updateTable('manifest_keys').set({ ciphertext: null }).where('signs_until', '<=', now).execute();
      return done;
    },
    { retryDuplicates: true },
  );
}

/** Two processes that make it at once: the generation is unique, and the slower one finds the other's. */
async function ensureKey(context: Context): Promise<void> {
  const findLive = (db: Context['db']) =>
    db
      .selectFrom('manifest_keys')
      .select('seq')
      .where('signs_until', 'is', null)
      .where('ciphertext', 'is not', null)
      .executeTakeFirst();
  if (await findLive(context.db)) return;
  const made = generateSigningKey();
  await transact(
    context.db,
    async (trx) => {
      if (await findLive(trx)) return;
      const { last } = await trx
        .selectFrom('manifest_keys')
        .select((eb) => eb.fn.max<number | null>('generation').as('last'))
        .executeTakeFirstOrThrow();
      await insertKey(context, trx, made, (last ?? 0) + 1);
    },
    { retryDuplicates: true },
  );
}

async function insertKey(context: Context, trx: Transaction<Database>, made: NewKey, generation: number) {
  const plain = made.privateKey.export({ format: 'der', type: 'pkcs8' });
  const ciphertext = await encryptForStorage(trx, context.vault, plain, placeOf('manifest_keys', made));
  const row = {
    ...{ generation, id: made.id, public_key: made.publicKey, created_at: context.clock.now() },
    ...{ ciphertext, key_id: context.vault.keyId },
  };
  await trx.insertInto('manifest_keys').values(row).execute();
}

function importKey(der: Buffer): KeyObject {
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}
