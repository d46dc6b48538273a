import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import type { Language } from '../domain/language/language.ts';
import { VERSION } from '../domain/version.ts';
import { CHART_ACCOUNTS } from '../ledger/stated/check-accounts.ts';
import { reportsDirectory } from '../reports/revisions/make-report.ts';
import { withDrafts } from '../reports/revisions/publish-drafts.ts';
import { openSheet, type SheetWriter } from '../reports/xlsx/open-sheet.ts';
import type { Cell } from '../reports/xlsx/render-cell.ts';
import type { Validation } from '../reports/xlsx/render-validations.ts';
import { writeWorkbook } from '../reports/xlsx/write-workbook.ts';
import { describeCode } from '../texts/fill.ts';
import { textsOf } from '../texts/reports/texts.ts';
import type { ColumnFacts, ImportKind } from './import-kind.ts';
import { findImportKind, type ImportKindName } from './import-kinds.ts';

export const TEMPLATE_FORMATS = ['xlsx', 'csv'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

const WORDS = {
  'pt-BR': {
    help: 'Como preencher',
    column: 'Coluna',
    how: 'O que escrever',
    example: 'Exemplo',
    required: 'obrigatória',
    optional: 'pode ficar vazia',
  },
  en: {
    help: 'How to fill it in',
    column: 'Column',
    how: 'What to write',
    example: 'Example',
    required: 'required',
    optional: 'may be empty',
  },
} as const satisfies Record<Language, Record<string, string>>;
const WIDTH = 26;

/** Makes the template of a kind whose file is a table: its header, and what each column takes. The chart of accounts has a row for each account. */
export async function renderTemplate(
  context: Pick<Context, 'config'>,
  name: ImportKindName,
  format: TemplateFormat,
  language: Language,
): Promise<Buffer | undefined> {
  const kind = findImportKind(name);
  if (Object.keys(kind.columns).length === 0) return undefined;
  const rows = name === 'accounts' ? CHART_ACCOUNTS.map((one) => describeCode(textsOf(language).accounts, one)) : [];
  if (format === 'xlsx') return await renderWorkbook(context, { kind, rows: rows.map((text) => [{ text }]) }, language);
  const header = Object.values(kind.columns).map(({ titles }) => titles[language]);
  const lines = [header.join(';'), ...rows.map((row) => row + ';'.repeat(header.length - 1))];
  // with the mark Excel reads it as UTF-8
  return Buffer.from(`\uFEFF${lines.join('\r\n')}\r\n`);
}

/** The rows of the table, the values that its cells take, and sheets beside it. */
export type FilledTemplate = {
  kind: Pick<ImportKind, 'columns' | 'titles'>;
  rows: readonly (readonly Cell[])[];
  /** In characters, by column. */
  widths?: Readonly<Record<string, number>>;
  validations?: readonly Validation[];
  beside?: readonly { title: string; widths: number[]; rows: readonly (readonly Cell[])[] }[];
  /** Below the help. */
  notes?: readonly string[];
};

/** Makes a workbook of a kind, with rows to be filled in. */
export async function renderWorkbook(
  context: Pick<Context, 'config'>,
  { kind, rows, widths: wide = {}, validations = [], beside = [], notes = [] }: FilledTemplate,
  language: Language,
): Promise<Buffer> {
  return await withDrafts(reportsDirectory(context), randomUUID(), async (directory) => {
    const { signal } = new AbortController();
    let scratched = 0;
    const scratch = () => ({ file: path.join(directory, `part-${scratched++}`), signal });
    const open = (index: number, title: string, widths: number[]): SheetWriter =>
      openSheet({ title, widths, frozenRows: 1 }, { name: `xl/worksheets/sheet${index}.xml`, ...scratch() });
    const facts = Object.values(kind.columns);
    const title = kind.titles[language];
    const widths = Object.keys(kind.columns).map((name) => wide[name] ?? WIDTH);
    const table = open(1, title, widths);
    table.addRow(facts.map(({ titles }) => ({ text: titles[language], style: 'header' })));
    for (const row of rows) table.addRow(row);
    for (const one of validations) table.addValidation(one);
    const help = open(2, WORDS[language].help, [WIDTH, 3 * WIDTH, 2 * WIDTH]);
    addHelp(help, facts, language);
    for (const text of notes) help.addRow([{ text, style: 'muted' }]);
    const others = beside.map((one, index) => {
      const sheet = open(index + 3, one.title, one.widths);
      for (const row of one.rows) sheet.addRow(row);
      return sheet;
    });
    const file = path.join(directory, 'template.xlsx');
    const about = { title, subject: title, keywords: 'confere', description: title, version: VERSION, madeAt: MADE_AT };
    const sheets = await Promise.all([table, help, ...others].map((one) => one.end()));
    await writeWorkbook(file, sheets, about, scratch);
    return await readFile(file);
  });
}

/** Equal templates have equal bytes. */
const MADE_AT = new Date('2026-01-01T00:00:00Z');

function addHelp(sheet: SheetWriter, facts: ColumnFacts[], language: Language): void {
  const words = WORDS[language];
  sheet.addRow([words.column, words.how, words.example].map((text) => ({ text, style: 'header' as const })));
  for (const { titles, hint, isRequired, example } of facts) {
    const how = `${hint[language]} (${isRequired ? words.required : words.optional})`;
    sheet.addRow([{ text: titles[language] }, { text: how }, { text: example }]);
  }
}
