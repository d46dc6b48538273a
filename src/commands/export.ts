import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { audit } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { wrongUse } from '../domain/errors.ts';
import { LANGUAGES, type Language } from '../domain/language/language.ts';
import { findOpenMonths } from '../reports/plan/find-month-close.ts';
import { FILE_FORMATS, type FileFormat } from '../reports/plan/report-plan.ts';
import { assertGroup, FORMAT_FACTS } from '../reports/render/formats/formats.ts';
import { makeReport } from '../reports/revisions/make-report.ts';
import { measureFile } from '../reports/revisions/publish-drafts.ts';
import { addExports } from '../reports/serve/add-exports.ts';
import { exportRange, RANGE_DAYS_MAX, type Range } from '../reports/serve/export-range.ts';
import { copyReport, type OpenedReport } from '../reports/serve/open-report.ts';
import { useReport } from '../reports/serve/use-report.ts';
import { parseDay } from './parse-options.ts';
import { withContext } from './with-context.ts';

type Options = {
  day?: string;
  from?: string;
  to?: string;
  format: FileFormat;
  platform?: string;
  locale?: Language;
  group?: 'day';
  out?: string;
  add?: string[];
  json?: boolean;
};

/** `confere export`: writes a day's report to a file or standard output. Makes a new revision where the ledger changed. */
export function exportCommand(program: Command): void {
  program
    .command('export')
    .description('write the report of a day or a range: the workbook, or a file that another program imports')
    .option('--day <day>', 'the day: YYYY-MM-DD')
    .option('--from <day>', 'with --to: a range of days in one file, made from one cut and not stored')
    .option('--to <day>', `the last day of the range: at most ${RANGE_DAYS_MAX} days, except for a journal`)
    .addOption(new Option('--format <format>', 'of the file').choices(FILE_FORMATS).default('xlsx'))
    .option('--platform <id>', 'only this platform; none: transactions without one')
    .addOption(new Option('--locale <locale>', 'its language (default: REPORT_LOCALE)').choices(LANGUAGES))
    .addOption(new Option('--group <span>', 'of entries: one posting a day, platform and account').choices(['day']))
    .option('--out <file>', 'where to write it, - for standard output (default: its own name, here)')
    .option('--add <file...>', 'add the csv of the same days of other installations')
    .option('--json', 'print one JSON object')
    .action((options: Options) => {
      checkUse(options);
      return withContext({}, (context) => run(context, options));
    });
}

/** @throws ConfereError `wrong_use`, before anything is opened. */
function checkUse({ day, from, to, format, out, add, json }: Options): void {
  const isRange = from !== undefined || to !== undefined;
  for (const [name, text] of Object.entries({ day, from, to })) if (text !== undefined) parseDay(`--${name}`, text);
  if (json && out === '-') throw wrongUse('--json and --out - both want standard output');
  if (add && (format !== 'csv' || !isRange || out === '-'))
    throw wrongUse('--add goes with --format csv, --from and --to, and a file');
  if (!isRange && day === undefined) throw wrongUse('say which day: --day 2026-11-20');
  if (isRange && day !== undefined) throw wrongUse('--day goes without --from and --to');
  if (isRange && (from === undefined || to === undefined)) throw wrongUse('--from goes with --to');
}

async function run(context: Context, options: Options): Promise<void> {
  const { day = '', from, to, format, platform, locale, group } = options;
  if (from !== undefined && to !== undefined) {
    await runRange(context, options, { from, to, format });
    return;
  }
  assertGroup(format, group);
  const { changed } = await makeReport(context, day);
  const wanted = { day, format, platform, locale, group };
  await useReport(context, wanted, (opened) => writeDay(context, options, { ...opened, format, changed }));
}

type WrittenDay = OpenedReport & { format: FileFormat; changed: boolean };

async function writeDay(context: Context, options: Options, opened: WrittenDay): Promise<void> {
  const out = options.out ?? opened.name;
  await audit(context, { actor: 'command', action: 'reports.export', target: opened.name });
  if (out === '-') {
    await pipeline(createReadStream(opened.file), process.stdout, { end: false });
    return;
  }
  await copyReport(opened, out);
  const { report, format, changed } = opened;
  const result = { ...report, format, file: path.resolve(out), bytes: opened.bytes, sha256: opened.sha256, changed };
  const proven = report.proven ? 'proven complete' : 'not proven complete';
  printResult(options, result, `wrote ${out}: ${report.day}, revision ${report.revision}, ${report.state}, ${proven}`);
}

async function runRange(context: Context, options: Options, range: Range & { format: FileFormat }): Promise<void> {
  const { platform, locale, group } = options;
  const limit = FORMAT_FACTS[range.format].anyLength ? { daysMax: Number.POSITIVE_INFINITY } : {};
  const wanted = { ...range, platform, locale, group, ...limit };
  const open = await findOpenMonths(context.db, range);
  if (open.length > 0) process.stderr.write(`not closed, so that its figures can change: ${open.join(', ')}\n`);
  await exportRange(context, wanted, async ({ file, name, state }) => {
    const out = options.out ?? name;
    await audit(context, { actor: 'command', action: 'reports.export', target: name });
    if (out === '-') {
      await pipeline(createReadStream(file), process.stdout, { end: false });
      return;
    }
    if (options.add) await addExports(file, options.add, range);
    await copyReport({ file }, out);
    const result = { ...range, state, file: path.resolve(out), ...(await measureFile(out)) };
    printResult(options, result, `wrote ${out}: ${range.from} to ${range.to}, ${state}`);
  });
}

function printResult(options: Options, object: object, line: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(object) : line}\n`);
}
