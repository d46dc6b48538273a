import { type AuditedAction, audit, auditWithinLimit } from '../../access/audit.ts';
import { maySeePersons } from '../../access/roles.ts';
import type { Caller } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { hashDocument } from '../../database/keys/index-person.ts';
import { extractE2eSuffix } from '../../domain/e2e-id.ts';
import { ConfereError } from '../../domain/errors.ts';
import { holdsDocumentParts } from '../../domain/person/find-document-parts.ts';
import { findDocuments } from '../../domain/person/find-documents.ts';
import { normalizeDocument } from '../../domain/person/fold-person.ts';
import { WITHHELD } from '../../domain/person/mask-person.ts';
import { DOCUMENT_LENGTHS, listDecodedForms } from '../../domain/person/match-person.ts';
import { listCandidates } from '../../domain/person/redact-text.ts';
import type { SearchCursor } from '../../ledger/read/search-transactions.ts';

const HOUR_MS = 3_600_000;
/**
 * A masked CPF leaves a thousand that it may be, since its check digits follow from the others: at so many an hour one
 * token tries them all in 33 hours, half of them on the average, and each try shows in the audit.
 */
export const VIEWER_DOCUMENTS_AN_HOUR_MAX = 30;
const ACTION = 'transactions.search_document';
/** Enough of a keyed hash to tell one person's searches from another's. */
const HASH_CHARS = 16;
/** As many digits of a CPF as its mask shows: with fewer hidden ones a text repeats it. */
const PART = /\d{6}/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The filters of a search for transactions whose values may stand in the audit by their name only. */
export const TRANSACTION_FILTERS = [
  'id',
  'reference',
  'extra',
  'e2e_id',
  'document',
  'name',
  'amount',
  'status',
  'operation',
  'platform',
  'from',
  'to',
  'by',
] as const;

type PersonFilters = Partial<
  Record<'document' | 'name' | 'extra' | 'reference' | 'transactionId' | 'e2e_id' | 'platform', string | undefined>
>;

/**
 * Who may look for a person, and what is written down of it: never the document, but its keyed hash. Whoever sees masked
 * data may look for a whole document that they were told, a few an hour; by the beginning of a name they could spell
 * out what is masked. An extra often holds a document, and a reference may, within a longer number too: whether one is
 * found tells as much. Of a viewer a part counts as well: the first nine digits are as good as the document.
 * @throws ConfereError `forbidden`, `too_many_requests`.
 */
export async function authorizeSearch(context: Context, caller: Caller, filters: PersonFilters): Promise<void> {
  const isViewer = !maySeePersons(caller.role);
  if (filters.name !== undefined && isViewer) {
    throw new ConfereError(
      'forbidden',
      'to search by name takes the role accountant or operator: a viewer sees names masked',
    );
  }
  const { document, extra, reference, transactionId, e2e_id: e2eId, platform } = filters;
  if (document !== undefined) await countDocument(context, caller, document);
  const texts = [extra, reference, transactionId, e2eId && extractE2eSuffix(e2eId)];
  const sought = [
    readDocument(extra) ?? (isViewer ? readPart(extra) : undefined),
    ...texts.slice(1).map((text) => findDocuments(text ?? '')[0] ?? (isViewer ? readPart(text) : undefined)),
    // platforms stand in every list of accounts
    findDocuments(platform ?? '')[0],
  ];
  for (const one of sought) if (one !== undefined) await countDocument(context, caller, one);
}

/**
 * What a viewer's search may try as a part of a document: a text with six digits in a row, whatever stands between them,
 * or one that says that it holds a part. Random ids hold as many digits by chance.
 */
function readPart(text = ''): string | undefined {
  if (UUID.test(text)) return undefined;
  const bare = listDecodedForms(text).map((reading) => normalizeDocument(reading) ?? '');
  return bare.find((one) => PART.test(one)) ?? (holdsDocumentParts(text) ? bare[0] : undefined);
}

/**
 * Writes down a viewer's search that found what it looked for in a field that is withheld, by fewer digits than
 * `permitSearch` counts. It counts towards the hour's searches, and is answered all the same: were hits alone refused, the
 * refusal would tell them.
 * @param shown the hits, masked.
 */
export async function auditWithheldMatches(
  context: Context,
  caller: Caller,
  filters: PersonFilters,
  shown: Record<'extra' | 'reference' | 'e2e_id' | 'platform', string | null>[],
): Promise<void> {
  if (maySeePersons(caller.role)) return;
  for (const name of ['extra', 'reference', 'e2e_id', 'platform'] as const) {
    const value = filters[name];
    if (value === undefined || !shown.some((one) => one[name] === WITHHELD)) continue;
    if ((name === 'extra' && readDocument(value)) || findDocuments(value).length > 0 || readPart(value)) continue;
    await audit(context, describeSearch(context, caller, value));
  }
}

/**
 * The document that an extra is or holds; an extra is looked for as a whole, so that one search tries one. Without the
 * check digits of one too, where it is as long: an extra that long is mostly one, a reference is not.
 */
function readDocument(extra = ''): string | undefined {
  const [valid] = findDocuments(extra);
  if (valid !== undefined) return valid;
  const whole = normalizeDocument(extra) ?? '';
  return DOCUMENT_LENGTHS.has(whole.length) ? whole : listCandidates(extra).documents[0];
}

async function countDocument(context: Context, caller: Caller, document: string): Promise<void> {
  const search = describeSearch(context, caller, document);
  if (maySeePersons(caller.role)) await audit(context, search);
  else if (!(await auditWithinLimit(context, search, { times: VIEWER_DOCUMENTS_AN_HOUR_MAX, ms: HOUR_MS }))) {
    throw new ConfereError(
      'too_many_requests',
      `a viewer may search for ${VIEWER_DOCUMENTS_AN_HOUR_MAX} documents an hour: try again later`,
    );
  }
}

function describeSearch(context: Context, caller: Caller, sought: string): AuditedAction {
  const hash = hashDocument(context.keys, sought).toString('hex').slice(0, HASH_CHARS);
  return { actor: caller.id, action: ACTION, target: `document:${hash}` };
}

/** What the audit says of a list that was seen in full: which filters it had, not their values. */
export function describeFilters(filters: Record<string, unknown>): string {
  return JSON.stringify(TRANSACTION_FILTERS.filter((name) => filters[name] !== undefined && filters[name] !== ''));
}

/** Where a page of transactions ended, for its cursor. */
export function formatSearchCursor(position: SearchCursor | undefined): string | undefined {
  return position && `${position.wall} ${position.seq}`;
}

/** @throws ConfereError `invalid_request` for a cursor that we never gave. */
export function parseSearchCursor(after: string | undefined): SearchCursor | undefined {
  if (after === undefined) return undefined;
  const match = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (\d{1,15})$/.exec(after);
  if (match?.[1] && match[2]) return { wall: match[1], seq: Number(match[2]) };
  const fault = 'is none that we gave';
  throw new ConfereError('invalid_request', `cursor ${fault}`, { fields: { cursor: [fault] } });
}
