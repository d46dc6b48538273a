/** Finds the order that an invoice (NF-e) belongs to: an expected payment of another source than the importer of invoices. */
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import { refuse } from '../texts/refuse.ts';
import { lockExpected } from './cancel-expected.ts';
import { NFE_SOURCE } from './decide/facts.ts';
import type { GivenFacts } from './expected-fields.ts';
import { idOf } from './expected-id.ts';
import { type PutOutcome, putExpected } from './put-expected.ts';
import { readFacts } from './read/read-facts.ts';

type NamedInvoice = { key: string; facts: Pick<GivenFacts, 'references'> };

/**
 * @returns by the key of the invoice, the id of its order: the open one that has this key, or whose number or reference it names; else
 *   the cancelled one that it joined before. Orders that merchants sent are no rivals of others: a merchant may name any invoice.
 */
export async function findOrders(db: Reader, invoices: readonly NamedInvoice[]): Promise<Map<string, string>> {
  const all = db
    .selectFrom('expected_payments as one')
    .where('one.source', '<>', NFE_SOURCE)
    .where('one.operation', '=', 'cashin');
  const open = all.where('one.is_cancelled', '=', 0);
  const byKey = await all
    .innerJoin('expected_versions as version', 'version.seq', 'one.version_seq')
    .where(
      'version.invoice_key',
      'in',
      invoices.map(({ key }) => key),
    )
    .select(['one.id', 'one.is_cancelled', 'version.invoice_key as name', 'one.merchant_seq'])
    .execute();
  const names = [...new Set(invoices.flatMap(({ facts }) => facts.references))];
  const byNumber =
    names.length === 0
      ? []
      : await open
          .where('one.number', 'in', names)
          .select(['one.id', 'one.number as name', 'one.merchant_seq'])
          .execute();
  const byReference =
    names.length === 0
      ? []
      : await open
          .innerJoin('expected_keys as named', 'named.version_seq', 'one.version_seq')
          .where('named.kind', '=', 'reference')
          .where('named.value', 'in', names)
          .select(['one.id', 'named.value as name', 'one.merchant_seq'])
          .execute();
  type Row = { id: string; name: string | null; merchant_seq: number | null };
  const group = (rows: Row[]) => Map.groupBy(rows, ({ name }) => name);
  const ids = group([...byKey.filter((row) => row.is_cancelled === 0), ...byNumber, ...byReference]);
  const cancelled = group(byKey.filter((row) => row.is_cancelled === 1));
  return new Map(
    invoices.flatMap(({ key, facts }) => {
      const named = [key, ...facts.references].flatMap((name) => ids.get(name) ?? []);
      const ours = named.filter((row) => row.merchant_seq === null);
      const found = new Set((ours.length > 0 ? ours : named).map(({ id }) => id));
      const [id, ...others] = found.size > 0 ? found : (cancelled.get(key)?.map((row) => row.id) ?? []);
      return id === undefined || others.length > 0 ? [] : [[key, id] as const];
    }),
  );
}

/** @returns the id of what is expected for an invoice: its order, or its own; undefined if nothing is. */
export async function findExpectedOf({ db, keys }: Context, key: string): Promise<string | undefined> {
  const order = (await findOrders(db, [{ key, facts: { references: [] } }])).get(key);
  if (order !== undefined) return order;
  const id = idOf(keys, { source: NFE_SOURCE, number: key });
  const own = await db.selectFrom('expected_payments').select('id').where('id', '=', id).executeTakeFirst();
  return own?.id;
}

/**
 * Adds an invoice to an order, as a version of it: its key and the codes of its payments; who is to pay, where the order
 * does not say and no merchant sent it: a merchant may name any invoice.
 * The order's amount and days stay, and so does the key of the invoice that it had first. What its source stated is known by its hash, so
 * that the same again from there does not take the invoice away.
 * @returns undefined where the invoice says nothing new.
 */
export async function joinInvoice(
  context: Context,
  { order, invoice, actor }: { order: string; invoice: JoinedInvoice; actor: string },
): Promise<PutOutcome | undefined> {
  return await transact(context.db, async (trx) => {
    await lockExpected(trx, order);
    const stored = await trx
      .selectFrom('expected_payments as one')
      .innerJoin('expected_versions as version', 'version.seq', 'one.version_seq')
      .where('one.id', '=', order)
      .select(['one.source', 'one.number', 'one.version_seq', 'one.revised_at', 'one.document_hash'])
      .select(['one.merchant_seq', 'version.facts_hash'])
      .executeTakeFirstOrThrow();
    const { source, number, version_seq, revised_at, facts_hash, document_hash, merchant_seq } = stored;
    const read = (await readFacts(trx, [version_seq])).get(version_seq);
    if (!read) throw refuse('expected_unknown');
    const { facts } = read;
    const authorizations = [...new Set([...read.authorizations, ...(invoice.authorizations ?? [])])];
    const isErased = document_hash !== null && facts.document === null;
    const person = merchant_seq === null ? invoice.facts : { document: null, name: null };
    const lacksPerson = !isErased && PERSON.some((name) => facts[name] === null && person[name] !== null);
    const isNew = facts.invoice_key === null || authorizations.length > read.authorizations.length || lacksPerson;
    if (!isNew) return undefined;
    const arrival = {
      ...{ source, number, statedHash: facts_hash, ...(authorizations.length > 0 ? { authorizations } : {}) },
      facts: {
        ...facts,
        invoice_key: facts.invoice_key ?? invoice.key,
        document: facts.document ?? person.document,
        name: facts.name ?? person.name,
        revised_at: revised_at?.toISOString() ?? null,
      },
    };
    const [outcome] = await putExpected({ ...context, db: trx }, { arrivals: [arrival], actor });
    return outcome;
  });
}

/** The payer, as an invoice names them. */
const PERSON = ['document', 'name'] as const;

type JoinedInvoice = {
  key: string;
  facts: Pick<GivenFacts, 'document' | 'name'>;
  authorizations?: readonly string[] | undefined;
};
