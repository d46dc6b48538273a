import type { Request, Response } from 'express';
import type { Answers, ImportFault, ImportKind, Question } from '../../../imports/import-kind.ts';
import { listQuestions } from '../../../imports/import-kind.ts';
import { BANK_ACCOUNT_CHARS_MAX } from '../../../ledger/stated/bank-accounts.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { type Html, html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { uploadForm } from '../parts/send-page.ts';

/** An account as it is typed. */
export const ACCOUNT_EXAMPLE = '748/0101/12345-6';

/** The page on which the columns of a bank's CSV are mapped. */
export const COLUMNS_ADDRESS = `${IMPORT_ADDRESS}/columns`;

/** The answers of a form to the questions of a kind. */
export function readAnswers(request: Request, { questions = {} }: Pick<ImportKind, 'questions'>): Answers {
  const given = Object.keys(questions).map((name) => [name, readFormField(request, name)?.trim() ?? ''] as const);
  return Object.fromEntries(given.filter(([, answer]) => answer !== ''));
}

/** Known accounts, by name; `mapped`: those whose columns the file has, of which it names `suggested`. */
type AskedAccounts = { words: Record<string, string>; mapped: string[]; suggested: string };

/** The form that repeats a file with answers to what its faults ask; none where a fault can't be answered. */
export function questionForm(
  response: Response,
  { questions = {} }: Pick<ImportKind, 'questions'>,
  faults: readonly ImportFault[],
  given: { kind: string; file: string; answers: Answers; accounts: AskedAccounts },
): Html | undefined {
  if (!faults.every(({ of, row, kind }) => of === 'statement' || (row === 0 && kind === 'not_account')))
    return undefined;
  const names = new Set([...Object.keys(given.answers), ...listQuestions(faults)]);
  const fields = [...names].flatMap((name) => {
    const question = questions[name];
    return question ? renderField(name, question, given.answers[name] ?? '', given.accounts) : [];
  });
  return html`<section class="act"><p>${t('O arquivo não diz tudo: responda, e confira de novo.')}</p>${uploadForm(
    response,
    IMPORT_ADDRESS,
    html`<div class="fields">${fields}</div><input type="hidden" name="kind" value="${given.kind}"><input type="hidden" name="file" value="${given.file}">
<div class="actions"><button>${t('Conferir o arquivo')}</button></div>`,
  )}</section>`;
}

function renderField(name: string, { titles, answers }: Question, given: string, accounts: AskedAccounts): Html {
  const { words: names, mapped, suggested } = accounts;
  if (name === 'account' && mapped.length > 0) {
    const chosen = given || suggested;
    const options = mapped.map(
      (one) => html`<option value="${one}"${one === chosen && html` selected`}>${names[one] ?? one}</option>`,
    );
    return html`<div class="field"><label><span>${titles[language()]}</span><select name="account"><option value="">${t('Escolha')}</option>${options}</select></label></div>`;
  }
  const control =
    answers === null
      ? html`<input name="${name}" value="${given}" maxlength="${BANK_ACCOUNT_CHARS_MAX}" autocomplete="off" spellcheck="false"${name === 'account' && html` list="accounts"`}>${name === 'account' && html`<datalist id="accounts">${Object.entries(names).map(([one, label]) => html`<option value="${one}">${label}</option>`)}</datalist><span class="hint">${t('Banco, agência e número, como {example}.', { example: ACCOUNT_EXAMPLE })}</span>`}`
      : html`<select name="${name}"><option value="">${t('Escolha')}</option>${Object.entries(answers).map(
          ([answer, words]) =>
            html`<option value="${answer}"${answer === given && html` selected`}>${words[language()]}</option>`,
        )}</select>`;
  return html`<div class="field"><label><span>${titles[language()]}</span>${control}</label></div>`;
}

/** The answers, for the form that confirms a preview. */
export function hiddenAnswers(answers: Answers): Html[] {
  return Object.entries(answers).map(([name, answer]) => html`<input type="hidden" name="${name}" value="${answer}">`);
}

/** The form that leads to that page, for a file whose header is unknown. */
export function columnsForm(response: Response, file: string, account: string | undefined): Html {
  const button = html`<button>${t('Dizer o que é cada coluna')}</button>`;
  return html`<section class="act"><p>${t('Este arquivo parece o CSV do próprio banco: diga uma vez o que é cada coluna, e ele segue daqui.')}</p>${toColumns(response, file, account, button)}</section>`;
}

/** The button that leads there from a file whose columns are known. */
export function changeColumns(response: Response, file: string, account: string | undefined): Html {
  const button = html`<button class="secondary">${t('Mudar as colunas')}</button>`;
  return html`<section class="act bare">${toColumns(response, file, account, button)}</section>`;
}

function toColumns(response: Response, file: string, account: string | undefined, button: Html): Html {
  return uploadForm(
    response,
    COLUMNS_ADDRESS,
    html`<input type="hidden" name="file" value="${file}"><input type="hidden" name="account" value="${account ?? ''}"><div class="actions">${button}</div>`,
  );
}
