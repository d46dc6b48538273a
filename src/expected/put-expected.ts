/** Stores what a source says of expected payments: the first arrival of a key, and versions with other facts. */
import { createHash } from 'node:crypto';
import { type Insertable, type Selectable, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { insertRows } from '../database/insert-returning.ts';
import { hashDocument } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { leaveExpectedWork } from '../database/work/leave-expected-work.ts';
import { createKeyedExtraHash, findForgotten } from '../privacy/redact-forgotten.ts';
import type { GivenFacts } from './expected-fields.ts';
import { type ExpectedKey, hashKey, idOf } from './expected-id.ts';

export type Arrival = ExpectedKey & { facts: GivenFacts };
export type PutOutcome = {
  id: string;
  version: number;
  /** `superseded`: older than what is stored. The last two are refused: nothing was changed. */
  status: 'created' | 'changed' | 'unchanged' | 'superseded' | 'expected_cancelled' | 'expected_operation';
};

type Head = Selectable<Database['expected_payments']>;
type Known = { head: Head; factsHash: Buffer };
type Change = { arrival: Arrival; id: string; factsHash: Buffer; known: Known | undefined; version: number };

/**
 * Stores arrivals of different keys, in one transaction. An equal arrival changes nothing; one that its source revised before what is
 * stored neither.
 * @returns the outcome of each, in order.
 */
export async function putExpected(
  context: Context,
  { arrivals, actor }: { arrivals: Arrival[]; actor: string },
): Promise<PutOutcome[]> {
  return await transact(context.db, (trx) => putTogether(context, trx, arrivals, actor), { retryDuplicates: true });
}

async function putTogether(
  context: Context,
  trx: Transaction<Database>,
  arrivals: Arrival[],
  actor: string,
): Promise<PutOutcome[]> {
  const known = await lockKnown(
    trx,
    arrivals.map((one) => idOf(context.keys, one)),
  );
  const [changes, renewed]: [Change[], { seq: number; at: Date }[]] = [[], []];
  const outcomes = arrivals.map((arrival): PutOutcome => {
    const id = idOf(context.keys, arrival);
    const factsHash = hashFacts(context.keys, arrival.facts);
    const stored = known.get(id);
    const status = compare(arrival, factsHash, stored);
    const version = (stored?.head.version ?? 0) + (isChange({ status }) ? 1 : 0);
    if (isChange({ status })) changes.push({ arrival, id, factsHash, known: stored, version });
    const revisedAt = readRevised(arrival);
    if (status === 'unchanged' && stored && revisedAt && revisedAt > (stored.head.revised_at ?? new Date(0)))
      renewed.push({ seq: stored.head.seq, at: revisedAt });
    return { id, version, status };
  });
  if (changes.length > 0) await write(context, trx, changes, actor);
  for (const { seq, at } of renewed)
    await trx.updateTable('expected_payments').set({ revised_at: at }).where('seq', '=', seq).execute();
  return outcomes;
}

function compare({ facts, ...arrival }: Arrival, factsHash: Buffer, known: Known | undefined): PutOutcome['status'] {
  if (!known) return 'created';
  const { head } = known;
  const revisedAt = readRevised({ ...arrival, facts });
  if (revisedAt && head.revised_at && revisedAt < head.revised_at) return 'superseded';
  if (factsHash.equals(known.factsHash)) return 'unchanged';
  if (head.operation !== facts.operation) return 'expected_operation';
  return head.is_cancelled === 1 ? 'expected_cancelled' : 'changed';
}

function readRevised({ facts }: Arrival): Date | null {
  return facts.revised_at === null ? null : new Date(facts.revised_at);
}

/** Locks the expected payments of these ids that are known, by their numbers. */
async function lockKnown(trx: Transaction<Database>, ids: string[]): Promise<Map<string, Known>> {
  // their numbers never change; the follower locks by them too
  const seqs = await trx.selectFrom('expected_payments').select('seq').where('id', 'in', ids).execute();
  if (seqs.length === 0) return new Map();
  const { rows: heads } = await sql<Head>`SELECT * FROM expected_payments FORCE INDEX (PRIMARY)
    WHERE seq IN (${sql.join(seqs.map(({ seq }) => seq))}) ORDER BY seq FOR UPDATE`.execute(trx);
  const versions = await trx
    .selectFrom('expected_versions')
    .select(['seq', 'facts_hash'])
    .where(
      'seq',
      'in',
      heads.map((head) => head.version_seq),
    )
    .execute();
  const hashes = new Map(versions.map((row) => [row.seq, row.facts_hash]));
  return new Map(heads.map((head) => [head.id, { head, factsHash: hashes.get(head.version_seq) ?? Buffer.alloc(0) }]));
}

/**
 * Keyed: an unkeyed hash could be searched for a document. The instant of the revision is no fact, nor is the order of keys; what is
 * not given is left out, so that a field of a later version changes no hash.
 */
function hashFacts(keys: Keys, { revised_at: _, ...facts }: GivenFacts): Buffer {
  const given = Object.entries(facts).flatMap(([name, value]) =>
    value === null
      ? []
      : [`${name} ${JSON.stringify(Array.isArray(value) ? value.toSorted(compareText) : String(value))}`],
  );
  return hashKey(keys, 'expected facts', given.toSorted(compareText).join('\n'));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function write(context: Context, trx: Transaction<Database>, changes: Change[], actor: string): Promise<void> {
  const now = context.clock.now();
  const rows = changes.map((change) => ({ change, ...toColumns(context, change, now) }));
  const versions = rows.map(({ change, version }) => ({
    ...{ expected_id: change.id, version: change.version, facts_hash: change.factsHash },
    ...{ ...version, created_at: now, actor },
  }));
  await insertRows(trx, 'expected_versions', versions).execute();
  const seqs = await readVersionSeqs(trx, changes);
  const seqOf = ({ id }: Change): number => requireRowNumber(seqs.get(id), `version of ${id}`);
  const forgotten = await findForgotten(
    trx,
    versions.flatMap(({ document_hash }) => document_hash ?? []),
  );
  const texts = rows.map(({ change: { arrival, ...change }, version }) => {
    const { document, name, description, extra } = arrival.facts;
    const isForgotten = version.document_hash !== null && forgotten.has(version.document_hash.toString('base64'));
    const seq = { version_seq: seqOf({ ...change, arrival }) };
    return isForgotten ? seq : { ...seq, document, name, description, extra };
  });
  await insertRows(trx, 'expected_texts', texts).execute();
  const keys = changes.flatMap((change) => {
    const toRow = (kind: string) => (value: string) => ({ version_seq: seqOf(change), kind, value });
    return [
      ...change.arrival.facts.references.map(toRow('reference')),
      ...change.arrival.facts.e2e_ids.map(toRow('e2e_id')),
    ];
  });
  if (keys.length > 0) await insertRows(trx, 'expected_keys', keys).execute();
  const heads = rows.map(({ change, head }) => ({ ...head, version_seq: seqOf(change) }));
  const fresh = heads.filter((_, index) => changes[index]?.known === undefined);
  if (fresh.length > 0)
    await insertRows(trx, 'expected_payments', fresh as Insertable<Database['expected_payments']>[]).execute();
  for (const [index, head] of heads.entries()) {
    const seq = changes[index]?.known?.head.seq;
    if (seq !== undefined) await trx.updateTable('expected_payments').set(head).where('seq', '=', seq).execute();
  }
  const written = await trx
    .selectFrom('expected_payments')
    .select('seq as expected_seq')
    .where(
      'id',
      'in',
      changes.map(({ id }) => id),
    )
    .execute();
  await leaveExpectedWork(trx, written, now);
}

async function readVersionSeqs(trx: Transaction<Database>, changes: Change[]): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('expected_versions')
    .select(['seq', 'expected_id', 'version'])
    .where(
      'expected_id',
      'in',
      changes.map(({ id }) => id),
    )
    .orderBy('version')
    .execute();
  // the newest of each
  return new Map(rows.map((row) => [row.expected_id, row.seq]));
}

/** The columns of the version, and of the row that has the newest facts. */
function toColumns({ keys, calendar }: Context, { arrival, id, known, version }: Change, now: Date) {
  const { facts, source, number } = arrival;
  const { issued_day, due_day, valid_until, platform, amount, extra, document } = facts;
  const revisedAt = readRevised(arrival);
  const hashes = {
    extra_hash: extra === null ? null : createKeyedExtraHash(keys, createHash('sha256').update(extra).digest()),
    document_hash: document === null ? null : hashDocument(keys, document),
  };
  const createdDay = known?.head.created_day ?? calendar.dayOf(now);
  const shared = { amount_cents: amount, platform, due_day, ...hashes };
  return {
    version: { ...shared, issued_day, valid_until, invoice_key: facts.invoice_key, revised_at: revisedAt },
    head: {
      ...shared,
      version,
      issued_day: issued_day ?? [createdDay, due_day].sort()[0] ?? due_day,
      end_day: valid_until ?? due_day,
      // an arrival without an instant is newer than all before
      revised_at: revisedAt ?? known?.head.revised_at ?? null,
      ...(known ? {} : { id, source, number, operation: facts.operation, created_at: now, created_day: createdDay }),
      ...(known ? {} : { state: 'open', state_at: now }),
    },
  };
}

/** Whether an arrival changed what is stored. */
export function isChange({ status }: Pick<PutOutcome, 'status'>): boolean {
  return status === 'created' || status === 'changed';
}
