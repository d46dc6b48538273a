import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { audit } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { isDay } from '../domain/calendar.ts';
import { type ConfereError, wrongUse } from '../domain/errors.ts';
import type { Language } from '../domain/language/language.ts';
import { FILE_FORMATS, type FileFormat } from '../reports/plan/report-plan.ts';
import { assertGroup, FORMAT_FACTS } from '../reports/render/formats/formats.ts';
import { makeReport } from '../reports/revisions/make-report.ts';
import { measureFile } from '../reports/revisions/publish-drafts.ts';
import { addExports } from '../reports/serve/add-exports.ts';
import { exportRange, RANGE_DAYS_MAX, type Range } from '../reports/serve/export-range.ts';
import { copyReport, type OpenedReport } from '../reports/serve/open-report.ts';
import { useReport } from '../reports/serve/use-report.ts';
import { withContext } from './with-context.ts';

type Options = {
  day?: string;
  from?: string;
  to?: string;
  format: string;
  platform?: string;
  locale?: string;
  group?: string;
  out?: string;
  add?: string[];
  json?: boolean;
};
/** After `checkUse`. */
type Choices = { platform?: string; locale?: Language; group?: 'day' };
const LOCALES: readonly string[] = ['pt-BR', 'en'];

/** `confere export`: writes a day's report to a file or standard output. Makes a new revision where the ledger changed. */
export function exportCommand(program: Command): void {
  program
    .command('export')
    .description('write the report of a day or a range: the workbook, or a file that another program imports')
    .option('--day <day>', 'the day: YYYY-MM-DD')
    .option('--from <day>', 'with --to: a range of days in one file, made from one cut and not stored')
    .option('--to <day>', `the last day of the range: at most ${RANGE_DAYS_MAX} days, except for a journal`)
    .option('--format <format>', `${FILE_FORMATS.join(', ')}`, 'xlsx')
    .option('--platform <id>', 'only this platform; none: transactions without one')
    .option('--locale <locale>', 'pt-BR or en (default: REPORT_LOCALE)')
    .option('--group <span>', 'day: of entries, one posting a day, platform and account')
    .option('--out <file>', 'where to write it, - for standard output (default: its own name, here)')
    .option('--add <file...>', 'add the csv of the same days of other installations')
    .option('--json', 'print one JSON object')
    .action((options: Options) => {
      const format = checkUse(options);
      return withContext({}, (context) => run(context, options, format));
    });
}

/** @throws ConfereError `wrong_use`, before anything is opened. */
function checkUse(options: Options): FileFormat {
  const fault = (message: string): ConfereError => wrongUse(message);
  const isRange = options.from !== undefined || options.to !== undefined;
  const days = [options.day, options.from, options.to].filter((day) => day !== undefined);
  const unreal = days.find((day) => !isDay(day));
  if (unreal !== undefined) throw fault(`${unreal} is no day: write it as 2026-11-20`);
  const format = FILE_FORMATS.find((one) => one === options.format);
  if (!format) throw fault(`there is no format ${options.format}: --format is ${FILE_FORMATS.join(', ')}`);
  if (options.locale !== undefined && !LOCALES.includes(options.locale)) throw fault('--locale is pt-BR or en');
  if (options.group !== undefined && options.group !== 'day') throw fault('--group is day');
  if (options.json && options.out === '-') throw fault('--json and --out - both want standard output');
  if (options.add && (format !== 'csv' || !isRange || options.out === '-'))
    throw fault('--add goes with --format csv, --from and --to, and a file');
  if (!isRange) {
    if (options.day === undefined) throw fault('say which day: --day 2026-11-20');
    return format;
  }
  if (options.day !== undefined) throw fault('--day goes without --from and --to');
  if (options.from === undefined || options.to === undefined) throw fault('--from goes with --to');
  if (options.from > options.to) throw fault('--from is after --to');
  return format;
}

async function run(context: Context, options: Options, format: FileFormat): Promise<void> {
  if (options.from !== undefined && options.to !== undefined) {
    await runRange(context, options, { from: options.from, to: options.to, format });
    return;
  }
  const day = options.day ?? '';
  const { platform, locale, group } = options as Choices;
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
  const { platform, locale, group } = options as Choices;
  const limit = FORMAT_FACTS[range.format].anyLength ? { daysMax: Number.POSITIVE_INFINITY } : {};
  const wanted = { ...range, platform, locale, group, ...limit };
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
