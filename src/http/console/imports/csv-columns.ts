/**
 * The page on which a person says once what the columns of a bank's own CSV are. It shows the first rows of the file, then the
 * lines that its columns make; confirmed, they are kept for the account, and the file goes on to its import.
 */
import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import type { ImportedFile } from '../../../imports/import-file.ts';
import { readBankCsv } from '../../../imports/kinds/bank-csv.ts';
import { listTitles } from '../../../imports/read-bank-csv.ts';
import { decodeCsv } from '../../../imports/read-table.ts';
import {
  BANK_ACCOUNT_CHARS_MAX,
  isBankAccount,
  listBankAccounts,
  readBankAccounts,
} from '../../../ledger/stated/bank-accounts.ts';
import {
  type BankCsv,
  CSV_COLUMNS_MAX,
  CSV_DAYS,
  CSV_SEPARATORS,
  checkBankCsv,
} from '../../../ledger/stated/check-bank-csv.ts';
import { stateBankAccount } from '../../../operations/books/bank.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { bankCsv } from '../../../operations/rows/bank.ts';
import { parseCsv } from '../../../spreadsheet/parse-csv.ts';
import { type SheetRow, UnreadableFileError } from '../../../spreadsheet/row.ts';
import { language } from '../../../texts/language.ts';
import { sayFaults } from '../../../texts/say-refusal.ts';
import { t, words, wordsBy } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { choiceField, type Draft, inputField } from '../parts/fields.ts';
import { formatCount, formatDay, money } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, say, table } from '../parts/page-components.ts';
import { sendPage, uploadForm } from '../parts/send-page.ts';
import { describeLeftOut, renderFaults } from './describe-faults.ts';
import { ACCOUNT_EXAMPLE, COLUMNS_ADDRESS } from './question-fields.ts';
import { columnTable, type Head } from './render-columns.ts';
import { suggestAccount, suggestColumns } from './suggest-columns.ts';

const ROWS_SHOWN = 12;
/** Rows in which the header is searched for. */
const HEAD_ROWS_MAX = 30;

const SEPARATOR_WORDS = { ';': ';', ',': ',', '\t': 'Tab', '|': '|' };
const DECIMAL_WORDS = words({ comma: '1.234,56', point: '1,234.56', cents: '123456: em centavos' });
/** Letters for day, month and year, as the language abbreviates them. */
const DAY_WORDS = wordsBy(CSV_DAYS, (form) => (language() === 'en' ? form : form.replaceAll('y', 'a')));
const SIGN_WORDS = words({ as_written: '- saiu da conta', reversed: 'sem sinal saiu da conta' });

type Values = Record<string, string>;

/** @param preview goes on with the file: previews its import. */
export function csvColumnPages(
  context: Context,
  preview: (request: Request, response: Response, file: ImportedFile) => Promise<void>,
): Router {
  const router = createRouter();
  router.post(COLUMNS_ADDRESS, requireRole(...stateBankAccount.roles), async (request, response) => {
    const given = Object.entries(request.body as Record<string, unknown>);
    const values: Values = Object.fromEntries(
      given.filter((one): one is [string, string] => typeof one[1] === 'string'),
    );
    const bytes = Buffer.from(values.file ?? '', 'base64');
    const draft: Draft = { values, faults: {} };
    let head: Head | undefined;
    try {
      values.separator ||= findSeparator(decodeCsv(bytes));
      head = readHead(decodeCsv(bytes), values);
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error;
      await sendForm(
        context,
        request,
        response,
        draft,
        undefined,
        html`<p class="fault" role="alert">${say(error.said)}</p>`,
      );
      return;
    }
    await fillKnown(context, values, head);
    const account = accountOf(values);
    const csv = values.step === 'check' || values.step === 'confirm' ? readCsv(draft, head) : undefined;
    const read = csv && (await readBankCsv(bytes, account, csv));
    if (!csv || !read || read.faults.length > 0) {
      const faults = read && renderFaults('bank', read.faults);
      await sendForm(context, request, response, draft, head, faults);
      return;
    }
    if (values.step === 'check') {
      sendLines(request, response, values, read);
      return;
    }
    const by = { caller: getCaller(response), id: '', via: 'console' } as const;
    const isNew = !(await listBankAccounts(context.db)).includes(account);
    await makeChange(context, stateBankAccount, { given: { account, csv, new_account: isNew }, by });
    await preview(request, response, { kind: 'bank', bytes, answers: { account } });
  });
  return router;
}

/** The account that is typed, or else chosen. */
function accountOf({ account = '', other_account: typed = '' }: Values): string {
  return typed.trim() || account;
}

/** The separator that makes the most fields, to begin with. */
function findSeparator(text: string): string {
  const head = text.split('\n', HEAD_ROWS_MAX).join('\n');
  const count = (separator: string): number => head.split(separator).length;
  return CSV_SEPARATORS.toSorted((a, b) => count(b) - count(a))[0] ?? ';';
}

function readHead(text: string, { separator = ';', header = '' }: Values): Head {
  const rows: SheetRow[] = [];
  for (const row of parseCsv(text, separator)) {
    if (rows.push(row) === HEAD_ROWS_MAX) break;
  }
  const widest = rows.toSorted(
    (a, b) => listTitles(b).filter(Boolean).length - listTitles(a).filter(Boolean).length,
  )[0];
  const chosen = rows.find(({ number }) => String(number) === header) ?? widest ?? { number: 1, cells: [] };
  return { rows, header: chosen, titles: listTitles(chosen) };
}

/** Fills fields that nobody has filled with what is known of the account, column by column; else with what titles say. */
async function fillKnown({ db }: Context, values: Values, { rows, header, titles }: Head): Promise<void> {
  values.header ||= String(header.number);
  if (values.step) return;
  const textsOf = (of: (number: number) => boolean): string[][] =>
    rows.filter(({ number }) => of(number)).map(({ cells }) => cells.map((one) => one?.text ?? ''));
  if (!accountOf(values))
    Object.assign(
      values,
      suggestAccount(
        textsOf((number) => number < header.number),
        await listBankAccounts(db),
      ),
    );
  const known = (await readBankAccounts(db)).get(values.account ?? '')?.csv;
  if (!known) {
    const below = textsOf((number) => number > header.number);
    for (const [name, value] of suggestColumns(titles, below)) values[name] ||= value;
    return;
  }
  for (const [index, title] of titles.entries())
    values[`part_${index}`] ||= known.parts[known.header.indexOf(title)] ?? '';
  for (const name of ['days', 'decimals', 'signs'] as const) values[name] ||= known[name];
}

/** Reads the columns; undefined: the draft has their faults. */
function readCsv(draft: Draft, { titles }: Head): BankCsv | undefined {
  const { values, faults } = draft;
  const { separator, days, decimals, signs } = values;
  const parts = titles.map((_, index) => values[`part_${index}`] || null);
  const parsed = bankCsv.safeParse({ separator, header: titles, parts, days, decimals, signs });
  const account = accountOf(values);
  if (account === '') faults.account = t('Escolha a conta.');
  else if (!isBankAccount(account))
    faults.other_account = t('Banco, agência e número, como {example}.', { example: ACCOUNT_EXAMPLE });
  for (const { path } of parsed.error?.issues ?? []) faults[String(path[0])] = t('Escolha um da lista.');
  if (titles.length > CSV_COLUMNS_MAX) faults.header = t('No máximo {n} colunas.', { n: CSV_COLUMNS_MAX });
  if (!parsed.success || Object.keys(faults).length > 0) return undefined;
  try {
    checkBankCsv(parsed.data);
    return parsed.data;
  } catch (error) {
    if (!(error instanceof ConfereError)) throw error;
    faults.csv = sayFaults(error)[0]?.text ?? '';
    return undefined;
  }
}

const crumb = (): Html =>
  html`<p class="crumb"><a href="${IMPORT_ADDRESS}">${t('Importar um arquivo')}</a></p><h1>${t('Colunas do CSV do banco')}</h1>`;

async function sendForm(
  context: Context,
  request: Request,
  response: Response,
  draft: Draft,
  head: Head | undefined,
  faults: Html | undefined,
): Promise<void> {
  const names = await readBankAccounts(context.db);
  const accounts = await listBankAccounts(context.db);
  const accountWords = Object.fromEntries(accounts.map((one) => [one, names.get(one)?.name ?? one]));
  const rowWords = Object.fromEntries(head?.rows.map(({ number }) => [String(number), String(number)]) ?? []);
  const content = html`<input type="hidden" name="file" value="${draft.values.file}"><div class="fields">
${choiceField(draft, { name: 'account', label: 'Conta', words: accountWords, any: 'Escolha' })}
${inputField(draft, { name: 'other_account', label: 'Ou outra conta', hint: t('Banco, agência e número, como {example}.', { example: ACCOUNT_EXAMPLE }) }, html` maxlength="${BANK_ACCOUNT_CHARS_MAX}"`)}
${choiceField(draft, { name: 'separator', label: 'Entre os campos', words: SEPARATOR_WORDS })}
${choiceField(draft, { name: 'header', label: 'Linha dos títulos', words: rowWords })}
${choiceField(draft, { name: 'days', label: 'Dias', words: DAY_WORDS, any: 'Escolha' })}
${choiceField(draft, { name: 'decimals', label: 'Valor', words: DECIMAL_WORDS, any: 'Escolha' })}
${choiceField(draft, { name: 'signs', label: 'Sinal', words: SIGN_WORDS })}</div>
${head && columnTable(draft, head)}${draft.faults.csv && html`<p class="fault" role="alert">${draft.faults.csv}</p>`}
<div class="actions"><button name="step" value="check">${t('Ver as linhas')}</button><button name="step" value="reload" class="secondary">${t('Ler de novo')}</button></div>
<p class="hint">${t('Ler de novo vale depois de trocar o que está entre os campos, ou a linha dos títulos.')}</p>`;
  const body = html`${crumb()}<p class="lead">${t('Diga uma vez o que é cada coluna: vale para os próximos arquivos desta conta, enquanto os títulos forem os mesmos.')}</p>
${faults}<section class="act">${uploadForm(response, COLUMNS_ADDRESS, content)}</section>`;
  const isWrong = faults !== undefined || Object.keys(draft.faults).length > 0;
  sendPage(request, response, { title: t('Colunas do CSV do banco'), body, status: isWrong ? 422 : 200 });
}

type Read = Awaited<ReturnType<typeof readBankCsv>>;

/** The lines that the columns make, before they are kept. */
function sendLines(request: Request, response: Response, values: Values, { rows, leftOut }: Read): void {
  const [lines, balances] = [
    rows.flatMap(({ value }) => [...value.statement.lines, ...value.statement.openRows]),
    rows.flatMap(({ value }) => value.statement.balanceRows),
  ];
  const [ins, outs] = [lines.filter(({ cents }) => cents > 0n), lines.filter(({ cents }) => cents < 0n)];
  const sum = (some: typeof lines): Html =>
    html`${money(some.reduce((total, { cents }) => total + cents, 0n))} <span class="hint">(${formatCount(some.length)})</span>`;
  const hidden = Object.entries(values).filter(([name]) => !['step', 'form_token'].includes(name));
  const content = html`${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="actions"><button name="step" value="confirm">${t('Salvar e conferir o arquivo')}</button><button name="step" value="edit" class="secondary">${t('Voltar e corrigir')}</button></div>`;
  const body = html`${crumb()}<p class="lead">${t('Confira os sinais e os dias. Nada foi gravado ainda.')}</p>
${facts([
  ['Conta', accountOf(values)],
  ['Entrou', sum(ins)],
  ['Saiu', sum(outs)],
  ['Linhas de saldo, deixadas de fora', balances.length > 0 && formatCount(balances.length)],
  ['Linhas deixadas de fora', describeLeftOut(leftOut)],
])}
${table({
  caption: 'Primeiras linhas',
  rows: lines.slice(0, ROWS_SHOWN),
  empty: 'Nenhuma linha.',
  columns: [
    { title: 'Linha', cell: ({ line }) => formatCount(line), align: 'end' },
    { title: 'Dia', cell: ({ day }) => formatDay(day) },
    { title: 'Valor', cell: ({ cents }) => money(cents), align: 'end' },
    { title: 'Texto', cell: ({ memo }) => html`<span class="long">${memo}</span>` },
  ],
})}<section class="act bare">${uploadForm(response, COLUMNS_ADDRESS, content)}</section>`;
  sendPage(request, response, { title: t('Colunas do CSV do banco'), body });
}
