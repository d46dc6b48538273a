import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import { listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import { listBankMatches } from '../../../ledger/bank/list-bank-matches.ts';
import { readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { markLine, matchBankLine, undoBankMatch, unmarkLine } from '../../../operations/books/bank.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { auditPersonalAccess } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { BANK, LISTS, showAccount } from '../balances/describe-stated.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { choiceField, type Draft, formatMoneyInput, inputField, noteField, readNote } from '../parts/fields.ts';
import { formatDay, moneyOf, shortenId } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { buttonLink, facts } from '../parts/page-components.ts';
import { accountForm } from './account-form.ts';
import { BANK_LISTS, type BankLine, describePaired, describeTexts, RULE_WORDS } from './describe-bank.ts';
import { addressOfAccount } from './render-sums.ts';

type Match = Awaited<ReturnType<typeof listBankMatches>>[number];
type Picked = GivenOf<typeof matchBankLine>;

const UNCHANGED = 'O razão não muda. Fica registrado quem o fez e quando.';

/** The forms that match a line with an entry, and that undo a match. */
export function bankForms(context: Context): Router {
  const router = createRouter();
  router.use([serveTwoStepForm(context, matchForm(context)), serveTwoStepForm(context, undoForm(context))]);
  router.use([
    serveTwoStepForm(context, markForm(context)),
    serveTwoStepForm(context, unmarkForm(context)),
    accountForm(context),
  ]);
  return router;
}

function matchForm(context: Context): TwoStepForm<Picked, BankLine> {
  return {
    ...ofChange(matchBankLine),
    address: `${BANK_LISTS.lines.address}/:id/match`,
    title: 'Casar uma linha',
    lead: 'Escolha o lançamento que esta linha do extrato é. O valor tem de ser o mesmo, e os dias próximos um do outro.',
    list: BANK,
    names: ['entry', 'adjustment', 'transaction', 'note'],
    find: findLine(context),
    fields: async (
      draft,
      line,
    ) => html`${await describeLine(context, line)}${line.candidates.length === 0 && offerEntry(line)}<div class="fields">${candidateField(draft, line)}
${inputField(draft, { name: 'adjustment', label: 'Ou o id de outro ajuste do tipo banco' }, html` maxlength="40"`)}
${inputField(draft, { name: 'transaction', label: 'Ou o id de um saque por PIX' }, html` maxlength="64"`)}</div>${noteField(draft)}`,
    read: readPicked,
    async preview(picked, line) {
      await previewOf(context, matchBankLine, picked);
      const { adjustment_id = null, transaction_id = null, note } = picked;
      return html`${await describeLine(context, line)}${facts([
        ['Lançamento', describePaired({ adjustment_id, transaction_id })],
        ['Observação', note],
      ])}<p class="explain">${t(UNCHANGED)}</p>`;
    },
    done: 'bank_matched',
  };
}

/** Where a line without a candidate leads: the form of the adjustment that it shows, filled in. */
function offerEntry({ id, account, day, amount }: BankLine): Html {
  const cents = parseSum(amount) ?? 0n;
  const kind = cents < 0n ? 'bank_in' : 'bank_out';
  const size = formatMoneyInput(cents < 0n ? -cents : cents);
  const search = new URLSearchParams({ kind, day, amount: size, bank_account: account, bank_line: id });
  const address = `${LISTS.adjustments.address}/new?${search.toString()}`;
  return html`<div class="explain"><p>${t('Nada no razão tem este valor. Se o dinheiro veio do provedor ou foi para ele, lance o ajuste: a linha casa com ele no mesmo passo.')}</p>
<p class="actions">${buttonLink(address, cents < 0n ? t('Lançar o depósito') : t('Lançar o saque'))}</p></div>`;
}

function findLine(context: Context): TwoStepForm<unknown, BankLine>['find'] {
  return async ({ params }, response) => {
    const [line] = await listBankLines(context.db, 1, undefined, { id: params.id });
    if (!line) throw refuse('bank_line_unknown');
    await auditPersonalAccess(context, response, 'bank.lines', line.id);
    return line;
  };
}

function markForm(context: Context): TwoStepForm<{ note: string }, BankLine> {
  return {
    ...ofLine(context, markLine),
    address: `${BANK_LISTS.lines.address}/:id/mark`,
    title: 'Não é do PIX',
    lead: 'A linha sai do que está em aberto e continua na lista, até que alguém o desfaça.',
    above: async ({ account }) =>
      html`<p class="hint">${tHtml('Linhas como esta voltam? {link}: o Confere marca sozinho as linhas desta conta cujo texto começa com o que você disser, ou o contém.', { link: html`<a href="${addressOfAccount(account)}">${t('Dê uma regra à conta')}</a>` })}</p>`,
  };
}

function unmarkForm(context: Context): TwoStepForm<{ note: string }, BankLine> {
  return {
    ...ofLine(context, unmarkLine),
    address: `${BANK_LISTS.lines.address}/:id/unmark`,
    title: 'Desfazer “Não é do PIX”',
    lead: 'A linha fica em aberto de novo, e nenhum texto da conta a marca outra vez.',
  };
}

/** The parts of a form that changes one line, with a note. */
function ofLine(context: Context, change: typeof markLine) {
  return {
    ...ofChange(change),
    list: BANK,
    names: ['note'],
    find: findLine(context),
    fields: async (draft: Draft, line: BankLine) =>
      html`${await describeLine(context, line)}${noteField(draft, 'Por quê')}`,
    read: (draft: Draft) => ({ note: readNote(draft) }),
    async preview({ note }: { note: string }, line: BankLine) {
      await previewOf(context, change, { note }, line.id);
      return html`${await describeLine(context, line)}${facts([['Por quê', note]])}<p class="explain">${t(UNCHANGED)}</p>`;
    },
    done: 'bank_saved' as const,
  };
}

/** The candidates as choices: `adjustment adj_…`, `transaction …`. */
function candidateField(draft: Draft, { candidates }: BankLine): Html {
  const words = Object.fromEntries(
    candidates.map(({ adjustment_id: adjustment, transaction_id: transaction, day }) =>
      adjustment === null
        ? [`transaction ${transaction}`, `${t('Saque por PIX')} ${shortenId(transaction ?? '')}, ${formatDay(day)}`]
        : [`adjustment ${adjustment}`, `${t('Ajuste')} ${shortenId(adjustment)}, ${formatDay(day)}`],
    ),
  );
  const any = candidates.length > 0 ? 'Escolha' : 'sem candidato';
  return choiceField(draft, { name: 'entry', label: 'Candidato', words, any });
}

function readPicked(draft: Draft, line: BankLine): Picked {
  const { entry = '', adjustment = '', transaction = '', note = '' } = draft.values;
  const given = [entry, adjustment, transaction].filter((one) => one !== '');
  if (given.length !== 1) draft.faults.entry = t('Escolha um lançamento, e só um.');
  const [kind, id = ''] = entry.split(' ');
  const chosen =
    transaction !== '' || kind === 'transaction'
      ? { transaction_id: transaction || id }
      : { adjustment_id: adjustment || id };
  return { line_id: line.id, ...chosen, note: note === '' ? undefined : note };
}

function undoForm(context: Context): TwoStepForm<GivenOf<typeof undoBankMatch>, Match> {
  return {
    ...ofChange(undoBankMatch),
    address: `${BANK_LISTS.matches.address}/:id/undo`,
    title: 'Desfazer um par',
    lead: 'A linha e o lançamento ficam em aberto de novo. O Confere não casa estes dois outra vez; uma pessoa pode.',
    list: BANK,
    names: ['note'],
    async find({ params }, response) {
      const [match] = await listBankMatches(context.db, 1, undefined, params.id);
      if (!match) throw refuse('bank_match_unknown');
      await auditPersonalAccess(context, response, 'bank.matches', match.id);
      return match;
    },
    fields: async (draft, match) => html`${describeMatch(match)}${noteField(draft, 'Por quê')}`,
    read: (draft) => ({ note: readNote(draft) }),
    async preview({ note }, match) {
      await previewOf(context, undoBankMatch, { note }, match.id);
      return html`${describeMatch(match)}${facts([['Por quê', note]])}<p class="explain">${t(UNCHANGED)}</p>`;
    },
    done: 'bank_undone',
  };
}

async function describeLine({ db }: Context, line: BankLine): Promise<Html> {
  return facts([
    ['Conta', showAccount(await readBankAccounts(db), line.account)],
    ['Dia', formatDay(line.day)],
    ['Valor', moneyOf(line.amount)],
    ['Texto', describeTexts(line)],
  ]);
}

function describeMatch(match: Match): Html {
  return facts([
    ['Linha', `${match.line_id}, ${formatDay(match.day)}`],
    ['Lançamento', html`${describePaired(match)} ${formatDay(match.entry_day)}`],
    ['Valor', moneyOf(match.amount)],
    ['Como', RULE_WORDS[match.rule]],
    ['Observação', match.note],
  ]);
}
