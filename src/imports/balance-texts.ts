/** Texts of rows that show a balance or a total, and are no movements. Pure. */
import { fold } from './columns.ts';

/** The text of a row that shows a balance: `Saldo Anterior`, `*** S A L D O ***`. Other words may follow. */
const BALANCE = /^[^\p{L}]*(?:s[\s.]*a[\s.]*l[\s.]*d[\s.]*o|sdo|sld)(?!\p{L})/u;
/** Without other words: `Saldos Ltda` is a name. */
const BALANCES = /^[^\p{L}]*saldos(?!\p{L})/u;
const TOTAL = /^[^\p{L}]*(?:sub-?)?tota(?:l|is)(?!\p{L})/u;
/** More than the marks that stand before such a text, and its first words. */
const BEGIN_CHARS = 60;
/** Words of the names of balances and totals; single letters are of `C/C`, or spaced. */
const WORDS = new Set(
  (
    'saldo saldos sdo sld total totais subtotal sub anterior ant inicial final atual parcial geral ' +
    'disponivel disp bloqueado bloq liberado contabil provisorio do da de dos das em no dia mes periodo ' +
    'conta corrente cc aplic aplicacao aut automatica mais invest facil com sem limite para saque ' +
    'debitos creditos entradas saidas lancamentos movimentos'
  ).split(' '),
);

/** Whether a text begins as that of a balance. A payment may have other words behind it. */
export function beginsAsBalance(text: string): boolean {
  return begins(text, BALANCE) || isBalanceText(text);
}

/** Whether a text has no other words than those with which banks name a balance. */
export function isBalanceText(text: string): boolean {
  return (begins(text, BALANCE) || begins(text, BALANCES)) && hasOnlyWords(text);
}

/** Whether a text begins as that of a total. */
export function beginsAsTotal(text: string): boolean {
  return begins(text, TOTAL);
}

/** Whether a text has no other words than those of the name of a total. */
export function isTotalText(text: string): boolean {
  return begins(text, TOTAL) && hasOnlyWords(text);
}

function begins(text: string, name: RegExp): boolean {
  return name.test(fold(text.slice(0, BEGIN_CHARS)));
}

function hasOnlyWords(text: string): boolean {
  return (fold(text).match(/\p{L}+/gu) ?? []).every((word) => word.length === 1 || WORDS.has(word));
}
