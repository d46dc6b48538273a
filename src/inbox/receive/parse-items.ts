import { isObject, readCanonicalJson, readList, readTextOrNumber } from '../../domain/exact-json.ts';
import { STATUS_BYTES_MAX, TEXT_BYTES_MAX, truncateText } from '../../domain/field-limits.ts';
import { isUuid } from '../../domain/ids.ts';
import { append } from '../../domain/lists.ts';
import { parseAmount } from '../../domain/money.ts';

export const ITEMS_MAX = 1000;
const PATH = /\/transaction\/([0-9a-f-]{36})(?:$|[/?])/i;

/** A webhook's claims about one transaction: a key for the lookup, and values to compare with the provider's answer. */
export type WebhookItem = {
  /** Lower case, always of UUID shape. */
  transactionId: string | null;
  reference: string | null;
  extra: string | null;
  claimedStatus: string | null;
  claimedAmountCents: bigint | null;
};

/** Fields that may wrap one or several items. A flat body may use these names for other values. */
const WRAPPERS = ['transaction', 'transactions', 'data'];

/**
 * Splits a body into the transactions that it names. Known shapes: flat; flat with the interface's own field names;
 * `{transaction: {…} | […]}`; `{transactions: […]}`; `{data: …}`; several of these beside each other; a list of any of
 * them, or an object whose names are integers (see `readList`). An item without a usable key has null for all three.
 * Returns at most ITEMS_MAX + 1 items.
 */
export function parseItems(body: unknown): WebhookItem[] {
  return readValue(body).slice(0, ITEMS_MAX + 1);
}

/** Whether an item can be looked up. */
export function hasKey(item: WebhookItem): boolean {
  return item.transactionId !== null || item.reference !== null || item.extra !== null;
}

/** Always returns at least one item, so that the webhook can be quarantined. */
function readValue(value: unknown): WebhookItem[] {
  const list = readList(value);
  if (list && list.length > 0) return readValues(list);
  return isObject(value) ? readObject(value) : [readItem({})];
}

function readValues(values: unknown[]): WebhookItem[] {
  const items: WebhookItem[] = [];
  for (const value of values) {
    append(items, readValue(value));
    if (items.length > ITEMS_MAX) break;
  }
  return items;
}

/**
 * Returns the items of the wrappers, or the object itself if they name nothing. Beside wrapped items, an `id` or a
 * `reference` may be the notification's own and is ignored; a `transaction_id` never is, so it counts.
 */
function readObject(fields: Record<string, unknown>): WebhookItem[] {
  const itself = readItem(fields);
  const wrapped = WRAPPERS.map((name) => own(fields, name))
    .filter((value) => typeof value === 'object' && value !== null)
    .map(readValue)
    .filter((items) => items.some(hasKey))
    .flat();
  if (wrapped.length === 0) return [itself];
  const named = readUuid(own(fields, 'transaction_id'));
  return named === null || wrapped.some((item) => item.transactionId === named) ? wrapped : [itself, ...wrapped];
}

function readItem(fields: Record<string, unknown>): WebhookItem {
  const reference = (name: string): string | null => readText(own(fields, name), TEXT_BYTES_MAX.reference);
  return {
    transactionId: readId(fields),
    reference: reference('transaction_reference') ?? reference('reference'),
    extra: readText(own(fields, 'extra'), TEXT_BYTES_MAX.extra, readCanonicalJson),
    claimedStatus: readText(own(fields, 'status'), STATUS_BYTES_MAX),
    claimedAmountCents: readAmount(own(fields, 'transaction_amount')) ?? readAmount(own(fields, 'amount')),
  };
}

/** The integer `id` of a flat body is the notification's; only an id of UUID shape can be a transaction's. */
function readId(fields: Record<string, unknown>): string | null {
  const path = own(fields, 'path');
  const inPath = typeof path === 'string' ? PATH.exec(path)?.[1] : undefined;
  return readUuid(own(fields, 'transaction_id')) ?? readUuid(own(fields, 'id')) ?? readUuid(inPath);
}

function readUuid(value: unknown): string | null {
  return typeof value === 'string' && isUuid(value) ? value.toLowerCase() : null;
}

/** @param readOther reads a value that is neither a text nor a number. */
function readText(value: unknown, bytesMax: number, readOther = (_: unknown): string | undefined => undefined) {
  // the same form as the ledger stores, for comparison
  return truncateText(readTextOrNumber(value) ?? readOther(value) ?? '', bytesMax) || null;
}

function readAmount(value: unknown): bigint | null {
  return parseAmount(readTextOrNumber(value) ?? '') ?? null;
}

/** Reads own properties only: a body may name `__proto__` or `constructor`. */
function own(fields: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
