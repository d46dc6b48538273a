/**
 * Imports a file that a person gives: reads it, checks each row, and makes all changes in one transaction, or none. The
 * transaction has a row of `imports` with the file's SHA-256, unique for its kind: the same file again imports nothing.
 */
import { createHash } from 'node:crypto';
import { auditChange, auditChangeOnce } from '../access/audit.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import type { Message } from '../domain/errors.ts';
import { createId } from '../domain/ids.ts';
import { lockPolicies } from '../ledger/journal/read-policies.ts';
import { type ChangePreview, previewChange } from '../ledger/read/preview-change.ts';
import { message } from '../texts/messages.ts';
import { refuseField } from '../texts/refuse.ts';
import {
  type Answers,
  type Applied,
  ChangedSincePreviewError,
  type EqualRow,
  type ImportFault,
  type ImportKind,
  ImportRefusedError,
  type LeftOutRow,
  type ReadRows,
} from './import-kind.ts';
import { bytesMaxOf, findImportKind, type ImportKindName } from './import-kinds.ts';

/** `answers`: to what the file leaves open. */
export type ImportedFile = { kind: ImportKindName; bytes: Buffer; answers?: Answers };

/** `rows`: of the file. `changed`: those that changed something; 0 for a file that was imported before. */
export type ImportOutcome = Pick<Applied, 'bank' | 'decisions' | 'orders' | 'accounts'> & {
  kind: ImportKindName;
  sha256: string;
  rows: number;
  changed: number;
  /** The import of the same file before. */
  repeats: { id: string; at: string; by: string } | null;
  /** Rows that equal what was booked before this file; without `allowEqual` they are refused. */
  equal: EqualRow[];
  /** The basis of the comparison; empty for a kind that compares none. */
  basis: string;
  /** Rows beside the table, which are not imported. */
  leftOut: LeftOutRow[];
};

export type ImportPreview = ImportOutcome & {
  /** The entries that it would post, and the days whose reports change. */
  change: ChangePreview;
};

/**
 * Imports a file and audits it.
 * @param by.key makes the change once for this key, as `auditChangeOnce` does.
 * @param by.basis of the preview that a person confirms.
 * @param by.allowEqual imports also rows that equal what is booked, of a kind without a key of its own.
 * @returns undefined if the key was used.
 * @throws ImportRefusedError with all faults by row and column: then nothing is imported.
 * @throws ChangedSincePreviewError if rows would be compared with something else than at the preview.
 */
export async function importFile(
  context: Context,
  file: ImportedFile,
  by: { actor: string; allowEqual: boolean; key?: string; basis?: string },
): Promise<ImportOutcome | undefined> {
  const read = await readFile(context, file);
  const { answers } = read;
  const change = (inner: Context) => apply(inner, read, by);
  const describe = ({ kind, sha256, rows, changed, repeats, equal, bank, leftOut }: ImportOutcome) => ({
    actor: by.actor,
    action: 'imports.create',
    target: kind,
    detail: JSON.stringify({
      ...{ sha256, rows, changed },
      ...(repeats ? { repeats: repeats.id } : {}),
      ...(equal.length > 0 ? { already_booked: equal.length } : {}),
      ...(leftOut.length > 0 ? { left_out: leftOut.length } : {}),
      ...(Object.keys(answers).length > 0 ? { answers } : {}),
      ...(bank && !bank.repeated ? { statements: bank.statements.length, matched: bank.matched } : {}),
    }),
  });
  const outcome =
    by.key === undefined
      ? await auditChange(context, change, describe)
      : await auditChangeOnce(context, by.key, change, describe);
  await read.kind.finish?.(context);
  return outcome;
}

/** An outcome as the API and the command line show it. */
export function presentOutcome({
  kind,
  sha256,
  rows,
  changed,
  repeats,
  equal,
  bank,
  leftOut,
  decisions,
  orders,
}: ImportOutcome) {
  const booked = equal.map(({ row, id, at, by }) => ({ row, id, created_at: at.toISOString(), created_by: by }));
  return {
    kind,
    sha256,
    rows,
    changed,
    repeats,
    already_booked: booked,
    left_out: leftOut,
    ...bank,
    ...(decisions && { decisions }),
    ...(orders && { unfindable: orders.unfindable, unseen_platforms: orders.unseen, asked_receipts: orders.asked }),
  };
}

/** Whether the same file was imported before, and nothing changed. */
export function isRepeated({ repeats, changed, bank }: ImportOutcome): boolean {
  return (repeats !== null && changed === 0) || bank?.repeated === true;
}

/**
 * Says what an import would do: it is the import itself, rolled back.
 * @param by.inspect reads what the import made, before it is rolled back.
 * @throws ImportRefusedError as `importFile` does.
 */
export async function previewImport(
  context: Context,
  file: ImportedFile,
  { allowEqual, inspect }: { allowEqual: boolean; inspect?: (inner: Context, made: ImportOutcome) => Promise<void> },
): Promise<ImportPreview> {
  const read = await readFile(context, file);
  let outcome: ImportOutcome | undefined;
  const change = await previewChange(context, async (inner) => {
    outcome = await apply(inner, read, { actor: 'preview', allowEqual });
    await inspect?.(inner, outcome);
  });
  if (!outcome) throw new Error('a preview has an outcome');
  return { ...outcome, change };
}

type ReadFile = {
  name: ImportKindName;
  kind: ImportKind;
  sha256: Buffer;
  bytes: number;
  count: number;
  answers: Answers;
} & ReadRows<unknown>;

/** @throws ImportRefusedError for a file that cannot be read at all. */
async function readFile(context: Context, { kind: name, bytes, answers = {} }: ImportedFile): Promise<ReadFile> {
  const kind = findImportKind(name);
  checkAnswers(kind, answers);
  const bytesMax = bytesMaxOf(name);
  if (bytes.length > bytesMax) throw refuse(kind, [unreadable(message('file.too_large', { n: bytesMax }))]);
  if (bytes.length === 0) throw refuse(kind, [unreadable(message('file.empty'))]);
  const read = await kind.read(context, bytes, answers);
  if (read.rows.length === 0) throw refuse(kind, read.faults);
  const sha256 = createHash('sha256').update(bytes).digest();
  return { name, kind, sha256, bytes: bytes.length, count: read.rows.length, answers, ...read };
}

function checkAnswers({ questions = {} }: ImportKind, answers: Answers): void {
  for (const [name, answer] of Object.entries(answers)) {
    const question = questions[name];
    const known = question?.answers && Object.keys(question.answers);
    if (question && (known ? known.includes(answer) : answer.trim() !== '')) continue;
    if (!question) throw refuseField(name, 'question_unknown');
    throw refuseField(name, 'answer_wrong', { answers: known?.join(', ') ?? 'a text' });
  }
}

function unreadable(why: Message): ImportFault {
  return { row: 0, column: null, kind: 'unreadable', said: [why] };
}

function refuse(kind: ImportKind, faults: ImportFault[]): ImportRefusedError {
  return new ImportRefusedError(faults, kind.columns);
}

async function apply(
  inner: Context,
  read: ReadFile,
  by: { actor: string; allowEqual: boolean; basis?: string },
): Promise<ImportOutcome> {
  const { name: kind, sha256, rows, count, leftOut } = read;
  const { compare, isWholeState = false } = read.kind;
  // of two files at once with equal rows, the later one sees those of the first
  if (compare) await transact(inner.db, lockPolicies);
  const outcome = { kind, sha256: sha256.toString('hex'), rows: count, leftOut };
  const before = await findImport(inner.db, kind, sha256);
  if (before && !isWholeState)
    return { ...outcome, ...read.kind.unchanged, changed: 0, repeats: before, equal: [], basis: '' };
  const basis = (await compare?.readBasis(inner.db)) ?? '';
  if (by.basis !== undefined && by.basis !== basis) throw new ChangedSincePreviewError();
  const equal = (await compare?.findEqual(inner.db, rows)) ?? [];
  // with a fault in one row the others are checked too: all faults are listed at once
  const isWhole = read.faults.length === 0;
  const { faults: refused, ...applied } = await read.kind.apply(inner, rows, {
    ...{ actor: by.actor, sha256, isWhole },
    answers: read.answers,
  });
  const booked = by.allowEqual
    ? []
    : equal.map(({ row, id }) => ({ row, column: null, kind: 'booked', value: id }) as const);
  const faults = [...read.faults, ...booked, ...refused].sort((a, b) => a.row - b.row);
  if (faults.length > 0) throw refuse(read.kind, faults);
  if (!before) await recordImport(inner, read, { rows_changed: applied.changed, actor: by.actor });
  const left = [...leftOut, ...(applied.leftOut ?? [])];
  return { ...outcome, ...applied, leftOut: left, repeats: before ?? null, equal, basis };
}

/** Records an import. Where two people import one file at once, the later one meets a duplicate key, begins anew and finds this row. */
async function recordImport(
  { db, clock }: Context,
  { name: kind, sha256, bytes, count: rows_read }: ReadFile,
  by: { rows_changed: number; actor: string },
): Promise<void> {
  const id = createId('imp');
  await db
    .insertInto('imports')
    .values({ id, kind, sha256, bytes, rows_read, ...by, created_at: clock.now() })
    .execute();
}

async function findImport(db: Reader, kind: string, sha256: Buffer): Promise<ImportOutcome['repeats'] | undefined> {
  const row = await db
    .selectFrom('imports')
    .select(['id', 'created_at', 'actor'])
    .where('kind', '=', kind)
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  return row && { id: row.id, at: row.created_at.toISOString(), by: row.actor };
}

/** Lists imports as the API shows them, newest first. @param before list below this row number. */
export async function listImports(db: Reader, limit: number, before?: number) {
  const rows = await db
    .selectFrom('imports')
    .selectAll()
    .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    seq: row.seq,
    id: row.id,
    kind: row.kind,
    sha256: row.sha256.toString('hex'),
    rows: row.rows_read,
    changed: row.rows_changed,
    created_at: row.created_at.toISOString(),
    created_by: row.actor,
  }));
}
