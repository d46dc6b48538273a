import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import type { Day, WallTime } from '../../domain/calendar.ts';
import { ID_BYTES_MAX, truncateText } from '../../domain/field-limits.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import type { Observation, Source } from '../../domain/observation.ts';
import { REMOVED } from '../../domain/person/redact-text.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { hasForgottenPeople, redactForgotten } from '../../privacy/redact-forgotten.ts';

export type RefusedRow = {
  id: string | null;
  /** Undefined if it could not be read. */
  createdWall?: WallTime | undefined;
  raw: string;
  reason: string;
  source: Source;
  /** The days in which a list showed the row, both included. */
  days?: { from: Day; to: Day };
};

/** Stores an observation that the database refused. */
export async function storeRefusedObservation(
  context: Context,
  observation: Observation,
  error: unknown,
): Promise<FoundMismatch[]> {
  const raw = JSON.stringify(observation.transaction, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  const reason = `the database refused it (${(error as { code?: string }).code ?? 'unknown'})`;
  const { id, createdWall } = observation.transaction;
  return await storeRefusedRows(context, [{ id, createdWall, raw, reason, source: observation.source }]);
}

/** Stores provider rows that could not be read: raw, once each, with a mismatch. They are not applied. */
export async function storeRefusedRows(context: Context, rows: RefusedRow[]): Promise<FoundMismatch[]> {
  if (rows.length === 0) return [];
  const raised = await transact(context.db, (trx) => writeRefused(context, trx, rows), { retryDuplicates: true });
  if (raised.length > 0) context.wakeUps.alerts.notify();
  return raised;
}

async function writeRefused(
  context: Context,
  trx: Transaction<Database>,
  rows: RefusedRow[],
): Promise<FoundMismatch[]> {
  const now = context.clock.now();
  const written = await writeRaw(context, trx, rows, now);
  const known = await findKnown(
    trx,
    rows.flatMap((row) => row.id ?? []),
  );
  const found = written.map(({ id, hash, run, row }): FoundMismatch => {
    return {
      kind: 'row_refused',
      scope: id ?? `row:${hash.toString('hex').slice(0, 32)}`,
      ...(id ? { transactionId: id } : {}),
      // without an id, only the days say where a later list may show the row again
      actual: { reason: row.reason, ...(id === null && row.days ? { days: row.days } : {}) },
      baseline: isHistory(context, row.createdWall) && !known.has(id ?? ''),
      ...(run ? { runSeq: run.seq } : {}),
      ...(row.source.kind === 'webhook' ? { webhookSeq: row.source.webhook.seq } : {}),
    };
  });
  return await raiseMismatches(trx, found, now);
}

/** Stores the raw rows of observations with an unreadable field: they are booked without that field. */
export async function storeUnreadableRows(
  context: Context,
  trx: Transaction<Database>,
  batch: Observation[],
  now: Date,
): Promise<void> {
  const rows = batch.flatMap(({ unreadable, transaction: { id }, source }) =>
    unreadable
      ? [{ id, raw: unreadable.raw, reason: `field_unreadable: ${Object.keys(unreadable.fields).join(', ')}`, source }]
      : [],
  );
  if (rows.length > 0) await writeRaw(context, trx, rows, now);
}

/** One for all rows: a provider that writes one `extra` so writes many. */
const JSON_EXTRA_SCOPE = 'extra of all rows';

/** Returns, the first time, that the provider writes `extra` as objects or lists: it is booked as their JSON. */
export async function findJsonExtras(trx: Transaction<Database>, batch: Observation[]): Promise<FoundMismatch[]> {
  const first = batch.find(({ isExtraJson }) => isExtraJson);
  if (!first) return [];
  const { transaction, source } = first;
  const mismatch = { kind: 'field_unreadable', scope: JSON_EXTRA_SCOPE } as const;
  // without a lock: a mismatch that the first batch raised must not make all later ones wait for each other
  const select = trx.selectFrom('mismatches').select('seq').where('kind', '=', mismatch.kind);
  if (await select.where('scope', '=', mismatch.scope).limit(1).executeTakeFirst()) return [];
  return [
    {
      ...mismatch,
      actual: { fields: { extra: 'an object or a list, booked as its JSON' }, transaction_id: transaction.id },
      ...(source.kind === 'webhook' ? { webhookSeq: source.webhook.seq } : {}),
      ...(source.kind !== 'webhook' && source.run ? { runSeq: source.run.seq } : {}),
    },
  ];
}

/** Inserts each raw row once, without data of forgotten people. */
async function writeRaw(context: Context, trx: Transaction<Database>, rows: RefusedRow[], now: Date) {
  const written = [];
  const raws = rows.map((row) => ({ text: row.raw }));
  const redacted = (await hasForgottenPeople(trx)) ? await redactForgotten(context.keys, trx, raws) : [];
  for (const [index, row] of rows.entries()) {
    const { id: shownId } = row;
    // an id longer than its column is replaced by the hash of the row
    const id = shownId !== null && Buffer.byteLength(shownId) <= ID_BYTES_MAX ? shownId : null;
    // a row that cannot be redacted is not stored: it may name anyone, and the provider shows it again
    const { text, error: fault } = redacted[index] ?? {};
    const shown = fault === undefined ? truncateText(text ?? row.raw, RAW_BYTES_MAX) : REMOVED;
    const run = row.source.kind === 'webhook' ? undefined : row.source.run;
    const hash = createHash('sha256').update(row.raw).digest();
    await trx
      .insertInto('refused_rows')
      .values({
        transaction_id: id,
        raw: Buffer.from(shown),
        hash,
        reason: row.reason.slice(0, REASON_CHARS_MAX),
        run_seq: run?.seq ?? null,
        page: row.source.kind === 'list' ? row.source.page : null,
        seen_at: now,
      })
      .onDuplicateKeyUpdate((eb) => ({ hash: eb.ref('refused_rows.hash') }))
      .execute();
    written.push({ id, hash, run, row });
  }
  return written;
}

/** Whether the row was created before WEBHOOKS_SINCE; a row whose time is unreadable counts as new. */
function isHistory(context: Context, createdWall: WallTime | undefined): boolean {
  return createdWall !== undefined && context.calendar.toInstant(createdWall) < context.webhooksSince;
}

/** Returns the ids that were readable before: their rows are not baseline, however old they are. */
async function findKnown(trx: Transaction<Database>, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await trx.selectFrom('transactions').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map((row) => row.id));
}

const REASON_CHARS_MAX = 1000;
/** A quarter of what the column holds; a longer row is truncated. */
const RAW_BYTES_MAX = 4 * 1024 * 1024;
