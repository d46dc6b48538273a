import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isWall, type Wall } from '../domain/calendar.ts';
import { AMOUNT_CENTS_MAX, formatAmount, parseAmount } from '../domain/money.ts';
import type { ObservedEvent, ObservedTransaction } from '../domain/observation.ts';
import { OPERATIONS, type Operation } from '../domain/statuses.ts';

const ID_CHARS_MAX = 64;
const STATUS_CHARS_MAX = 32;
const EVENTS_MAX = 1000;

/** Absent, null and empty are all `null`; a number or a boolean is taken by its text. */
function text(bytesMax: number) {
  return z
    .union([z.string(), z.number(), z.boolean()])
    .nullish()
    .transform((value) => (value === null || value === undefined || value === '' ? null : String(value)))
    .refine((value) => value === null || Buffer.byteLength(value) <= bytesMax, `longer than ${bytesMax} bytes`);
}

const NO_AMOUNT = `no amount with at most two decimals, up to ${formatAmount(AMOUNT_CENTS_MAX)}`;

/** An amount by its decimal text: a JSON number is taken by the shortest text that means it. */
const amount = z
  .union([z.string(), z.number()])
  .transform((value) => parseAmount(String(value)))
  .refine((cents) => cents !== undefined, NO_AMOUNT);

/** Texts, and how many bytes each may have. */
const TEXT_BYTES_MAX = {
  reference: 512,
  extra: 2048,
  platform: 64,
  e2e_id: 128,
  name: 1024,
  email: 1024,
  phone: 256,
  document: 256,
  description: 4096,
  pix_key: 512,
} as const;
type TextField = keyof typeof TEXT_BYTES_MAX;
const TEXT_FIELDS = Object.entries(TEXT_BYTES_MAX) as [TextField, number][];
const textFields = Object.fromEntries(TEXT_FIELDS.map(([name, bytesMax]) => [name, text(bytesMax)])) as Record<
  TextField,
  ReturnType<typeof text>
>;

const wall = z.string().refine(isWall, 'no date of the form YYYY-MM-DD HH:mm:ss');
const status = z.string().min(1).max(STATUS_CHARS_MAX);

const shape = z.object({
  id: z.string().min(1).max(ID_CHARS_MAX),
  operation: z.enum(OPERATIONS),
  status,
  amount,
  commission: z
    .union([z.string(), z.number()])
    .nullish()
    .transform((value) => (value === null || value === undefined || value === '' ? null : parseAmount(String(value))))
    .refine((cents) => cents !== undefined, NO_AMOUNT),
  date_created: wall,
  ...textFields,
  events: z
    .array(z.object({ date_created: wall, status }))
    .max(EVENTS_MAX)
    .nullish(),
});

/** A row that was taken, before its history is put in order. */
type Shown = Record<TextField, string | null> & {
  id: string;
  operation: Operation;
  status: string;
  amount: bigint;
  commission: bigint | null;
  date_created: Wall;
  events?: { date_created: Wall; status: string }[] | null | undefined;
};

export type ReadRow =
  | { ok: true; transaction: ObservedTransaction; digest: Buffer }
  | { ok: false; id: string | null; createdWall: Wall | undefined; reason: string; raw: string };

/** Reads one transaction of the provider's; one that can't be read comes back raw, with what is wrong with it. */
export function readTransaction(row: unknown): ReadRow {
  const plain = readPlain(row);
  return plain ? finish(plain) : readBySchema(row);
}

/** Any row: what is plain and what is not. */
export function readBySchema(row: unknown): ReadRow {
  const parsed = shape.safeParse(row);
  if (!parsed.success) {
    // what is wrong names fields and rules, never values
    const reason = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    const id = z.object({ id: shape.shape.id }).safeParse(row).data?.id ?? null;
    const createdWall = z.object({ date_created: wall }).safeParse(row).data?.date_created;
    return { ok: false, id, createdWall, reason, raw: JSON.stringify(row) ?? 'undefined' };
  }
  const { amount: amountCents, commission, ...shown } = parsed.data;
  return finish({ ...shown, amount: amountCents ?? 0n, commission: commission ?? null });
}

function finish(shown: Shown): ReadRow {
  const events = orderHistory(shown.events ?? [], shown.status);
  const transaction: ObservedTransaction = {
    id: shown.id,
    operation: shown.operation,
    status: shown.status,
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
    events: events.length > 0 ? events : [{ status: shown.status, atWall: shown.date_created }],
    eventsInferred: events.length === 0,
  };
  return { ok: true, transaction, digest: digestOf(transaction) };
}

/**
 * A row in the form that almost all have, read without the schema, which takes ten times as long; undefined where any
 * field is not of its plainest form, and the schema has to tell. A test holds the two against each other.
 */
function readPlain(row: unknown): Shown | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const given = row as Record<string, unknown>;
  const { id, operation, status: shownStatus, date_created: created } = given;
  const cents = typeof given.amount === 'string' ? parseAmount(given.amount) : undefined;
  const fee = readPlainFee(given.commission);
  const events = readPlainEvents(given.events);
  if (!isShort(id, ID_CHARS_MAX) || (operation !== 'cashin' && operation !== 'cashout')) return undefined;
  if (!isShort(shownStatus, STATUS_CHARS_MAX) || typeof created !== 'string' || !isWall(created)) return undefined;
  if (cents === undefined || fee === undefined || events === undefined) return undefined;
  const texts: Partial<Record<TextField, string | null>> = {};
  for (const [name, bytesMax] of TEXT_FIELDS) {
    const value = given[name] ?? null;
    if (value !== null && (typeof value !== 'string' || Buffer.byteLength(value) > bytesMax)) return undefined;
    texts[name] = value === '' ? null : value;
  }
  const facts: Omit<Shown, TextField> = {
    id,
    operation,
    status: shownStatus,
    amount: cents,
    commission: fee,
    date_created: created,
    events,
  };
  return { ...facts, ...(texts as Record<TextField, string | null>) };
}

function isShort(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= charsMax;
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
      isWall(event.date_created) &&
      isShort(event.status, STATUS_CHARS_MAX),
  );
  return isPlain ? (value as { date_created: string; status: string }[]) : undefined;
}

/**
 * Oldest first. The order of the array is the history: newest first, unless the row's own status stands at the array's
 * end alone. Times never reorder events: two of the provider's servers may be a second apart.
 */
function orderHistory(events: { date_created: string; status: string }[], own: string): ObservedEvent[] {
  const history = events.map((event) => ({ status: event.status, atWall: event.date_created }));
  const isOldestFirst = history[0]?.status !== own && history.at(-1)?.status === own;
  return isOldestFirst ? history : history.toReversed();
}

function digestOf(transaction: ObservedTransaction): Buffer {
  const { amountCents, commissionCents } = transaction;
  const commission = commissionCents === null ? null : String(commissionCents);
  const content = JSON.stringify({ ...transaction, amountCents: String(amountCents), commissionCents: commission });
  return createHash('sha256').update(content).digest();
}
