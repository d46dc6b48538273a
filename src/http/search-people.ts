import { audit, auditAtMost } from '../access/audit.ts';
import { maySeePersons } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { hashDocument } from '../database/index-person.ts';
import { ConfereError } from '../domain/errors.ts';
import { findDocuments } from '../domain/find-documents.ts';
import { normalizeDocument } from '../domain/fold-person.ts';
import { DOCUMENT_LENGTHS } from '../domain/person-tells.ts';
import { listCandidates } from '../domain/redact-text.ts';
import type { Position } from '../ledger/search-transactions.ts';

const HOUR_MS = 3_600_000;
/**
 * A masked CPF leaves a thousand that it may be, since its check digits follow from the others: at so many an hour one
 * token tries them all in 33 hours, half of them on the average, and each try shows in the audit.
 */
export const VIEWER_DOCUMENTS_AN_HOUR_MAX = 30;
const ACTION = 'transactions.search_document';
/** Enough of a keyed hash to tell one person's searches from another's. */
const HASH_CHARS = 16;

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

/**
 * Who may look for a person, and what is written down of it: never the document, but its keyed hash. Whoever sees masked
 * data may look for a whole document that they were told, a few an hour; by the beginning of a name they could spell
 * out what is masked. An extra often holds a document, and a reference may, within a longer number too: whether one is
 * found tells as much.
 * @throws ConfereError `forbidden`, `too_many_requests`.
 */
export async function permitSearch(
  context: Context,
  caller: Caller,
  filters: Partial<Record<'document' | 'name' | 'extra' | 'reference' | 'transactionId', string | undefined>>,
): Promise<void> {
  if (filters.name !== undefined && !maySeePersons(caller.role)) {
    throw new ConfereError(
      'forbidden',
      'to search by name takes the role accountant or operator: a viewer sees names masked',
    );
  }
  const { document, extra, reference = '', transactionId = '' } = filters;
  for (const sought of [document, readDocument(extra), findDocuments(reference)[0], findDocuments(transactionId)[0]]) {
    if (sought !== undefined) await countDocument(context, caller, sought);
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
  const hash = hashDocument(context.keys, document).toString('hex').slice(0, HASH_CHARS);
  const search = { actor: caller.id, action: ACTION, target: `document:${hash}` };
  if (maySeePersons(caller.role)) await audit(context, search);
  else if (!(await auditAtMost(context, search, { times: VIEWER_DOCUMENTS_AN_HOUR_MAX, ms: HOUR_MS }))) {
    throw new ConfereError(
      'too_many_requests',
      `a viewer may search for ${VIEWER_DOCUMENTS_AN_HOUR_MAX} documents an hour: try again later`,
    );
  }
}

/** What the audit says of a list that was seen in full: which filters it had, not their values. */
export function nameFilters(filters: Record<string, unknown>): string {
  return JSON.stringify(TRANSACTION_FILTERS.filter((name) => filters[name] !== undefined && filters[name] !== ''));
}

/** Where a page of transactions ended, for its cursor. */
export function writePosition(position: Position | undefined): string | undefined {
  return position && `${position.wall} ${position.seq}`;
}

/** @throws ConfereError `invalid_request` for a cursor that we never gave. */
export function readPosition(after: string | undefined): Position | undefined {
  if (after === undefined) return undefined;
  const match = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (\d{1,15})$/.exec(after);
  if (match?.[1] && match[2]) return { wall: match[1], seq: Number(match[2]) };
  const fault = 'is none that we gave';
  throw new ConfereError('invalid_request', `cursor ${fault}`, { fields: { cursor: [fault] } });
}
