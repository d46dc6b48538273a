import { type AuditedAction, audit, auditWithinLimit } from '../access/audit.ts';
import { maySeePersons } from '../access/roles.ts';
import { type Caller, seesPersons } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { hashDocument } from '../database/keys/index-person.ts';
import { readParties, readPartiesByReference } from '../database/shared/read-parties.ts';
import { HOUR_MS } from '../domain/calendar.ts';
import { extractE2eSuffix } from '../domain/e2e-id.ts';
import { isUuid } from '../domain/ids.ts';
import { holdsDocumentParts } from '../domain/person/find-document-parts.ts';
import { findDocuments } from '../domain/person/find-documents.ts';
import { normalizeDocument } from '../domain/person/fold-person.ts';
import { listJoinedDigits } from '../domain/person/list-joined-digits.ts';
import { maskText, WITHHELD } from '../domain/person/mask-person.ts';
import { DOCUMENT_LENGTHS, listDecodedForms } from '../domain/person/match-person.ts';
import { listCandidates } from '../domain/person/redact-text.ts';
import type { SearchCursor } from '../ledger/read/transaction-query.ts';
import type { FilterInput } from '../merchants/match-filter.ts';
import { mapInTurns } from '../runtime/take-turns.ts';
import { refuse, refuseField } from '../texts/refuse.ts';

/**
 * A masked CPF matches 1,000 numbers, since its check digits follow from the others. At this rate one token tries them
 * all in 33 hours, half of them on average, and each attempt is in the audit.
 */
export const VIEWER_DOCUMENTS_AN_HOUR_MAX = 30;
const ACTION = 'transactions.search_document';
/** Prefix of a keyed hash that distinguishes one person's searches from another's. */
const HASH_CHARS = 16;
/** Six digits in a row, as many as a CPF's mask shows. `maskText` withholds a text that repeats fewer hidden ones. */
const PART = /\d{6}/;

/** The filters of a transaction search. The audit has their names, never their values. */
export const TRANSACTION_FILTERS = [
  'id',
  'reference',
  'extra',
  'e2e_id',
  'document',
  'name',
  'words',
  'inside',
  'amount',
  'amount_from',
  'amount_to',
  'status',
  'operation',
  'platform',
  'merchant',
  'from',
  'to',
  'by',
] as const;

export type PersonFilters = Partial<
  Record<
    | 'document'
    | 'name'
    | 'words'
    | 'inside'
    | 'extra'
    | 'reference'
    | 'transactionId'
    | 'e2e_id'
    | 'platform'
    | 'number',
    string | undefined
  >
> & {
  /** Whether values match by their beginning: then a part of a document counts for every role. */
  byBeginning?: boolean;
};

/**
 * Authorizes a search for a person and audits it, by the document's keyed hash and never the document.
 *
 * A viewer may search for whole documents that they already know, a few an hour. They may not search by a name, or a part of any
 * text: from its first letters they could guess a masked one. An extra often holds a document, and a reference may, also within a longer
 * number: a hit reveals as much as a search by document, and counts as one. For a viewer a part of a document counts too:
 * the first nine digits are as good as the whole.
 * @throws ConfereError `forbidden`, `too_many_requests`.
 */
export async function authorizeSearch(context: Context, caller: Caller, filters: PersonFilters): Promise<void> {
  const isViewer = !seesPersons(caller);
  if ((filters.name ?? filters.words ?? filters.inside) !== undefined && isViewer) {
    throw refuse('name_search_forbidden');
  }
  const { document, extra, reference, transactionId, e2e_id: e2eId, platform, number } = filters;
  const countsParts = isViewer || filters.byBeginning === true;
  const texts = [extra, reference, transactionId, e2eId && extractE2eSuffix(e2eId), number];
  const sought = [
    document,
    ...[filters.words, filters.inside].map((text) => findDocuments(text ?? '')[0] ?? readPart(text)),
    readDocument(extra) ?? (countsParts ? readPart(extra) : undefined),
    ...texts.slice(1).map((text) => findDocuments(text ?? '')[0] ?? (countsParts ? readPart(text) : undefined)),
    // a part is not counted: lists of accounts show platforms anyway
    findDocuments(platform ?? '')[0],
  ];
  // one text in several fields is one search
  const distinct = new Map(sought.map((one) => [one && hashDocument(context.keys, one).toString('hex'), one]));
  for (const one of distinct.values()) if (one !== undefined) await countDocument(context, caller, one);
}

/**
 * Authorizes a search by a merchant's filter and audits it, as `authorizeSearch` does, value by value. A beginning finds
 * a document digit by digit.
 * @throws ConfereError `forbidden`, `too_many_requests`.
 */
export async function authorizeFilter(context: Context, caller: Caller, filter: FilterInput = {}): Promise<void> {
  const { extra_match: match = {}, extra_prefixes = [], reference_prefixes = [], platforms = [] } = filter;
  const searches: PersonFilters[] = [
    ...[...extra_prefixes, ...Object.entries(match).flat().map(String)].map((extra) => ({ extra })),
    ...reference_prefixes.map((reference) => ({ reference })),
    ...platforms.map((platform) => ({ platform })),
  ];
  for (const search of searches) await authorizeSearch(context, caller, { ...search, byBeginning: true });
}

/**
 * Returns what a search may use as a part of a document: a text with six digits in a row, separators aside, or
 * one that says that it holds a part. UUIDs are excluded: they hold as many digits by chance.
 */
function readPart(text = ''): string | undefined {
  if (isUuid(text)) return undefined;
  const bare = listDecodedForms(text).flatMap((one) => [normalizeDocument(one) ?? '', ...listJoinedDigits(one)]);
  return bare.find((one) => PART.test(one)) ?? (holdsDocumentParts(text) ? bare[0] : undefined);
}

/**
 * Audits a viewer's search that matched a withheld field by fewer digits than `authorizeSearch` counts. It counts towards
 * the hour's searches, and is answered anyway: if only hits were refused, a refusal would reveal a hit.
 * @param shown the hits, masked.
 * @returns whether it was audited: a search over several pages is audited once.
 */
export async function auditWithheldMatches(
  context: Context,
  caller: Caller,
  filters: PersonFilters,
  shown: Record<'extra' | 'reference' | 'e2e_id' | 'platform', string | null>[],
): Promise<boolean> {
  if (maySeePersons(caller.role)) return false;
  let isAudited = false;
  for (const name of ['extra', 'reference', 'e2e_id', 'platform'] as const) {
    const value = filters[name];
    if (value === undefined || !shown.some((one) => one[name] === WITHHELD)) continue;
    if ((name === 'extra' && readDocument(value)) || findDocuments(value).length > 0 || readPart(value)) continue;
    await audit(context, describeSearch(context, caller, value));
    isAudited = true;
  }
  return isAudited;
}

/**
 * Audits a viewer's search for webhooks that found one of a transaction whose text is withheld, as `auditWithheldMatches`
 * does. @param found the webhooks of one page, by their row numbers.
 */
export async function auditWithheldWebhooks(
  context: Context,
  caller: Caller,
  { extra, reference }: PersonFilters,
  found: { seq: number }[],
): Promise<void> {
  if (maySeePersons(caller.role) || found.length === 0 || (extra ?? reference) === undefined) return;
  const items = await context.db
    .selectFrom('webhook_items')
    .select((eb) => [eb.fn.coalesce('resolved_id', 'transaction_id').as('id'), 'reference'])
    .where(
      'webhook_seq',
      'in',
      found.map(({ seq }) => seq),
    )
    .execute();
  const byId = await readParties(
    context.db,
    items.flatMap(({ id }) => id ?? []),
  );
  const byReference = await readPartiesByReference(
    context.db,
    items.flatMap((item) => item.reference ?? []),
  );
  const parties = [...byId.values(), ...[...byReference.values()].flat()];
  const shown = await mapInTurns(parties, (party) => ({
    ...{ e2e_id: null, platform: null },
    extra: maskText(extra ?? null, party),
    reference: maskText(reference ?? null, party),
  }));
  await auditWithheldMatches(context, caller, { extra, reference }, shown);
}

/**
 * Returns the document that an extra is or holds. A search matches the whole extra, so it tries one document. A text of a
 * document's length counts even with wrong check digits: an extra of that length is mostly a document, a reference is not.
 */
function readDocument(extra = ''): string | undefined {
  const [valid] = findDocuments(extra);
  if (valid !== undefined) return valid;
  const whole = normalizeDocument(extra) ?? '';
  return DOCUMENT_LENGTHS.has(whole.length) ? whole : listCandidates(extra).documents[0];
}

async function countDocument(context: Context, caller: Caller, document: string): Promise<void> {
  const search = describeSearch(context, caller, document);
  if (seesPersons(caller)) await audit(context, search);
  else if (!(await auditWithinLimit(context, search, { times: VIEWER_DOCUMENTS_AN_HOUR_MAX, ms: HOUR_MS }))) {
    throw refuse('document_searches_spent', { n: VIEWER_DOCUMENTS_AN_HOUR_MAX });
  }
}

function describeSearch(context: Context, caller: Caller, sought: string): AuditedAction {
  const hash = hashDocument(context.keys, sought).toString('hex').slice(0, HASH_CHARS);
  return { actor: caller.id, action: ACTION, target: `document:${hash}` };
}

/** The audit's detail of a search: the names of its filters, not their values. */
export function describeFilters(filters: Record<string, unknown>): string {
  return JSON.stringify(TRANSACTION_FILTERS.filter((name) => filters[name] !== undefined && filters[name] !== ''));
}

/** The cursor of a page of transactions, from where the page before ended. */
export function formatSearchCursor(position: SearchCursor | undefined): string | undefined {
  return position && `${position.wall} ${position.seq}`;
}

/** @throws ConfereError `invalid_request` for a cursor that we never issued. */
export function parseSearchCursor(after: string | undefined): SearchCursor | undefined {
  if (after === undefined) return undefined;
  const match = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (\d{1,15})$/.exec(after);
  if (match?.[1] && match[2]) return { wall: match[1], seq: Number(match[2]) };
  throw refuseField('cursor', 'cursor_unknown');
}
