import type { Reader } from '../../database/reader.ts';
import { LANGUAGES } from '../../domain/language/language.ts';
import { findAccountFaults, readAccountMap, setAccountMap } from '../../ledger/stated/account-map.ts';
import { readBankAccounts } from '../../ledger/stated/bank-accounts.ts';
import {
  ACCOUNT_CHARS_MAX,
  type AccountFault,
  BANK,
  CHART_ACCOUNTS,
  type MappedAccount,
} from '../../ledger/stated/check-accounts.ts';
import { foldName } from '../../ledger/stated/platform-names.ts';
import { escapeCsvField } from '../../reports/render/formats/write-csv.ts';
import { describeCode } from '../../texts/fill.ts';
import { textsOf } from '../../texts/reports/texts.ts';
import { type Column, fold, textColumn } from '../columns.ts';
import { defineTable } from '../define-table.ts';
import type { ChangedAccount, ImportedRow, ImportFault, Titles } from '../import-kind.ts';
import { platformColumn } from './shared-columns.ts';

/** The limits of the map are checked with it, so that all faults come at once: this bounds a cell. */
const CELL_CHARS_MAX = 200;
/** Text that a row has where it lacks this one. */
const OTHERWISE: Partial<Record<keyof typeof ACCOUNT_CHARS_MAX, Titles>> = {
  code: { 'pt-BR': '; sem ele, a categoria', en: '; without it, the category' },
  category: { 'pt-BR': '; sem ela, o código', en: '; without it, the code' },
};

/** A text of the map. */
function column(name: keyof typeof ACCOUNT_CHARS_MAX, pt: string, en: string, example: string): Column<string> {
  const max = ACCOUNT_CHARS_MAX[name];
  const otherwise = OTHERWISE[name] ?? { 'pt-BR': '', en: '' };
  const hint: Titles =
    name === 'history'
      ? { 'pt-BR': `número de até ${max} algarismos`, en: `number of up to ${max} digits` }
      : {
          'pt-BR': `até ${max} caracteres, o primeiro letra ou algarismo${otherwise['pt-BR']}`,
          en: `up to ${max} characters, the first a letter or a digit${otherwise.en}`,
        };
  return { ...textColumn({ titles: { 'pt-BR': pt, en }, charsMax: CELL_CHARS_MAX, example }), hint };
}

const NAMED = new Map(
  CHART_ACCOUNTS.flatMap((account) =>
    LANGUAGES.map((language) => [fold(describeCode(textsOf(language).accounts, account)), account] as const),
  ),
);

/** An account of the ledger, by its name in either language or in the ledger. */
function accountColumn(): Column<string> {
  const typed = textColumn({
    ...{ titles: { 'pt-BR': 'conta', en: 'account' }, charsMax: CELL_CHARS_MAX, isRequired: true },
    example: textsOf('pt-BR').accounts['Assets:Provider:Available'] ?? '',
  });
  return {
    ...typed,
    hint: { 'pt-BR': 'conta do razão, como está no modelo', en: 'account of the ledger, as in the template' },
    parse(cell, context) {
      const parsed = typed.parse(cell, context);
      return 'fault' in parsed ? parsed : { value: NAMED.get(fold(parsed.value)) ?? parsed.value };
    },
  };
}

/** The map of the ledger's accounts to the customer's chart, which replaces the one before. */
export const ACCOUNTS = defineTable({
  titles: { 'pt-BR': 'Plano de contas', en: 'Chart of accounts' },
  roles: ['accountant'],
  isWholeState: true,
  columns: {
    account: accountColumn(),
    platform: {
      ...platformColumn({ isRequired: false, example: '' }),
      hint: {
        'pt-BR': 'id ou nome da plataforma; na conta no banco, também nome ou número de conta',
        en: 'the id of the platform, or its name; for the bank, also the name or number of a bank account',
      },
    },
    code: column('code', 'código', 'code', '1.1.02'),
    category: column('category', 'categoria', 'category', ''),
    cost_center: column('cost_center', 'centro de custo', 'cost center', ''),
    history: column('history', 'histórico', 'history', ''),
  },
  toValue({ account, ...texts }) {
    // a row of the template that is still to be filled in
    if (account === null || Object.values(texts).every((text) => text === null)) return undefined;
    return { value: { account, ...texts } };
  },
  async apply(inner, rows: ImportedRow<MappedAccount>[], { actor }) {
    const numberOf = await readAccountNumbers(inner.db);
    const accounts = rows.map(({ value }) => ({ ...value, platform: numberOf(value) }));
    const faults = await findAccountFaults(inner.db, accounts);
    if (faults.length > 0) return { changed: 0, faults: faults.map((fault) => toFault(fault, rows)) };
    const changes = listChanges((await readAccountMap(inner.db)).accounts, accounts);
    const { changed } = await setAccountMap(inner, { accounts, actor });
    // rows in another order change the map too
    const count = Math.max(1, changes.filter(({ after }) => after !== null).length);
    return { changed: changed ? count : 0, faults: [], accounts: changes };
  },
});

/** Compares two maps, account by account. */
function listChanges(before: readonly MappedAccount[], after: readonly MappedAccount[]): ChangedAccount[] {
  const keyOf = ({ account, platform }: MappedAccount): string => JSON.stringify([account, platform]);
  const [old, given] = [before, after].map((rows) => new Map(rows.map((row) => [keyOf(row), row])));
  return [...new Set([...after, ...before].map(keyOf))]
    .map((key) => ({ before: old?.get(key) ?? null, after: given?.get(key) ?? null }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}

/** Returns what finds the number of a bank account by its name, where that is nobody else's; other texts stay as they are. */
async function readAccountNumbers(db: Reader): Promise<(row: MappedAccount) => string | null> {
  const named = Map.groupBy((await readBankAccounts(db)).values(), ({ name }) =>
    name === null ? null : foldName(name),
  );
  return ({ account, platform }) => {
    const [one, ...others] = (account === BANK && platform !== null && named.get(foldName(platform))) || [];
    return one && others.length === 0 ? one.account : platform;
  };
}

function toFault(
  { row: index, field: column, ...fault }: AccountFault,
  rows: ImportedRow<MappedAccount>[],
): ImportFault {
  return { row: rows[index]?.number ?? 0, column, of: 'account', ...fault };
}

/** Writes a map as a CSV of this kind, with a row to be filled in for each account without one. */
export function renderAccountMap(accounts: MappedAccount[]): string {
  const missing = CHART_ACCOUNTS.filter((account) => !accounts.some((row) => row.account === account));
  const rows: Partial<MappedAccount>[] = [...accounts, ...missing.map((account) => ({ account }))];
  const columns = Object.entries(ACCOUNTS.columns) as [keyof MappedAccount, (typeof ACCOUNTS.columns)[string]][];
  const header = columns.map(([, { titles }]) => titles['pt-BR']);
  const lines = rows.map((row) => columns.map(([name]) => escapeCsvField(row[name] ?? '')));
  return `${[header, ...lines].map((cells) => cells.join(';')).join('\n')}\n`;
}
