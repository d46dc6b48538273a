import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { findAccountFaults } from '../../../ledger/stated/account-map.ts';
import { listBankAccounts, readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { ACCOUNT_CHARS_MAX, CHART_ACCOUNTS, type MappedAccount } from '../../../ledger/stated/check-accounts.ts';
import { accounts, mapAccounts } from '../../../operations/books/accounts.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import { describeSaid } from '../../../texts/messages.ts';
import { t, words } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { byOf } from '../../mount-operations.ts';
import type { AccountNames } from '../balances/describe-stated.ts';
import { choiceField, inputField } from '../parts/fields.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { type PlatformNames, readBookedPlatformWords, readPlatformNames } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { ACCOUNT_WORDS } from '../parts/words.ts';
import { showOwner } from './render-accounts.ts';

const ADDRESS = '/reports/accounts';
/** A posted form has up to 1,000 fields in 64 KiB: a longer map is given as a file. */
const FORM_ROWS_MAX = 150;
const FIELD_WORDS = words({
  code: 'Código',
  category: 'Categoria',
  cost_center: 'Centro de custo',
  history: 'Histórico',
});
/** The natures of the ledger's accounts, by the first part of their names. */
const NATURES: Record<string, string> = words({
  Assets: 'ativo',
  Liabilities: 'passivo',
  Equity: 'patrimônio líquido',
  Expenses: 'despesa',
});
const FIELDS = Object.keys(FIELD_WORDS) as (keyof typeof FIELD_WORDS)[];

/** The rows of the form, and what is wrong with them by `<field>_<row>`. */
type Filled = { rows: MappedAccount[]; faults: Partial<Record<string, string>> };

/** The map of our accounts to the customer's chart of accounts: a table, which is a form for those who may change it. */
export function accountMapPages(context: Context): Router {
  const router = createRouter();
  router.get(ADDRESS, (request, response) => send(context, request, response));

  router.post(ADDRESS, requireRole(...mapAccounts.roles), async (request, response) => {
    const rows = readRows(request);
    const given = rows.filter(isFilled);
    const found = (await findAccountFaults(context.db, given)).map(({ row, field, kind, value = '' }) => {
      const index = rows.indexOf(given[row] ?? (rows[0] as MappedAccount));
      const said = describeSaid([{ name: `account.${kind}`, values: { value } }], language());
      const name = FIELDS.find((one) => one === field);
      return [`${field}_${index}`, name ? `${FIELD_WORDS[name]}: ${said}` : said];
    });
    if (found.length > 0) {
      await send(context, request, response, { rows, faults: Object.fromEntries(found) });
      return;
    }
    const by = byOf(mapAccounts, request, response, true);
    await makeChange(context, mapAccounts, { given: { accounts: given }, by });
    response.redirect(303, `${ADDRESS}?done=mapped`);
  });
  return router;
}

/** Reads the rows of the form, the empty ones too: the last one is of a platform, and left out if it is empty. */
function readRows(request: Request): MappedAccount[] {
  const rows: MappedAccount[] = [];
  for (let index = 0; index <= FORM_ROWS_MAX; index++) {
    const read = (name: string): string | null => readFormField(request, `${name}_${index}`) ?? null;
    const account = read('account');
    if (account === null) break;
    const texts = {
      code: read('code'),
      category: read('category'),
      cost_center: read('cost_center'),
      history: read('history'),
    };
    rows.push({ account, platform: read('platform'), ...texts });
  }
  return rows.at(-1) && !isFilled(rows.at(-1) as MappedAccount) ? rows.slice(0, -1) : rows;
}

function isFilled(row: MappedAccount): boolean {
  return FIELDS.some((field) => row[field] !== null);
}

async function send(context: Context, request: Request, response: Response, filled?: Filled): Promise<void> {
  const { accounts: mapped, unmapped } = await accounts.read(context, { caller: getCaller(response), id: '' });
  const rows = filled?.rows ?? withEmpty(mapped);
  const isForm = hasRole(response, ...mapAccounts.roles) && rows.length < FORM_ROWS_MAX;
  const faults = filled?.faults ?? {};
  const names = await readPlatformNames(context, response);
  const shown = accountTable(names, rows, {
    faults: isForm ? faults : undefined,
    banks: await readBankAccounts(context.db),
  });
  const missing = unmapped.map((account) => describeCode(ACCOUNT_WORDS, account)).join(', ');
  const body = html`<p class="crumb"><a href="/reports">${t('Relatórios')}</a></p><h1>${t('Plano de contas')}</h1>
<p class="lead">${t('As contas da empresa que os lançamentos contábeis usam no lugar das contas do razão.')}</p>
${unmapped.length > 0 && html`<p class="hint">${t('Contas com movimento e sem linha: {accounts}. Um arquivo pede só as que ele usa.', { accounts: missing })}</p>`}
${isForm && html`<p class="hint">${t('Cada linha tem um código ou uma categoria; Conta Azul usa a categoria, os outros o código. Código: até {code} caracteres; categoria: até {category}; centro de custo: até {cost_center}; histórico: um número de até {history} algarismos.', ACCOUNT_CHARS_MAX)}</p>`}
${isForm ? postForm(response, ADDRESS, html`${shown}${ofPlatform(rows.length, { ...(await readBookedPlatformWords(context, response)), ...(await readBankWords(context)) })}<div class="actions"><button>${t('Salvar')}</button></div>`) : shown}
<p class="hint">${t('Recebimentos e Pagamentos são contas de passagem, por isso no passivo: o razão não sabe se o que entrou é receita, adiantamento ou de terceiros, nem o que se pagou. Escreva nelas a conta em que a empresa lança isso, como Clientes, Receita ou Fornecedores.')}</p>
<p class="hint">${t('Devoluções feitas e Devoluções recebidas podem ter contas próprias, como Devoluções de vendas. Sem linha, a de um recebimento é lançada na conta de Recebimentos, a de um pagamento na de Pagamentos.')} ${t('Saldo inicial só é usada num arquivo que começa antes do dia em que um saldo inicial foi informado: no primeiro dia do arquivo, ele já é o saldo de partida, que você lança uma vez no seu programa.')}</p>
<p class="hint">${tHtml('Uma linha vazia não vale. O mesmo por arquivo: {link}.', { link: html`<a href="/balances/imports">${t('Importar um arquivo')}</a>` })}</p>`;
  sendPage(request, response, { title: t('Plano de contas'), status: filled ? 422 : 200, body });
}

/** The bank accounts by their names: the ledger's account of the bank may have a row for each. */
async function readBankWords({ db }: Context): Promise<Record<string, string>> {
  const facts = await readBankAccounts(db);
  const accounts = await listBankAccounts(db);
  return Object.fromEntries(
    accounts.map((one) => [one, t('Só a Conta no banco: {name}', { name: facts.get(one)?.name ?? one })]),
  );
}

/** The map with an empty row for each account that has none for all platforms; those of one platform last. */
function withEmpty(mapped: MappedAccount[]): MappedAccount[] {
  const ofAll = CHART_ACCOUNTS.map((account) => {
    const empty = { account, platform: null, code: null, category: null, cost_center: null, history: null };
    return mapped.find((row) => row.account === account && row.platform === null) ?? empty;
  });
  return [...ofAll, ...mapped.filter(({ platform }) => platform !== null)];
}

/** @param of.faults undefined: not a form. */
function accountTable(
  names: PlatformNames,
  given: MappedAccount[],
  { faults, banks }: { faults: Filled['faults'] | undefined; banks: AccountNames },
): Html {
  const rows = given.map((row, index) => ({ row, index }));
  const hidden = (name: string, index: number, value: string | null): Html =>
    html`<input type="hidden" name="${name}_${index}" value="${value ?? ''}">`;
  return table({
    caption: 'Contas mapeadas',
    rows,
    empty: 'Nenhuma conta está mapeada até agora.',
    columns: [
      {
        title: 'Conta do razão',
        cell: ({ row, index }) =>
          html`<b title="${row.account}">${describeCode(ACCOUNT_WORDS, row.account)}</b> <span class="hint">${NATURES[row.account.split(':')[0] ?? '']}</span>${faults && html`${hidden('account', index, row.account)}${hidden('platform', index, row.platform)}${faultOf(faults, `account_${index}`)}${faultOf(faults, `platform_${index}`)}`}`,
      },
      {
        title: 'Plataforma',
        cell: ({ row: { platform } }) => showOwner(platform, names, banks),
      },
      ...FIELDS.map((field) => ({
        title: FIELD_WORDS[field],
        cell: ({ row, index }: (typeof rows)[number]) => (faults ? cell(field, row, { index, faults }) : row[field]),
      })),
    ],
  });
}

function cell(
  field: (typeof FIELDS)[number],
  row: MappedAccount,
  { index, faults }: { index: number; faults: Filled['faults'] },
): Html {
  const name = `${field}_${index}`;
  const wrong = faults[name] !== undefined && html` aria-invalid="true" aria-describedby="${name}-fault"`;
  return html`<input name="${name}" value="${row[field] ?? ''}" aria-label="${FIELD_WORDS[field]}: ${describeCode(ACCOUNT_WORDS, row.account)}" maxlength="${ACCOUNT_CHARS_MAX[field]}" autocomplete="off" spellcheck="false"${wrong}>${faultOf(faults, name)}`;
}

function faultOf(faults: Filled['faults'], name: string): Html | undefined {
  const fault = faults[name];
  return fault === undefined ? undefined : html`<span class="fault" id="${name}-fault" role="alert">${fault}</span>`;
}

/** The row for an account of one platform, which is the last one. */
function ofPlatform(index: number, platforms: Record<string, string>): Html {
  const draft = { values: {}, faults: {} };
  return html`<section><h2>${t('Uma conta de uma só plataforma')}</h2><div class="fields">
${choiceField(draft, { name: `account_${index}`, label: 'Conta do razão', words: ACCOUNT_WORDS })}
${choiceField(draft, { name: `platform_${index}`, label: 'Plataforma ou conta no banco', words: platforms })}
${FIELDS.map((field) => inputField(draft, { name: `${field}_${index}`, label: FIELD_WORDS[field] }, html` maxlength="${ACCOUNT_CHARS_MAX[field]}"`))}</div></section>`;
}
