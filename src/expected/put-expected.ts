/** Stores what a source says of expected payments: the first arrival of a key, and versions with other facts. */
import { createHash } from 'node:crypto';
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { insertRows } from '../database/insert-returning.ts';
import { hashDocument, indexName } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import { leaveExpectedWork } from '../database/shared/leave-expected-work.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { issuedDayOf } from '../domain/calendar.ts';
import { compareText } from '../domain/lists.ts';
import { createValueMatcher } from '../domain/person/redact-text.ts';
import { createKeyedExtraHash, findForgotten } from '../privacy/redact-forgotten.ts';
import type { KeyRule } from './decide/facts.ts';
import type { GivenFacts } from './expected-fields.ts';
import { type ExpectedKey, hashKey, idOf } from './expected-id.ts';
import { readFacts, type StoredFacts } from './read/read-facts.ts';

/**
 * `authorizations`: the codes (cAut) by which an NF-e names its payments; its importer alone knows them. `statedHash`: of what the source
 * stated itself, where its importer adds to that.
 */
export type Arrival = ExpectedKey & { facts: GivenFacts; authorizations?: readonly string[]; statedHash?: Buffer };
export type PutOutcome = {
  id: string;
  version: number;
  /** `superseded`: older than what is stored. The last two are refused: nothing was changed. */
  status: 'created' | 'changed' | 'unchanged' | 'superseded' | 'expected_cancelled' | 'expected_operation';
};

type Known = Selectable<Database['expected_payments']> & { facts_hash: Buffer };
/** `merchantSeq`: of the merchant whose token sends; else undefined. */
type Sender = { actor: string; merchantSeq?: number | undefined };
type Stated = { facts: GivenFacts; authorizations?: readonly string[] | undefined };
type Change = { arrival: Arrival; id: string; factsHash: Buffer; known: Known | undefined; version: number };

/**
 * Stores arrivals of different keys, in one transaction. An equal arrival changes nothing; one that its source revised before what is
 * stored neither. What a merchant's token sent is that merchant's, also after others add to it: it is matched within its filter.
 * @returns the outcome of each, in order.
 */
export async function putExpected(
  context: Context,
  { arrivals, ...sender }: { arrivals: Arrival[] } & Sender,
): Promise<PutOutcome[]> {
  return await transact(context.db, (trx) => putTogether(context, trx, arrivals, sender), { retryDuplicates: true });
}

async function putTogether(
  context: Context,
  trx: Transaction<Database>,
  arrivals: Arrival[],
  sender: Sender,
): Promise<PutOutcome[]> {
  const ids = arrivals.map((one) => idOf(context.keys, one));
  const known = await lockKnown(trx, ids);
  const differing = await findDiffering(context.keys, trx, arrivals, known);
  const changes: Change[] = [];
  const outcomes: PutOutcome[] = [];
  for (const [index, arrival] of arrivals.entries()) {
    const id = ids[index] ?? '';
    const [stored, revisedAt] = [known.get(id), readRevised(arrival)];
    const status = compare(arrival, stored, differing.has(arrival));
    const version = (stored?.version ?? 0) + (isChange({ status }) ? 1 : 0);
    const factsHash = arrival.statedHash ?? hashFacts(context.keys, arrival);
    if (isChange({ status })) changes.push({ arrival, id, factsHash, known: stored, version });
    // equal facts, revised later: what the source revised between is older
    else if (status === 'unchanged' && stored && revisedAt && revisedAt > (stored.revised_at ?? new Date(0)))
      await trx.updateTable('expected_payments').set({ revised_at: revisedAt }).where('seq', '=', stored.seq).execute();
    outcomes.push({ id, version, status });
  }
  if (changes.length > 0) await write(context, trx, changes, sender);
  return outcomes;
}

function compare(arrival: Arrival, known: Known | undefined, isDiffering: boolean): PutOutcome['status'] {
  if (!known) return 'created';
  const revisedAt = readRevised(arrival);
  if (revisedAt && known.revised_at && revisedAt < known.revised_at) return 'superseded';
  if (!isDiffering) return 'unchanged';
  if (known.operation !== arrival.facts.operation) return 'expected_operation';
  return known.is_cancelled === 1 ? 'expected_cancelled' : 'changed';
}

function readRevised({ facts }: Arrival): Date | null {
  return facts.revised_at === null ? null : new Date(facts.revised_at);
}

/** Locks the expected payments of these ids that are known, by their numbers, which never change: the follower locks by them too. */
async function lockKnown(trx: Transaction<Database>, ids: string[]): Promise<Map<string, Known>> {
  const found = await trx.selectFrom('expected_payments').select('seq').where('id', 'in', ids).execute();
  if (found.length === 0) return new Map();
  const { rows } = await sql<Omit<Known, 'facts_hash'>>`SELECT * FROM expected_payments FORCE INDEX (PRIMARY)
    WHERE seq IN (${sql.join(found.map(({ seq }) => seq))}) ORDER BY seq FOR UPDATE`.execute(trx);
  // no subquery: MariaDB sorts 1,000 numbers in a temporary table, in which its bytes become a text
  const versions = rows.map((head) => head.version_seq);
  const read = trx.selectFrom('expected_versions').select(['seq', 'facts_hash']).where('seq', 'in', versions);
  const hashes = new Map((await read.execute()).map((row) => [row.seq, row.facts_hash]));
  return new Map(
    rows.map((head) => [head.id, { ...head, facts_hash: hashes.get(head.version_seq) ?? Buffer.alloc(0) }]),
  );
}

/**
 * Finds the arrivals of known keys that say neither what was stated before nor what is shown: an invoice adds to what a source stated, and
 * a person may be forgotten. So a file that was exported changes nothing when it comes back.
 */
async function findDiffering(
  keys: Keys,
  trx: Transaction<Database>,
  arrivals: Arrival[],
  known: Map<string, Known>,
): Promise<ReadonlySet<Arrival>> {
  const others = arrivals.flatMap((arrival) => {
    const head = known.get(idOf(keys, arrival));
    return head && !isSame(keys, arrival, head) ? [{ arrival, head }] : [];
  });
  const versions = others.map(({ head }) => head.version_seq);
  const shown = await readFacts(trx, versions);
  const differing = others.filter(({ arrival, head }) => !isSame(keys, arrival, head, shown.get(head.version_seq)));
  return new Set(differing.map(({ arrival }) => arrival));
}

/** Whether an arrival says what is shown, or by default what was stated. A derived issued day says no more than none. */
function isSame(keys: Keys, { facts, authorizations }: Arrival, head: Known, shown?: StoredFacts): boolean {
  const derived = issuedDayOf(null, { dueDay: facts.due_day, createdDay: head.created_day });
  const days = [null, derived].includes(facts.issued_day) ? [null, derived] : [facts.issued_day];
  // its importer alone states the codes of an invoice
  const known = shown
    ? hashFacts(keys, { ...shown, authorizations: authorizations && shown.authorizations })
    : head.facts_hash;
  return days.some((issued_day) => hashFacts(keys, { facts: { ...facts, issued_day }, authorizations }).equals(known));
}

/**
 * Keyed: an unkeyed hash could be searched for a document. The instant of the revision is no fact, nor is the order of keys; what is
 * not given is left out, so that a field of a later version changes no hash.
 */
function hashFacts(keys: Keys, { facts: { revised_at: _, ...facts }, authorizations }: Stated): Buffer {
  const given = Object.entries({ ...facts, authorizations: authorizations ?? null }).flatMap(([name, value]) =>
    value === null
      ? []
      : [`${name} ${JSON.stringify(Array.isArray(value) ? value.toSorted(compareText) : String(value))}`],
  );
  return hashKey(keys, 'expected facts', given.toSorted(compareText).join('\n'));
}

async function write(
  context: Context,
  trx: Transaction<Database>,
  changes: Change[],
  { actor, merchantSeq }: Sender,
): Promise<void> {
  const now = context.clock.now();
  const ids = changes.map(({ id }) => id);
  const rows = changes.map((change) => ({ ...change, ...toColumns(context, change, now) }));
  const versions = rows.map(({ id, factsHash, columns }) => ({
    ...{ expected_id: id, facts_hash: factsHash, ...columns, created_at: now, actor },
  }));
  await insertRows(trx, 'expected_versions', versions);
  const written = await trx
    .selectFrom('expected_versions')
    .select(['seq', 'expected_id', 'document_hash'])
    .where('expected_id', 'in', ids)
    .orderBy('version')
    .execute();
  // the newest of each, and of what document it is: one that names none is of the person of the version before
  const seqs = new Map(written.map((row) => [row.expected_id, row.seq]));
  const persons = new Map(
    written.flatMap(({ expected_id: id, document_hash: hash }) => (hash ? [[id, hash] as const] : [])),
  );
  const seqOf = (id: string): number => requireRowNumber(seqs.get(id), `version of ${id}`);
  const forgotten = await findForgotten(trx, [...persons.values()]);
  const texts = rows.map(({ id, arrival }) => {
    const { document, name, description, extra } = arrival.facts;
    const isForgotten = forgotten.has(persons.get(id)?.toString('base64') ?? '');
    const shown = { document, name, description, extra, name_folded: name === null ? null : indexName(name) };
    return { version_seq: seqOf(id), ...(isForgotten ? { extra: withoutPerson(arrival.facts) } : shown) };
  });
  await insertRows(trx, 'expected_texts', texts);
  const keys = changes.flatMap(({ id, arrival: { facts, authorizations = [] } }) => {
    const byRule: Record<KeyRule, readonly string[]> = {
      ...{ reference: facts.references, e2e_id: facts.e2e_ids, invoice: authorizations },
    };
    return Object.entries(byRule).flatMap(([kind, values]) =>
      values.map((value) => ({ version_seq: seqOf(id), kind, value })),
    );
  });
  if (keys.length > 0) await insertRows(trx, 'expected_keys', keys);
  const fresh = rows.flatMap(({ id, head, first }) =>
    first ? [{ ...head, ...first, version_seq: seqOf(id), merchant_seq: merchantSeq ?? null }] : [],
  );
  if (fresh.length > 0) await insertRows(trx, 'expected_payments', fresh);
  for (const { id, head, known } of rows)
    if (known)
      await trx
        .updateTable('expected_payments')
        .set({ ...head, version_seq: seqOf(id), ...(merchantSeq !== undefined && { merchant_seq: merchantSeq }) })
        .where('seq', '=', known.seq)
        .execute();
  const heads = await trx
    .selectFrom('expected_payments')
    .select('seq as expected_seq')
    .where('id', 'in', ids)
    .execute();
  await leaveExpectedWork(trx, heads, now);
}

/** The extra, by which payments are found; null if it holds a value of the person, as a transaction's, or nobody can say. */
function withoutPerson({ document, name, description, extra }: GivenFacts): string | null {
  if (document === null) return null;
  const shared = [name, description].filter((value) => value !== null);
  const holds = createValueMatcher({ documents: [document], own: [], shared });
  return extra !== null && holds(extra) ? null : extra;
}

/** The columns of the version, of the row that has the newest facts, and what only the first arrival sets. */
function toColumns({ keys, calendar }: Context, { arrival, id, known, version }: Change, now: Date) {
  const { facts, source, number } = arrival;
  const { issued_day, due_day, valid_until, invoice_key, platform, amount, extra, document } = facts;
  const revisedAt = readRevised(arrival);
  const createdDay = known?.created_day ?? calendar.dayOf(now);
  const shared = {
    ...{ version, amount_cents: amount, platform, due_day },
    extra_hash: extra === null ? null : createKeyedExtraHash(keys, createHash('sha256').update(extra).digest()),
    document_hash: document === null ? null : hashDocument(keys, document),
  };
  const key = { id, source, number, operation: facts.operation };
  return {
    columns: { ...shared, issued_day, valid_until, invoice_key, revised_at: revisedAt },
    head: {
      ...shared,
      issued_day: issuedDayOf(issued_day, { dueDay: due_day, createdDay }),
      end_day: valid_until ?? due_day,
      // an arrival without an instant is newer than all before
      revised_at: revisedAt ?? known?.revised_at ?? null,
    },
    first: known ? undefined : { ...key, created_at: now, created_day: createdDay, state: 'open', state_at: now },
  };
}

/** Whether an arrival changed what is stored. */
export function isChange({ status }: Pick<PutOutcome, 'status'>): boolean {
  return status === 'created' || status === 'changed';
}
