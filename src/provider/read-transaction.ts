import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isWall, type Wall } from '../domain/calendar.ts';
import { parseAmount } from '../domain/money.ts';
import type { ObservedEvent, ObservedTransaction } from '../domain/observation.ts';
import { OPERATIONS } from '../domain/statuses.ts';

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

/** An amount by its decimal text: a JSON number is taken by the shortest text that means it. */
const amount = z
  .union([z.string(), z.number()])
  .transform((value) => parseAmount(String(value)))
  .refine((cents) => cents !== undefined, 'no amount with at most two decimals');

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
    .refine((cents) => cents !== undefined, 'no amount with at most two decimals'),
  date_created: wall,
  reference: text(512),
  extra: text(2048),
  platform: text(64),
  e2e_id: text(128),
  name: text(1024),
  email: text(1024),
  phone: text(256),
  document: text(256),
  description: text(4096),
  pix_key: text(512),
  events: z
    .array(z.object({ date_created: wall, status }))
    .max(EVENTS_MAX)
    .nullish(),
});

export type ReadRow =
  | { ok: true; transaction: ObservedTransaction; digest: Buffer }
  | { ok: false; id: string | null; createdWall: Wall | undefined; reason: string; raw: string };

/** Reads one transaction of the provider's; one that can't be read comes back raw, with what is wrong with it. */
export function readTransaction(row: unknown): ReadRow {
  const parsed = shape.safeParse(row);
  if (!parsed.success) {
    // what is wrong names fields and rules, never values
    const reason = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    const id = z.object({ id: shape.shape.id }).safeParse(row).data?.id ?? null;
    const createdWall = z.object({ date_created: wall }).safeParse(row).data?.date_created;
    return { ok: false, id, createdWall, reason, raw: JSON.stringify(row) ?? 'undefined' };
  }
  const shown = parsed.data;
  const events = orderHistory(shown.events ?? []);
  const transaction: ObservedTransaction = {
    id: shown.id,
    operation: shown.operation,
    status: shown.status,
    amountCents: shown.amount ?? 0n,
    commissionCents: shown.commission ?? null,
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

/** Oldest first. The provider gives the newest first; a history that rises from its start is taken as it stands. */
function orderHistory(events: { date_created: string; status: string }[]): ObservedEvent[] {
  const history = events.map((event) => ({ status: event.status, atWall: event.date_created }));
  const [first, last] = [history[0], history.at(-1)];
  return first && last && first.atWall < last.atWall ? history : history.toReversed();
}

function digestOf(transaction: ObservedTransaction): Buffer {
  const content = JSON.stringify(transaction, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  return createHash('sha256').update(content).digest();
}
