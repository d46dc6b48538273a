import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { compileOnce } from '../database/compile-once.ts';
import { placeOf } from '../database/keys/sealed-columns.ts';
import { encryptForStorage } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import { awaitsConfirmation } from '../database/restores.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { refuse } from '../texts/refuse.ts';
import { findOldAddress } from './old-address.ts';
import { findMerchant } from './read-merchants.ts';
import type { HeaderChange } from './request-headers.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
/** How long the previous secret keeps signing after a rotation. */
export const ROTATION_MS = 24 * 3_600_000;

/** A secret before it is stored. It is generated outside of the transaction, which may be retried. */
export type NewSecret = { key: Buffer; createdAt: Date };

export function generateSecret(context: Context): NewSecret {
  return { key: randomBytes(SECRET_BYTES), createdAt: context.clock.now() };
}

/** @returns the secret as shown to the merchant: `whsec_` and base64. */
export function formatSecret({ key }: Pick<NewSecret, 'key'>): string {
  return PREFIX + key.toString('base64');
}

/**
 * Adds a merchant's first or next secret. It is stored encrypted and can't be shown again.
 * @param header the name of the header whose value it is; default: it signs.
 */
export async function addSecret(
  context: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  { key, createdAt }: NewSecret,
  header: string | null = null,
): Promise<void> {
  const { vault } = context;
  const row = { merchant_seq: merchantSeq, header, created_at: createdAt };
  const ciphertext = await encryptForStorage(trx, vault, key, placeOf('merchant_secrets', row));
  await trx
    .insertInto('merchant_secrets')
    .values({ ...row, ciphertext, key_id: vault.keyId })
    .execute();
}

/**
 * Gives a merchant a new secret. The previous one keeps signing for 24 hours; older ones end at once. So a header never has
 * more than two signatures.
 * @param endsOlder false: refused while there is an older one, so that a leaked token cannot end the one in use by two rotations. @throws ConfereError `conflict`.
 */
export async function rotateSecret(
  context: Context,
  id: string,
  endsOlder = true,
): Promise<{ secret: string; oldUntil: Date }> {
  const [made, merchant] = [generateSecret(context), await findMerchant(context.db, id)];
  const now = made.createdAt;
  const oldUntil = new Date(now.getTime() + ROTATION_MS);
  await transact(context.db, async (trx, mayBeDone) => {
    // two concurrent rotations would leave three live secrets
    await trx.selectFrom('merchants').select('seq').where('seq', '=', merchant.seq).forUpdate().execute();
    // a second run would end the secret that the merchant knows, and add one that nobody has seen
    if (mayBeDone && (await isStored(context, trx, merchant.seq, made))) return;
    const until = endsOlder ? null : await readOlderUntil(trx, merchant.seq, now);
    if (until) throw refuse('secret_rotated_lately', { until: until.toISOString() });
    await trx
      .updateTable('merchant_secrets')
      .set((eb) => ({ expires_at: eb.case().when('expires_at', 'is', null).then(oldUntil).else(now).end() }))
      .where('merchant_seq', '=', merchant.seq)
      .where('header', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .execute();
    await addSecret(context, trx, merchant.seq, made);
  });
  return { secret: formatSecret(made), oldUntil };
}

/** Until when the secret before the newest one signs; null if there is none. */
export async function readOlderUntil(db: Reader, merchantSeq: number, now: Date): Promise<Date | null> {
  const older = await db
    .selectFrom('merchant_secrets')
    .select('expires_at')
    .where('merchant_seq', '=', merchantSeq)
    .where('header', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return older?.expires_at ?? null;
}

/** Returns the same of the secret of its test address. Pure. */
export function testOlderUntil({ test_rotated_at: at }: Pick<TestSecret, 'test_rotated_at'>, now: Date): Date | null {
  const until = at && new Date(at.getTime() + ROTATION_MS);
  return until && until > now ? until : null;
}

type TestSecret = { id: string; test_rotations: number; test_rotated_at: Date | null };

/** Derives the secret of a merchant's test address: nothing of it is stored, and another address, or a rotation, gives another one. */
export function deriveTestKey(
  { keys }: Pick<Context, 'keys'>,
  { id, test_rotations: rotations }: Pick<TestSecret, 'id' | 'test_rotations'>,
  testUrl: string,
): Buffer {
  const facts = ['test secret', id, testUrl, ...(rotations === 0 ? [] : [rotations])];
  return createHmac('sha256', keys.callbackIds).update(JSON.stringify(facts)).digest();
}

/** The keys that sign for a test address, newest first: for 24 hours after a rotation also the one before. */
function listTestKeys(context: Pick<Context, 'clock' | 'keys'>, merchant: TestSecret, testUrl: string): KeyObject[] {
  const { test_rotations: rotations } = merchant;
  return [rotations, ...(testOlderUntil(merchant, context.clock.now()) ? [rotations - 1] : [])].map((test_rotations) =>
    createSecretKey(deriveTestKey(context, { ...merchant, test_rotations }, testUrl)),
  );
}

/** Rotates the secret of a merchant's test address, as `rotateSecret` with `endsOlder: false`. @throws ConfereError `conflict`. */
export async function rotateTestSecret(context: Context, id: string): Promise<{ secret: string; oldUntil: Date }> {
  const now = context.clock.now();
  const { seq } = await findMerchant(context.db, id);
  return await transact(context.db, async (trx, mayBeDone) => {
    await trx.selectFrom('merchants').select('seq').where('seq', '=', seq).forUpdate().execute();
    const { test_url: url, test_rotations: before, test_rotated_at: at } = await findMerchant(trx, id);
    if (url === null) throw refuse('test_url_missing');
    const isDone = mayBeDone && at?.getTime() === now.getTime();
    const until = testOlderUntil({ test_rotated_at: at }, now);
    if (until && !isDone) throw refuse('secret_rotated_lately', { until: until.toISOString() });
    const test_rotations = isDone ? before : before + 1;
    await trx.updateTable('merchants').set({ test_rotations, test_rotated_at: now }).where('seq', '=', seq).execute();
    const key = deriveTestKey(context, { id, test_rotations }, url);
    return { secret: formatSecret({ key }), oldUntil: new Date(now.getTime() + ROTATION_MS) };
  });
}

/** Whether this secret is stored already; another rotation may have followed. */
async function isStored(
  { vault }: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  { key, createdAt }: NewSecret,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('merchant_secrets')
    .select(['ciphertext', 'merchant_seq', 'header', 'created_at'])
    .where('merchant_seq', '=', merchantSeq)
    .where('header', 'is', null)
    .where('created_at', '=', createdAt)
    .execute();
  return rows.some((row) => vault.decrypt(row.ciphertext, placeOf('merchant_secrets', row)).equals(key));
}

/** @returns the row number of a merchant's newest secret, which signs first. */
export async function findNewestSecret(db: Reader, merchantSeq: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('merchant_secrets')
    .select('seq')
    .where('merchant_seq', '=', merchantSeq)
    .where('header', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq;
}

/** Sets and removes headers of a merchant's requests. @param change by names in lower case. */
export async function writeHeaders(
  context: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  change: HeaderChange,
): Promise<void> {
  const names = Object.keys(change);
  if (names.length === 0) return;
  await trx
    .deleteFrom('merchant_secrets')
    .where('merchant_seq', '=', merchantSeq)
    .where('header', 'in', names)
    .execute();
  for (const [name, value] of Object.entries(change)) {
    if (value === null) continue;
    const made = { key: Buffer.from(value), createdAt: context.clock.now() };
    await addSecret(context, trx, merchantSeq, made, name);
  }
}

/**
 * How a merchant is reached. `keys` sign, newest first; `headers` are sent with each request; `url` null: it fetches its events.
 * `row`: what decides whether it is sent anything now.
 */
export type Credentials = {
  row: {
    state: string;
    deleted_at: Date | null;
    breaker_opened_at: Date | null;
    rate: number | null;
    is_restored: number;
  };
  url: string | null;
  format: string;
  keys: KeyObject[];
  headers: Record<string, string>;
  /** The address of tests; and the one of the messages that failed before `until`. Undefined: `url`. */
  test?: { url: string; keys: KeyObject[] } | undefined;
  before?: { url: string; until: Date } | undefined;
};

/**
 * Reads where each merchant that is not removed is reached, and its live credentials, in one statement: a change of both must not send
 * the secrets of one address to the other. @returns by row number.
 */
export async function readCredentials(
  context: Context,
  db: Reader,
  merchantSeqs: number[],
): Promise<Map<number, Credentials>> {
  const found = new Map<number, Credentials>();
  if (merchantSeqs.length === 0) return found;
  const now = context.clock.now();
  const { rows } = await selectCredentials(db, { seqs: merchantSeqs, now });
  for (const { seq, url, format, ciphertext, header, created_at, ...row } of rows) {
    const { test_url: testUrl } = row;
    const one: Credentials = found.get(seq) ?? {
      ...{ row, url, format, keys: [], headers: Object.create(null) },
      test: testUrl === null ? undefined : { url: testUrl, keys: listTestKeys(context, row, testUrl) },
      before: findOldAddress(row, now),
    };
    found.set(seq, one);
    if (ciphertext === null) continue;
    const plain = context.vault.decrypt(
      ciphertext,
      placeOf('merchant_secrets', { merchant_seq: seq, header, created_at }),
    );
    if (header === null) one.keys.push(createSecretKey(plain));
    else one.headers[header] = plain.toString();
  }
  return found;
}

const selectCredentials = compileOnce((db, { seqs, now }: { seqs: number[]; now: Date }) =>
  db
    .selectFrom('merchants')
    .leftJoin('merchant_secrets as secrets', (join) =>
      join
        .onRef('secrets.merchant_seq', '=', 'merchants.seq')
        .on((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
    )
    .select(['merchants.seq', 'url', 'format', 'ciphertext', 'header', 'secrets.created_at'])
    .select(['merchants.id', 'test_url', 'test_rotations', 'test_rotated_at', 'old_url', 'url_changed_at'])
    .select(['state', 'deleted_at', 'breaker_opened_at', 'rate', awaitsConfirmation().as('is_restored')])
    .where('merchants.seq', 'in', seqs)
    .where('deleted_at', 'is', null)
    .orderBy('secrets.seq', 'desc'),
);
