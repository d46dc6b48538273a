import type { BANK_QUESTIONS, BankQuestion } from '../../ledger/bank/statement/statement-faults.ts';
import type { Question, Titles } from '../import-kind.ts';

type Words<Answers> = Answers extends readonly (infer Answer extends string)[] ? Record<Answer, Titles> : null;
type AllWords = { [Name in BankQuestion]: { titles: Titles; answers: Words<(typeof BANK_QUESTIONS)[Name]> } };

const YES: Titles = { 'pt-BR': 'sim', en: 'yes' };
const LEAVE_OUT: Titles = { 'pt-BR': 'deixar de fora', en: 'leave out' };

const IN_CENTS: Titles = { 'pt-BR': 'em centavos', en: 'in cents' };
const IN_REAIS: Titles = { 'pt-BR': 'em reais', en: 'in BRL' };

/** Questions that a statement of the bank may raise, in the words of the console and the command line. */
export const QUESTIONS = {
  account: { titles: { 'pt-BR': 'a conta é', en: 'the account is' }, answers: null },
  new_account: {
    titles: { 'pt-BR': 'é outra conta, nova', en: 'it is another account, a new one' },
    answers: { true: YES },
  },
  currency: { titles: { 'pt-BR': 'moeda', en: 'currency' }, answers: { BRL: { 'pt-BR': 'BRL', en: 'BRL' } } },
  amounts: {
    titles: { 'pt-BR': 'valores sem decimais', en: 'amounts without decimals' },
    answers: { cents: IN_CENTS, as_written: IN_REAIS },
  },
  balance: {
    titles: { 'pt-BR': 'saldo sem decimais', en: 'balance without decimals' },
    answers: {
      cents: IN_CENTS,
      as_written: IN_REAIS,
      leave_out: LEAVE_OUT,
    },
  },
  signs: {
    titles: { 'pt-BR': 'débitos sem sinal', en: 'debits without a sign' },
    answers: {
      by_type: { 'pt-BR': 'são saídas, como diz o tipo ou o texto', en: 'are money out, as their type or text says' },
      as_written: { 'pt-BR': 'são entradas, como está escrito', en: 'are money in, as written' },
    },
  },
  balance_rows: {
    titles: { 'pt-BR': 'linhas com Saldo ou Total no texto', en: 'rows with Saldo or Total in their text' },
    answers: { leave_out: LEAVE_OUT, lines: { 'pt-BR': 'são movimentos', en: 'are transactions' } },
  },
  later_lines: {
    titles: { 'pt-BR': 'linhas depois do saldo estão lançadas', en: 'lines after the balance are posted' },
    answers: { true: YES },
  },
  other_lines: {
    titles: {
      'pt-BR': 'são outras linhas, não as já importadas',
      en: 'they are other lines, not those imported before',
    },
    answers: { true: YES },
  },
} as const satisfies AllWords satisfies Record<string, Question>;
