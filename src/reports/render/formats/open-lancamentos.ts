import type { ConfereError } from '../../../domain/errors.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { splitAccount } from '../../../ledger/journal/plan-entries.ts';
import { createAccountSearch, readAccountMap } from '../../../ledger/stated/account-map.ts';
import type { MappedAccount } from '../../../ledger/stated/check-accounts.ts';
import { refuse } from '../../../texts/refuse.ts';
import { spanOf } from '../../plan/report-plan.ts';
import { isBalanceAccount } from '../../read/read-accounts.ts';
import type { Movement } from '../../read/read-movements.ts';
import type { Cell } from '../../xlsx/render-cell.ts';
import { type Booking, bookEarlier, bookMovement } from './book-movement.ts';
import { fitWindows1252 } from './encode-windows-1252.ts';
import { groupByDay } from './group-day.ts';
import type { Layout, MappedLeg } from './layouts.ts';
import { nameLedgerAccount, nameRefunds } from './name-refunds.ts';
import { openTextFile } from './open-text-file.ts';
import type { FormatWork, Output } from './output.ts';
import { type EntryBankAccount, readEntryAccounts } from './read-entry-accounts.ts';
import { BOM, escapeCsvField, LINE_END, renderField } from './write-csv.ts';

const LINE_BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Opens a journal for an accounting program, in the accounts of the customer's chart. */
export async function openLancamentos(work: FormatWork, path: string, layout: Layout): Promise<Output> {
  const { accounts } = await readAccountMap(work.db);
  const banks = await readEntryAccounts(work.db, work.scope.end);
  return await openMapped(work, path, { layout, accounts, banks });
}

/** `banks`: the bank accounts of entries, by their row numbers. */
type Mapped = { layout: Layout; accounts: MappedAccount[]; banks?: ReadonlyMap<number, EntryBankAccount> };

/**
 * Opens the same with a map that is given. The rows of a movement add up to it.
 * @returns a file whose end throws ConfereError `invalid_request`, which names each account that the map lacks, or each code of the
 *   map that the charset lacks.
 */
export async function openMapped(
  { rendering, plan, signal }: Pick<FormatWork, 'rendering' | 'plan' | 'signal'>,
  path: string,
  { layout, accounts, banks = new Map() }: Mapped,
): Promise<Output> {
  const file = await openTextFile(path, signal, layout.charset);
  const find = createAccountSearch(accounts);
  const unmapped = new Set<string>();
  const unwritable = new Set<string>();
  file.add(`${layout.charset === 'utf-8' ? BOM : ''}${layout.header.map(escapeCsvField).join(';')}${LINE_END}`);
  const { from: firstDay } = spanOf(plan);
  function mapLegs({ movement, bank }: Booking): MappedLeg[] {
    return movement.postings.flatMap(({ account, cents }): MappedLeg[] => {
      const ledgerAccount = nameLedgerAccount(account);
      const mapped = [account, ledgerAccount]
        .map((name) => find(name, bank?.account))
        .find((row) => row !== undefined && row[layout.needs] !== null);
      if (mapped) {
        for (const text of [mapped.code, mapped.cost_center]) if (!isWritable(text, layout)) unwritable.add(`${text}`);
        return [{ account, cents, mapped }];
      }
      if (layout.needsBalance || !isBalanceAccount(splitAccount(account).account)) unmapped.add(ledgerAccount);
      return [];
    });
  }
  function book({ kind, ...given }: Booking): void {
    const { bank } = given;
    const booking = { ...given, kind: bank ? `${kind}, ${bank.name}` : kind };
    const legs = mapLegs(booking);
    if (unmapped.size + unwritable.size > 0) return;
    for (const cells of layout.listRows(booking, legs, rendering))
      file.add(cells.map((cell) => renderInLine(cell, layout)).join(';') + LINE_END);
  }
  const group = plan.group === 'day' ? groupByDay(rendering, book) : { add: book, end: () => undefined };
  function add(movement: Movement, booking: Booking): void {
    const one = { ...booking, movement: nameRefunds(movement), bank: banks.get(movement.entrySeq) };
    // an account that comes to nothing in a day has no posting of it, and is asked of the map all the same
    if (plan.group === 'day') mapLegs(one);
    group.add(one);
  }
  return {
    add: ({ movement }) => add(movement, bookMovement(movement, rendering.texts)),
    addEarlier: (movement) => add(movement, bookEarlier(movement, rendering.texts, firstDay)),
    drain: () => file.drain(),
    async end() {
      group.end();
      await file.end();
      if (unmapped.size > 0) throw refuseUnmapped(unmapped, { layout, accounts, masked: plan.masked });
      if (unwritable.size > 0) throw refuse('codes_unwritable', { codes: [...unwritable].sort().join(', ') });
    },
  };
}

/** A field without line ends: some programs read a file by its lines. */
function renderInLine(cell: Cell, { charset }: Layout): string {
  if (!cell || !('text' in cell) || cell.text === null) return renderField(cell);
  const line = cell.text.replace(LINE_BREAKS, ' ');
  return escapeCsvField(charset === 'utf-8' ? line : fitWindows1252(line));
}

/** Whether a text of the map stays what it is: `１` would become the code `1`, which is another account. */
function isWritable(text: string | null, { charset }: Layout): boolean {
  return text === null || charset === 'utf-8' || fitWindows1252(text) === text.normalize('NFC');
}

/** Names accounts without a row alone; those that have rows of other platforms with their platform. */
function refuseUnmapped(
  unmapped: ReadonlySet<string>,
  { layout, accounts, masked }: { layout: Layout; accounts: MappedAccount[]; masked: boolean },
): ConfereError {
  const names = [...unmapped].map((name) => {
    const { account } = splitAccount(name);
    const isPartial = accounts.some((row) => row.account === account && row.platform !== null);
    return isPartial ? (masked ? maskAccount(name) : name) : account;
  });
  const missing = [...new Set(names)].sort();
  const values = { needs: layout.needs, accounts: missing.join(', ') };
  return refuse('accounts_unmapped', values, { fields: { accounts: missing } });
}
