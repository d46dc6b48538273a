import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { hashDocument } from '../../database/keys/index-person.ts';
import { placeOf } from '../../database/keys/sealed-columns.ts';
import { encryptForStorage } from '../../database/keys/settings.ts';
import { transact } from '../../database/transact.ts';
import { waitForInserted } from '../../database/wait-for-writers.ts';
import { wrongUse } from '../../domain/errors.ts';
import { normalizeDocument } from '../../domain/person/fold-person.ts';
import type { Person } from '../../domain/person/person.ts';
import { countSegments } from '../../inbox/spool/redact-retained-files.ts';
import { findPerson, NO_PERSON_VALUES, type PersonValues } from '../../privacy/find-person.ts';
import { indexParties } from '../../privacy/index-parties.ts';
import { findReportDays } from '../../reports/serve/find-report-days.ts';
import { readInput } from '../parse-options.ts';
import { print, type withContext } from '../with-context.ts';
import { listErasureTargets } from './list-erasure-targets.ts';

/** Prefix of a keyed hash that distinguishes one person from another. */
const HASH_CHARS = 16;
/** Between two rounds, beside the wait for inserted rows: longer than a transaction that updates a row takes. */
const ROUND_MS = 2_000;
/** A transaction that read no tombstone may still insert the person's data into these. */
const WRITTEN = ['webhooks', 'transactions', 'events', 'mismatches', 'mismatch_changes', 'alerts'] as const;
const ROUNDS_MIN = 2;
const ROUNDS_MAX = 5;

type Options = { document?: string; file?: string; dryRun?: boolean; json?: boolean };
type Forgotten = Awaited<ReturnType<typeof forget>>;

export function forgetCommand(program: Command, open: typeof withContext): void {
  program
    .command('forget')
    .description(
      "destroy a person's data: columns, raw bodies, responses, notes, report files; amounts and the chain stay",
    )
    .option('--document <document>', 'CPF or CNPJ; - reads it from standard input, out of the shell history')
    .option('--file <file>', 'a file whose first line is the document')
    .option('--dry-run', 'only count what would be erased')
    .option('--json', 'print one JSON object')
    .action(async (options: Options) => {
      const document = await readDocument(options);
      await open({}, async (context) => {
        const done = await forget(context, document, { dryRun: options.dryRun ?? false });
        print(options.json, done, describe(done));
        return done.finished ? 0 : 1;
      });
    });
}

async function readDocument({ document, file }: Options): Promise<string> {
  if ((document === undefined) === (file === undefined)) {
    throw wrongUse('give --document <document>, --document - for standard input, or --file <file>');
  }
  const text = file !== undefined || document === '-' ? await readInput(file ?? '-') : (document ?? '');
  const plain = normalizeDocument(text.trim().split('\n')[0] ?? '');
  // a shorter text occurs by chance
  if (plain?.length !== 11 && plain?.length !== 14) {
    throw wrongUse('that is no document: a CPF has 11 characters, a CNPJ 14');
  }
  return plain;
}

/**
 * Forgets the person with this document. It first writes the tombstone, after which nothing of the person is stored
 * again, save by transactions that began before: they are waited for after the first round. It erases each target, until a
 * round after that finds nothing more. The values to search for stay stored, encrypted,
 * until then: after a crash at any instant, the same command resumes. Run once more afterwards, it finds nothing.
 */
async function forget(context: Context, document: string, { dryRun }: { dryRun: boolean }) {
  // a transaction that is not indexed is not found by its document
  await indexParties(context);
  const hash = hashDocument(context.keys, document);
  const person = hash.toString('hex').slice(0, HASH_CHARS);
  await recordStart(context, hash, { person, dryRun });
  const before = await readValues(context, hash);
  const erased = Object.create(null) as Record<string, number>;
  let transactions = 0;
  let values = before;
  const record = async (name: 'changes' | 'orders', seqs: number[]): Promise<void> => {
    values = { ...values, [name]: [...new Set([...values[name], ...seqs])] };
    if (!dryRun) await storeValues(context, hash, values);
  };
  const missed = new Set<string>();
  const left = new Set<string>();
  let finished = false;
  for (let round = 1; round <= (dryRun ? 1 : ROUNDS_MAX); round++) {
    const found = await findPerson(context, document, values);
    ({ values } = found);
    transactions = found.person.transactions.length;
    if (!dryRun) await storeValues(context, hash, values);
    const changed = await eraseTargets(
      context,
      { write: !dryRun, erased },
      {
        ...found.person,
        onSkipped: (row) => missed.add(row),
        onLeft: (row) => left.add(row),
        recordMismatchChanges: (changes) => record('changes', changes),
        recordExpected: (orders) => record('orders', orders),
        listReportDays: async () => {
          const theirs = found.person.transactions.map((one) => one.seq);
          const { mentions, changes, orders } = values;
          return await findReportDays(context, { transactions: [...theirs, ...mentions], changes, orders });
        },
      },
    );
    const isLast = dryRun || (changed === 0 && round >= ROUNDS_MIN);
    finished = missed.size + left.size === 0 && isLast;
    if (isLast) break;
    await context.timers.sleep(ROUND_MS);
    for (const table of WRITTEN) await waitForInserted(context.db, table);
  }
  if (!dryRun) await recordResult(context, hash, { person, finished, detail: { transactions, erased } });
  return {
    person,
    dry_run: dryRun,
    // false: data of the person was still being written after ROUNDS_MAX rounds, or `missed` or `left` has rows
    finished,
    // rows that could not be searched, as `table key`
    missed: [...missed],
    // merchants in use that name the person, as `table id`: an operator must change or remove them
    left: [...left],
    transactions,
    erased,
    // spool files with undrained webhooks: these are redacted in the inbox, once they are processed
    spool_segments: countSegments(context.config),
  };
}

/** Erases each target. @param to.erased counts by target, added to. @returns how many rows and files were erased. */
async function eraseTargets(
  context: Context,
  to: { write: boolean; erased: Record<string, number> },
  person: Person,
): Promise<number> {
  let changed = 0;
  for (const { name, erase } of listErasureTargets(context)) {
    const count = await erase(person, to);
    to.erased[name] = (to.erased[name] ?? 0) + count;
    changed += count;
    showProgress(name, count);
  }
  return changed;
}

async function readValues(context: Context, hash: Buffer): Promise<PersonValues> {
  const row = await context.db
    .selectFrom('forgotten_people')
    .select('sealed_values')
    .where('document_hash', '=', hash)
    .executeTakeFirst();
  if (!row?.sealed_values) return NO_PERSON_VALUES;
  const opened = context.vault.decrypt(row.sealed_values, placeOf('forgotten_people', { document_hash: hash }));
  return { ...NO_PERSON_VALUES, ...(JSON.parse(opened.toString()) as Partial<PersonValues>) };
}

/** Writes the tombstone, and audits the command before anything is counted: a count reveals whether the person is known. */
async function recordStart(
  context: Context,
  hash: Buffer,
  { person, dryRun }: { person: string; dryRun: boolean },
): Promise<void> {
  const detail = JSON.stringify({ dry_run: dryRun });
  const done = { actor: 'command', action: 'people.forget_started', target: `document:${person}`, detail };
  await auditChange(context, async (inner) => (dryRun ? undefined : await writeTombstone(inner, hash)), done);
}

async function writeTombstone({ db, clock }: Context, hash: Buffer): Promise<void> {
  await db
    .insertInto('forgotten_people')
    .values({ document_hash: hash, forgotten_at: clock.now() })
    .onDuplicateKeyUpdate({ finished_at: null })
    .execute();
}

async function storeValues(context: Context, hash: Buffer, values: PersonValues): Promise<void> {
  await transact(context.db, async (trx) => {
    const place = placeOf('forgotten_people', { document_hash: hash });
    const sealed = await encryptForStorage(trx, context.vault, Buffer.from(JSON.stringify(values)), place);
    await trx
      .updateTable('forgotten_people')
      .set({ sealed_values: sealed })
      .where('document_hash', '=', hash)
      .execute();
  });
}

async function recordResult(
  context: Context,
  hash: Buffer,
  { person, finished, detail }: { person: string; finished: boolean; detail: object },
): Promise<void> {
  const done = {
    actor: 'command',
    action: 'people.forget',
    target: `document:${person}`,
    detail: JSON.stringify({ ...detail, finished }),
  };
  await auditChange(
    context,
    async ({ db, clock }) => {
      if (!finished) return;
      await db
        .updateTable('forgotten_people')
        .set({ finished_at: clock.now(), sealed_values: null })
        .where('document_hash', '=', hash)
        .execute();
    },
    done,
  );
}

function showProgress(name: string, count: number): void {
  if (process.stderr.isTTY) process.stderr.write(`  ${name}: ${count}\n`);
}

function describe({
  person,
  dry_run,
  finished,
  missed,
  left,
  transactions,
  erased,
  spool_segments,
}: Forgotten): string {
  return [
    `${dry_run ? 'would forget' : 'forgot'} the person ${person} of ${transactions} transactions:`,
    ...Object.entries(erased).map(([name, count]) => `  ${name}: ${count}`),
    ...(spool_segments > 0
      ? [
          `  ${spool_segments} files of the spool wait for the database: their webhooks are redacted once they are processed`,
        ]
      : []),
    ...(missed.length > 0 ? [`  could not be searched, and stay: ${missed.join(', ')}`] : []),
    ...(left.length > 0
      ? [`  name the person in a name, address or filter; change or remove them, then run it again: ${left.join(', ')}`]
      : []),
    ...(finished ? [] : ['  not finished: run it again']),
  ].join('\n');
}
