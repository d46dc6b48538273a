import { parseAmount, parseAmountNumber } from '../domain/money.ts';

export const ITEMS_MAX = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const PATH = /\/transaction\/([0-9a-f-]{36})(?:$|[/?])/i;
const REFERENCE_BYTES_MAX = 512;
const EXTRA_BYTES_MAX = 2048;
const STATUS_BYTES_MAX = 64;

/** What a webhook says of one transaction: a key to look it up by, and claims to compare with what the look shows. */
export type WebhookItem = {
  /** Lower case; only ever of UUID shape. */
  transactionId: string | null;
  reference: string | null;
  extra: string | null;
  claimedStatus: string | null;
  claimedAmountCents: bigint | null;
};

/**
 * Takes a body apart into the transactions that it names. Known shapes: flat; flat with the interface's own field
 * names; `{transaction: {…} | […]}`; `{transactions: […]}`; `{data: …}`; a list of any of them. An item without a
 * usable key has nulls in place of all three.
 */
export function readItems(body: unknown): WebhookItem[] {
  const items: WebhookItem[] = [];
  const queue: unknown[] = [body];
  for (let value = queue.shift(); value !== undefined && items.length <= ITEMS_MAX; value = queue.shift()) {
    // an empty list inside a body names nothing, but its webhook must have an item to be quarantined by
    if (Array.isArray(value) && value.length === 0) items.push(readItem({}));
    else if (Array.isArray(value)) queue.push(...value.slice(0, ITEMS_MAX + 1).map((element) => element ?? {}));
    else queue.push(...unwrap(value, items));
  }
  return items;
}

/** The wrapped values of an object, or none when it is an item itself. */
function unwrap(value: unknown, items: WebhookItem[]): unknown[] {
  if (typeof value !== 'object' || value === null) {
    items.push(readItem({}));
    return [];
  }
  const fields = value as Record<string, unknown>;
  const wrapped = ['transaction', 'transactions', 'data'].map((name) => own(fields, name)).find(isContainer);
  if (wrapped !== undefined) return [wrapped];
  items.push(readItem(fields));
  return [];
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (!Array.isArray(value) || value.length > 0);
}

function readItem(fields: Record<string, unknown>): WebhookItem {
  const amount = own(fields, 'transaction_amount') ?? own(fields, 'amount');
  return {
    transactionId: readId(fields),
    reference: readText(own(fields, 'transaction_reference') ?? own(fields, 'reference'), REFERENCE_BYTES_MAX),
    extra: readText(own(fields, 'extra'), EXTRA_BYTES_MAX),
    claimedStatus: readText(own(fields, 'status'), STATUS_BYTES_MAX),
    claimedAmountCents: readAmount(amount),
  };
}

/** The integer `id` of a flat body is the notification's; only an id of UUID shape can be a transaction's. */
function readId(fields: Record<string, unknown>): string | null {
  const named = [own(fields, 'transaction_id'), own(fields, 'id')];
  const id = named.find((value): value is string => typeof value === 'string' && UUID.test(value));
  if (id !== undefined) return id.toLowerCase();
  const path = own(fields, 'path');
  const inPath = typeof path === 'string' ? PATH.exec(path)?.[1] : undefined;
  return inPath !== undefined && UUID.test(inPath) ? inPath.toLowerCase() : null;
}

function readText(value: unknown, bytesMax: number): string | null {
  if (!isTextual(value)) return null;
  const text = String(value);
  return text === '' || Buffer.byteLength(text) > bytesMax ? null : text;
}

function readAmount(value: unknown): bigint | null {
  if (typeof value === 'number') return parseAmountNumber(value) ?? null;
  return typeof value === 'string' ? (parseAmount(value) ?? null) : null;
}

function isTextual(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** A body may name `__proto__` or `constructor`: only what it holds itself counts. */
function own(fields: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
