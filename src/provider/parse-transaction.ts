import { hash } from 'node:crypto';
import { z } from 'zod';
import { isWallTime, type WallTime } from '../domain/calendar.ts';
import { centsOf } from '../domain/cents-of.ts';
import { readCanonicalJson, readList, readScalar, readTextOrNumber } from '../domain/exact-json.ts';
import {
  ID_BYTES_MAX,
  STATUS_BYTES_MAX,
  TEXT_BYTES_MAX,
  type TextField,
  truncateText,
} from '../domain/field-limits.ts';
import { AMOUNT_CENTS_MAX, formatAmount, parseAmount } from '../domain/money.ts';
import type { Observation, ObservedEvent, ObservedTransaction, UnreadableFields } from '../domain/observation.ts';
import { OPERATIONS, type Operation, STATUS_UNREADABLE } from '../domain/statuses.ts';

const EVENTS_MAX = 1000;

const NO_AMOUNT = `no amount with at most two decimals, up to ${formatAmount(AMOUNT_CENTS_MAX)}`;

const TEXT_FIELDS = Object.entries(TEXT_BYTES_MAX) as [TextField, number][];

const wall = z.string().refine(isWallTime, 'no date of the form YYYY-MM-DD HH:mm:ss');
// the database returns a lone surrogate as another character: the row would not be found by its id
const id = z
  .unknown()
  .transform((value) => readTextOrNumber(value) ?? '')
  .pipe(z.string().min(1))
  .refine((value) => Buffer.byteLength(value) <= ID_BYTES_MAX, `longer than ${ID_BYTES_MAX} bytes`)
  .refine((value) => value.isWellFormed(), 'not well-formed Unicode');

const decimal = z.unknown().transform((value) => readTextOrNumber(value) ?? '');

/** The fields without which a row is refused. An amount is its decimal text; a JSON number's digits are as they were. */
const required = z.object({
  id,
  operation: z.enum(OPERATIONS),
  amount: decimal.transform(centsOf(parseAmount, NO_AMOUNT)),
  date_created: wall,
});

/** An accepted row, before its history is ordered. */
type Shown = Record<TextField, string | null> & {
  id: string;
  operation: Operation;
  /** Null where it can't be read. */
  status: string | null;
  amount: bigint;
  commission: bigint | null;
  date_created: WallTime;
  events: { date_created: WallTime; status: string }[];
};

type AcceptedRow = Pick<Observation, 'transaction' | 'digest' | 'unreadable' | 'isExtraJson'> & { ok: true };

export type ParsedRow =
  | AcceptedRow
  | { ok: false; id: string | null; createdWall: WallTime | undefined; reason: string; raw: string };

/**
 * Parses one transaction of the provider. Only `id`, `operation`, `amount` and `date_created` can refuse a row: it is
 * returned raw, with the reason. Any other unreadable field is null in the transaction and named in `unreadable`, with
 * the raw row. A text longer than its column is truncated (see `truncateText`). An `extra` that is an object or a list is
 * its canonical JSON (`isExtraJson`), as in a webhook.
 */
export function parseTransaction(row: unknown): ParsedRow {
  const plain = readPlain(row);
  return plain ? finish(plain, undefined) : parseBySchema(row);
}

/** Parses any row. */
export function parseBySchema(row: unknown): ParsedRow {
  const parsed = required.safeParse(row);
  if (!parsed.success) {
    // errors name fields and rules, never values
    const reason = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    const shownId = z.object({ id }).safeParse(row).data?.id ?? null;
    const createdWall = z.object({ date_created: wall }).safeParse(row).data?.date_created;
    return { ok: false, id: shownId, createdWall, reason, raw: keepRaw(row) };
  }
  const shownRow = row as Record<string, unknown>;
  const extra = readCanonicalJson(shownRow.extra);
  const given = extra === undefined ? shownRow : { ...shownRow, extra };
  const fields = new Map<string, string>();
  /** @param read returns undefined where it can't read the value. */
  const side = <T>(name: string, rule: string, read: (value: unknown) => T | undefined): T | null => {
    const value = read(given[name]);
    if (value === undefined) fields.set(name, rule);
    return value ?? null;
  };
  const texts = TEXT_FIELDS.map(([name, bytesMax]) => [
    name,
    side(name, 'no text', (value) => readText(value, bytesMax)),
  ]);
  const shown: Shown = {
    ...parsed.data,
    commission: side('commission', NO_AMOUNT, readCommission),
    status: side('status', 'no status', (value) => readText(value, STATUS_BYTES_MAX) ?? undefined),
    events: side('events', 'no history of statuses and dates', readEvents) ?? [],
    ...(Object.fromEntries(texts) as Record<TextField, string | null>),
  };
  const unreadable = fields.size === 0 ? undefined : { fields: Object.fromEntries(fields), raw: keepRaw(row) };
  return { ...finish(shown, unreadable), ...(extra ? { isExtraJson: true } : {}) };
}

function finish(shown: Shown, unreadable: UnreadableFields | undefined): AcceptedRow {
  const events = orderHistory(shown.events, shown.status);
  const status = shown.status ?? events.at(-1)?.status ?? STATUS_UNREADABLE;
  const transaction: ObservedTransaction = {
    id: shown.id,
    operation: shown.operation,
    status,
    amountCents: shown.amount,
    commissionCents: shown.commission,
    createdWall: shown.date_created,
    reference: shown.reference,
    extra: shown.extra,
    platform: shown.platform,
    e2eId: shown.e2e_id,
    name: shown.name,
    email: shown.email,
    phone: shown.phone,
    document: shown.document,
    description: shown.description,
    pixKey: shown.pix_key,
    events: events.length > 0 ? events : [{ status, atWall: shown.date_created }],
    eventsInferred: events.length === 0,
  };
  return { ok: true, transaction, digest: digestOf(transaction, unreadable), ...(unreadable ? { unreadable } : {}) };
}

/** Absent, null and empty become null; a number or a boolean its text. @returns undefined where it is no text. */
function readText(value: unknown, bytesMax: number): string | null | undefined {
  const text = readScalar(value ?? '');
  return text === undefined ? undefined : truncateText(text, bytesMax) || null;
}

/** Reads cents. Trailing zeros beyond the second decimal are accepted (`0.9900`): they change no value. */
function readCommission(value: unknown): bigint | null | undefined {
  if (value === null || value === undefined || value === '') return null;
  return parseAmount(readTextOrNumber(value)?.replace(TRAILING_ZEROS, '$1') ?? '');
}

const TRAILING_ZEROS = /^(\d+\.\d{2})0+$/;

function readEvents(value: unknown): Shown['events'] | undefined {
  if (value === null || value === undefined || value === '') return [];
  const list = readList(value);
  if (!list || list.length > EVENTS_MAX) return undefined;
  const events = list.map((event: unknown) => {
    const { date_created: at, status } = Object(event) as Record<string, unknown>;
    const name = readText(status, STATUS_BYTES_MAX);
    return typeof at === 'string' && isWallTime(at) && name ? { date_created: at, status: name } : undefined;
  });
  return events.every((event) => event !== undefined) ? events : undefined;
}

/**
 * Parses the form that almost all rows have, ten times as fast as the schema. A test compares both.
 * @returns undefined where any field is not of its plainest form: the schema decides.
 */
function readPlain(row: unknown): Shown | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const given = row as Record<string, unknown>;
  const { id: shownId, operation, status: shownStatus, date_created: created } = given;
  const cents = typeof given.amount === 'string' ? parseAmount(given.amount) : undefined;
  const fee = readPlainFee(given.commission);
  const events = readPlainEvents(given.events);
  if (!isPlainText(shownId, ID_BYTES_MAX) || (operation !== 'cashin' && operation !== 'cashout')) return undefined;
  if (!isPlainText(shownStatus, STATUS_BYTES_MAX) || typeof created !== 'string' || !isWallTime(created))
    return undefined;
  if (cents === undefined || fee === undefined || events === undefined) return undefined;
  const texts: Partial<Record<TextField, string | null>> = {};
  for (const [name, bytesMax] of TEXT_FIELDS) {
    const value = given[name] ?? null;
    if (value !== null && value !== '' && !isPlainText(value, bytesMax)) return undefined;
    texts[name] = value === '' ? null : value;
  }
  const facts: Omit<Shown, TextField> = {
    id: shownId,
    operation,
    status: shownStatus,
    amount: cents,
    commission: fee,
    date_created: created,
    events,
  };
  return { ...facts, ...(texts as Record<TextField, string | null>) };
}

/** Whether a text is stored unchanged: not empty, well-formed, and not truncated (see `truncateText`). */
function isPlainText(value: unknown, bytesMax: number): value is string {
  return typeof value === 'string' && value.length > 0 && Buffer.byteLength(value) <= bytesMax && value.isWellFormed();
}

function readPlainFee(value: unknown): bigint | null | undefined {
  if (value === null || value === undefined || value === '') return null;
  return typeof value === 'string' ? parseAmount(value) : undefined;
}

function readPlainEvents(value: unknown): Shown['events'] | undefined {
  if (!Array.isArray(value) || value.length > EVENTS_MAX) return undefined;
  const isPlain = value.every(
    (event: unknown) =>
      typeof event === 'object' &&
      event !== null &&
      'date_created' in event &&
      'status' in event &&
      typeof event.date_created === 'string' &&
      isWallTime(event.date_created) &&
      isPlainText(event.status, STATUS_BYTES_MAX),
  );
  return isPlain ? (value as { date_created: string; status: string }[]) : undefined;
}

/**
 * Orders events oldest first. The order of the array is the history: newest first, unless the row's own status stands
 * only at the array's end. Times never reorder events: two of the provider's servers may be a second apart.
 */
function orderHistory(events: { date_created: string; status: string }[], own: string | null): ObservedEvent[] {
  const history = events.map((event) => ({ status: event.status, atWall: event.date_created }));
  const isOldestFirst = history[0]?.status !== own && history.at(-1)?.status === own;
  return isOldestFirst ? history : history.toReversed();
}

/** The digest holds an unreadable field's name, not its value: a value that differs in every answer is stored once. */
function digestOf(transaction: ObservedTransaction, unreadable: UnreadableFields | undefined): Buffer {
  const { amountCents, commissionCents } = transaction;
  const commission = commissionCents === null ? null : String(commissionCents);
  const content = JSON.stringify({ ...transaction, amountCents: String(amountCents), commissionCents: commission });
  return hash('sha256', content + (unreadable ? JSON.stringify(Object.keys(unreadable.fields)) : ''), 'buffer');
}

/** The raw row. */
function keepRaw(row: unknown): string {
  try {
    return JSON.stringify(row) ?? 'undefined';
  } catch {
    // thousands of nested lists: JSON.parse needs no stack for them, JSON.stringify does
    return 'nested too deeply to be kept';
  }
}
