/**
 * The layouts of *Lançamentos contábeis*: the columns that a program imports, and a movement's rows in them. Columns have the
 * names and the order that the program documents.
 */
import type { MappedAccount } from '../../../ledger/stated/check-accounts.ts';
import { isBalanceAccount, splitAccount } from '../../read/read-accounts.ts';
import type { Movement } from '../../read/read-movements.ts';
import type { Cell } from '../../xlsx/render-cell.ts';
import { type RenderContext, showName } from '../columns.ts';
import type { Booking } from './book-movement.ts';
import type { Charset } from './open-text-file.ts';

/** A posting with the row of its account in the map. Cents are debit positive. */
export type MappedLeg = { account: string; cents: bigint; mapped: MappedAccount };

export type Layout = {
  charset: Charset;
  header: readonly string[];
  /** The field of the account map without which an account is unmapped. */
  needs: 'code' | 'category';
  /** Whether the accounts of the balance itself need a row in the map. */
  needsBalance: boolean;
  listRows(booking: Booking, legs: MappedLeg[], rendering: RenderContext): Cell[][];
};

/** For any program. UTF-8 with a byte order mark: a spreadsheet then reads the accents, and people check it in one first. */
export const GENERIC: Layout = {
  charset: 'utf-8',
  header: [...['data', 'conta débito', 'conta crédito', 'valor', 'histórico', 'documento', 'centro de custo', 'lote']],
  needs: 'code',
  needsBalance: true,
  listRows: ({ movement, day, kind }, legs) =>
    pairLegs(legs).map(({ debit, credit, cents }) => [
      { day },
      { text: debit.code },
      { text: credit.code },
      { cents },
      { text: [kind, movement.reference].filter(Boolean).join(' ') },
      { text: movement.transactionId },
      { text: pick('cost_center', debit, credit) },
      { count: movement.entrySeq },
    ]),
};

/** Calima: values are never negative. Windows-1252: its manual has the file saved from Excel or the Notepad. */
export const CALIMA: Layout = {
  charset: 'windows-1252',
  header: [
    ...['Data', 'Valor', 'Conta Débito', 'Conta Crédito', 'Nº Histórico', 'Histórico Variável'],
    ...['Centro de Custo Débito', 'Centro de Custo Crédito', 'Nº Lote'],
  ],
  needs: 'code',
  needsBalance: true,
  listRows: ({ movement, day, kind }, legs) =>
    pairLegs(legs).map(({ debit, credit, cents }) => [
      { day },
      { cents },
      { text: debit.code },
      { text: credit.code },
      { text: pick('history', debit, credit) },
      { text: describe(movement, kind) },
      { text: debit.cost_center },
      { text: credit.cost_center },
      { count: movement.entrySeq },
    ]),
};

/**
 * Conta Azul, with the columns of its own workbook, in their order: one account; money received is positive, money paid is negative, each with a category. UTF-8 with a byte
 * order mark: people paste it into the program's own workbook. A masked document would be refused as invalid: the field
 * stays empty.
 */
export const CONTA_AZUL: Layout = {
  charset: 'utf-8',
  header: [
    ...['Data de Pagamento', 'Data de Vencimento', 'Data de Competência', 'Descrição', 'Categoria', 'Valor'],
    ...['Centro de Custo', 'Cliente/Fornecedor', 'CNPJ/CPF Cliente/Fornecedor', 'Observações'],
  ],
  needs: 'category',
  needsBalance: false,
  listRows: ({ movement, day, kind }, legs, rendering) => {
    const document = rendering.fullDocuments && !movement.forgotten ? movement.document : null;
    return legs
      .filter(({ account }) => !isBalanceAccount(splitAccount(account).root))
      .map(({ cents, mapped }) => [
        { day },
        { day },
        { day },
        { text: [kind, movement.reference].filter(Boolean).join(' ') },
        { text: mapped.category },
        { cents: -cents },
        { text: mapped.cost_center },
        { text: showName(movement, rendering) },
        { text: document },
        { text: [`lançamento ${movement.entrySeq}`, movement.transactionId].filter(Boolean).join(' ') },
      ]);
  },
};

function describe({ reference, transactionId }: Movement, kind: string): string {
  return [kind, reference, transactionId].filter(Boolean).join(' ');
}

/** The field of the account that is not the provider's balance, else of the other one. */
function pick(field: 'cost_center' | 'history', debit: MappedAccount, credit: MappedAccount): string | null {
  const [first, second] = isBalanceAccount(debit.account) ? [credit, debit] : [debit, credit];
  return first[field] ?? second[field];
}

type Pair = { debit: MappedAccount; credit: MappedAccount; cents: bigint };

/**
 * Splits an entry into rows of one debit and one credit, each more than zero. Legs of one account in the chart are added up
 * first: a hold between two accounts of ours that are one account there is no row. Pure.
 */
export function pairLegs(legs: readonly MappedLeg[]): Pair[] {
  const open = mergeLegs(legs);
  const [debits, credits] = [open.filter((leg) => leg.cents > 0n), open.filter((leg) => leg.cents < 0n)];
  const pairs: Pair[] = [];
  for (let [debit, credit] = [debits.shift(), credits.shift()]; debit && credit; ) {
    let { cents } = debit;
    if (cents > -credit.cents) cents = -credit.cents;
    pairs.push({ debit: debit.mapped, credit: credit.mapped, cents });
    debit.cents -= cents;
    credit.cents += cents;
    if (debit.cents === 0n) debit = debits.shift();
    if (credit.cents === 0n) credit = credits.shift();
  }
  return pairs;
}

function mergeLegs(legs: readonly MappedLeg[]): { mapped: MappedAccount; cents: bigint }[] {
  const merged: { mapped: MappedAccount; cents: bigint }[] = [];
  for (const { mapped, cents } of legs) {
    const same = merged.find((one) => one.mapped.code === mapped.code && one.mapped.cost_center === mapped.cost_center);
    if (same) same.cents += cents;
    else merged.push({ mapped, cents });
  }
  return merged;
}
