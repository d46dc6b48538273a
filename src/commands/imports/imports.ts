import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { wrongUse } from '../../domain/errors.ts';
import {
  type ImportOutcome,
  importFile,
  isRepeated,
  presentOutcome,
  previewImport,
} from '../../imports/import-file.ts';
import { type Answers, type LeftOutReason, optionOf } from '../../imports/import-kind.ts';
import { findImportKind, IMPORT_KIND_NAMES, type ImportKindName, isImportKind } from '../../imports/import-kinds.ts';
import { renderTemplate, TEMPLATE_FORMATS } from '../../imports/render-template.ts';
import type { BankImport } from '../../ledger/bank/import-bank-file.ts';
import { readBytes } from '../parse-options.ts';
import { formatTime, print, withContext } from '../with-context.ts';

/** Answers come under the names of their options. */
type Options = Record<string, string | boolean | undefined> & {
  dryRun?: boolean;
  allowEqual?: boolean;
  template?: string;
  en?: boolean;
  json?: boolean;
};

/** `confere import …`: takes a file of stated balances, adjustments, the account map, platform names or bank lines. */
export function importCommand(program: Command): void {
  const command = program
    .command('import <kind> [file]')
    .description(
      `import an XLSX or CSV by its template, an OFX as bank, or XML or ZIP as nfe, all rows or none: ${IMPORT_KIND_NAMES.join(', ')}`,
    )
    .option('--dry-run', 'check the file and say what it would change')
    .option('--allow-equal', 'import also rows that equal an adjustment or a statement that is booked already')
    .option('--template <file>', 'write the empty template to a file that ends in .xlsx or .csv')
    .option('--en', 'the template in English; a file may use either language')
    .option('--json', 'print one JSON object');
  addAnswerOptions(command, IMPORT_KIND_NAMES).action(
    async (kind: string, file: string | undefined, options: Options) => {
      if (!isImportKind(kind)) throw wrongUse(`the kind is one of ${IMPORT_KIND_NAMES.join(', ')}`);
      if (options.template !== undefined) await writeTemplate(kind, options.template, options);
      else if (file === undefined) throw wrongUse('name the file to import');
      else await runImport(kind, file, options);
    },
  );
}

/** Adds an option for each answer to what files of these kinds leave open. */
export function addAnswerOptions(command: Command, kinds: readonly ImportKindName[]): Command {
  const questions = kinds.flatMap((name) => Object.entries(findImportKind(name).questions ?? {}));
  for (const [name, { titles, answers }] of questions) {
    const choices = answers && Object.keys(answers);
    const value = choices?.join() === 'true' ? '' : ` <${choices?.join('|') ?? name}>`;
    command.option(
      `--${optionOf(name)}${value}`,
      `of ${kinds.length > 1 ? 'a bank statement' : 'the statement'}: ${titles.en}`,
    );
  }
  return command;
}

function readAnswers(kind: ImportKindName, options: Options): Answers {
  const names = Object.keys(findImportKind(kind).questions ?? {});
  const given = names.flatMap((name) => {
    const answer = options[name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())];
    return answer === undefined ? [] : [[name, String(answer)] as const];
  });
  return Object.fromEntries(given);
}

/** Imports a file, or previews it. @param show prints what it changed. */
export async function importByCommand(
  kind: ImportKindName,
  path: string,
  { dryRun = false, allowEqual = false, ...options }: Options,
  show: (context: Context, outcome: ImportOutcome) => Promise<void> | void,
): Promise<void> {
  const file = { kind, bytes: await readBytes(path), answers: readAnswers(kind, options) };
  await withContext({}, async (context) => {
    const made = dryRun
      ? await previewImport(context, file, { allowEqual })
      : await importFile(context, file, { actor: 'command', allowEqual });
    if (made) await show(context, made);
  });
}

/** Imports a file and prints the outcome. */
export async function runImport(kind: ImportKindName, path: string, options: Options): Promise<void> {
  const { dryRun = false, json } = options;
  await importByCommand(kind, path, options, (context, made) =>
    print(json, { ...presentOutcome(made), dry_run: dryRun }, describe(context, made, dryRun)),
  );
}

function describe(context: Context, outcome: ImportOutcome, dryRun: boolean): string {
  const { rows, changed, repeats, sha256, equal, bank, leftOut, orders } = outcome;
  if (isRepeated(outcome)) {
    const before = repeats ? ` on ${formatTime(context, repeats.at)} by ${repeats.by}` : '';
    return `this file was imported before${before}: nothing changed`;
  }
  const done = dryRun ? 'nothing was written; it would import' : 'imported';
  const booked = equal.map(
    ({ row, id, at, by }) => `row ${row} equals ${id}, entered on ${formatTime(context, at.toISOString())} by ${by}`,
  );
  return [
    `${done} ${rows} rows, ${changed} of them change something (SHA-256 ${sha256})`,
    ...booked,
    ...leftOut.map(({ row, file, why }) => `${file ?? `row ${row}`} ${LEFT_OUT_WORDS[why]}: it is left out`),
    ...(bank ? describeBank(bank) : []),
    ...(orders?.unfindable ? [`${orders.unfindable} rows have no key: no payment is found for them`] : []),
    ...(orders?.unseen ?? []).map((one) => `no transaction has the platform ${one.platform} (${one.rows} rows)`),
  ].join('\n');
}

const LEFT_OUT_WORDS: Record<LeftOutReason, string> = {
  above_header: 'stands above the header',
  total: 'is the total',
  note: 'is a note',
  no_xml: 'is no XML',
  other_model: 'is a document of another model',
  incoming: 'is an invoice of what came in',
  return: 'is an invoice of a return',
  not_pix: 'has no payment by PIX',
  other_event: 'is another event',
  unknown_invoice: 'cancels an invoice that is not known',
};

function describeBank({ statements, matched }: BankImport): string[] {
  const lines = statements.map((one) => {
    const balance = one.balance === null ? 'no balance' : `balance R$ ${one.balance} on ${one.balance_day}`;
    const more = [
      ...(one.negated > 0 ? [`${one.negated} debits without a sign, taken as money out`] : []),
      ...(one.later_lines > 0 ? [`${one.later_lines} lines to come are left out`] : []),
      ...one.later.map(({ line, day, amount }) => `  line ${line}  ${day}  R$ ${amount}`),
      ...(one.balance_left_out ? ['the balance is left out'] : []),
    ];
    return [`${one.account}  ${one.new} new lines, ${one.known} known  ${balance}`, ...more].join('\n');
  });
  return [...lines, `${matched.reference} matched by reference, ${matched.amount} by amount and day`];
}

async function writeTemplate(kind: ImportKindName, file: string, { en = false, json }: Options): Promise<void> {
  const format = TEMPLATE_FORMATS.find((one) => file.endsWith(`.${one}`));
  if (!format) throw wrongUse('--template must end in .xlsx or .csv');
  await withContext({}, async (context) => {
    const template = await renderTemplate(context, kind, format, en ? 'en' : 'pt-BR');
    if (!template) throw wrongUse(`${kind} takes no table`);
    writeFileSync(file, template);
    print(json, { kind, file }, `wrote ${file}`);
  });
}
