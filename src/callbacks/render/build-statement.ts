import { createHash } from 'node:crypto';
import type { Day } from '../../domain/calendar.ts';

/** Version 1 was signed by itself; the text of version 2 is a leaf of the log. */
const VERSION = 2;

/** A message of the day. `cents`: the amount of its transaction as known now. */
export type Member = { id: string; type: string; cents: bigint };

/** A day manifest's content. A change of any of it makes a revision. */
export type ManifestFacts = {
  merchant: string;
  day: Day;
  /** The provider's time zone, whose days these are. */
  zone: string;
  messages: number;
  /** By the type's bytes. */
  types: { type: string; count: number; sumCents: bigint }[];
  idsDigest: Buffer;
  /** Whether the day was read or counted at the provider after its end, and whether its report is closed. */
  proven: boolean;
  closed: boolean;
};

/** A revision of it, and the newest position of the ledger's hash chain. */
export type ManifestRevision = {
  revision: number;
  madeAt: Date;
  chain: { position: number; hash: Buffer } | undefined;
  /** SHA-256 of the messages: see `digestMessages`. */
  messagesDigest: Buffer;
  /** Random: the hash of a leaf is public, and few facts could be guessed. */
  salt: string;
};

/** Returns the webhook-ids as their digest covers them: sorted by bytes, each with a line feed. Pure. */
export function listIds(ids: readonly string[]): string {
  return [...ids]
    .sort(compareBytes)
    .map((id) => `${id}\n`)
    .join('');
}

/** SHA-256 of the sorted webhook-ids. Pure. */
export function digestIds(ids: readonly string[]): Buffer {
  return createHash('sha256').update(listIds(ids)).digest();
}

/** SHA-256 of the messages with their types and cents, sorted by id, each with a line feed. Pure. */
export function digestMessages(members: readonly Member[]): Buffer {
  return digestIds(members.map(({ id, type, cents }) => `${id} ${type} ${cents}`));
}

/** Counts messages by type, and sums their amounts. Pure. */
export function sumTypes(members: readonly Member[]): ManifestFacts['types'] {
  const byType = Map.groupBy(members, ({ type }) => type);
  return [...byType]
    .map(([type, own]) => ({ type, count: own.length, sumCents: own.reduce((sum, { cents }) => sum + cents, 0n) }))
    .sort((a, b) => compareBytes(a.type, b.type));
}

/** Returns the text of the leaf: one line of JSON. Cents are texts, which no reader of JSON rounds. Pure. */
export function writeStatement(
  facts: ManifestFacts,
  { revision, madeAt, chain, messagesDigest, salt }: ManifestRevision,
): string {
  const { merchant, day, zone, ...rest } = presentFacts(facts);
  return JSON.stringify({
    ...{ version: VERSION, merchant, day, zone, revision, made_at: madeAt.toISOString(), ...rest },
    messages_sha256: messagesDigest.toString('hex'),
    chain: chain ? { position: chain.position, hash: chain.hash.toString('hex') } : null,
    salt,
  });
}

/** Hash of the facts: equal for revisions that say the same. Pure. */
export function hashFacts(facts: ManifestFacts): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(presentFacts(facts)))
    .digest();
}

function presentFacts({ merchant, day, zone, messages, types, idsDigest, proven, closed }: ManifestFacts) {
  return {
    ...{ merchant, day, zone, messages },
    types: types.map(({ type, count, sumCents }) => ({ type, count, sum_cents: String(sumCents) })),
    ids_sha256: idsDigest.toString('hex'),
    ...{ proven, closed },
  };
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
