/** The bank's statements, what of them is matched with the ledger, and what is open on both sides. */
import { z } from 'zod';
import { maySeePersons } from '../../access/roles.ts';
import type { Caller } from '../../access/tokens.ts';
import { compareText } from '../../domain/lists.ts';
import { formatAmount } from '../../domain/money.ts';
import { maskNote } from '../../domain/person/mask-mismatch.ts';
import { LINE_STATES, listBankLines } from '../../ledger/bank/list-bank-lines.ts';
import { listBankMatches, listBankStatements, listOpenBankEntries } from '../../ledger/bank/list-bank-matches.ts';
import { markBankLine, openUnnamed, unmarkBankLine } from '../../ledger/bank/mark-lines.ts';
import { matchBankLines } from '../../ledger/bank/match-bank-lines.ts';
import { PICKED_DAYS_APART_MAX, pickMatch, undoMatch } from '../../ledger/bank/pick-match.ts';
import { presentBankSummary } from '../../ledger/bank/present-bank-summary.ts';
import { summarizeBank } from '../../ledger/bank/summarize-bank.ts';
import { type NotPix, readBankAccounts, setBankAccount } from '../../ledger/stated/bank-accounts.ts';
import { type Change, defineChange } from '../define-change.ts';
import { auditItem, defineItem } from '../define-item.ts';
import { auditShowing, defineList } from '../define-list.ts';
import { created, ok } from '../describe-operation.ts';
import { bankAccount, day, note, signedAmount } from '../fields.ts';
import { presentWritten } from '../present-row.ts';
import {
  bankAccounts,
  bankCsv,
  bankEntry,
  bankLine,
  bankMatch,
  bankStatement,
  bankSummary,
  notPix,
} from '../rows/bank.ts';

export const bank = defineItem({
  route: '/bank',
  summary: 'Assets:Bank beside the balance of the bank, and what explains the difference',
  item: bankSummary,
  read: async ({ db }) => presentBankSummary(await summarizeBank(db)),
});

export const bankStatements = defineList({
  name: 'statements',
  roles: ['viewer'],
  route: '/bank/statements',
  row: bankStatement,
  read: ({ db }, { limit, after }) => listBankStatements(db, limit, after),
});

export const bankLines = defineList({
  name: 'lines',
  roles: ['viewer'],
  route: '/bank/lines',
  row: bankLine,
  filters: z.object({
    state: z.enum(LINE_STATES, `must be one of ${LINE_STATES.join(', ')}`).optional(),
    account: bankAccount.optional(),
    from: day.optional().describe('of this day or later: YYYY-MM-DD'),
    to: day.optional().describe('of this day or earlier'),
  }),
  read: ({ db }, { limit, after }, filters) => listBankLines(db, limit, after, filters),
  personal: auditShowing('bank.lines', 'texts'),
  mask: (_context, rows, caller) => rows.map((row) => maskBankLine(caller, row)),
});

export const bankEntries = defineList({
  name: 'entries',
  roles: ['viewer'],
  route: '/bank/entries',
  row: bankEntry,
  read: ({ db }, { limit, after }) => listOpenBankEntries(db, limit, after),
  personal: auditShowing('adjustments.list', 'notes'),
  withheld: ['platform', 'note'],
});

export const bankMatches = defineList({
  name: 'matches',
  roles: ['viewer'],
  route: '/bank/matches',
  row: bankMatch,
  read: ({ db }, { limit, after }) => listBankMatches(db, limit, after),
  personal: auditShowing('bank.matches', 'notes'),
  withheld: ['platform', 'note'],
});

const counts = z.object({ reference: z.int(), amount: z.int(), not_pix: z.int() });

export const matchBank = defineChange({
  name: 'bank.match',
  roles: ['accountant'],
  route: 'POST /bank/match',
  summary: 'Match open lines by the rules, and mark those that are nothing of PIX, as an import does',
  answers: ok('Matched', z.object({ matched: counts })),
  change: (inner) => matchBankLines(inner),
  target: (counts, { via = '' }) => ({ target: 'rules', detail: `${via} ${JSON.stringify(counts)}`.trim() }),
  answer: async (_context, matched) => ({ matched }),
});

const written = {
  roles: ['accountant'],
  answer: async ({ db }, id) => presentWritten((await listBankMatches(db, 1, undefined, id))[0]),
} as const satisfies Partial<Change<unknown, string>>;

export const matchBankLine = defineChange({
  ...written,
  name: 'bank.match_line',
  audit: 'bank.match',
  route: 'POST /bank/matches',
  summary: `Match a line with an entry of its amount, at most ${PICKED_DAYS_APART_MAX} days apart. 409 for a line that is matched`,
  input: z
    .strictObject({
      line_id: z.string('must be the id of a line: bl_12'),
      adjustment_id: z.string().min(1).optional().describe('of kind bank, in force and without a match'),
      transaction_id: z.string().min(1).optional().describe('a paid cashout without a match'),
      note: note.optional(),
    })
    .refine(({ adjustment_id: one, transaction_id: other }) => (one === undefined) !== (other === undefined), {
      error: 'give adjustment_id or transaction_id',
      path: ['adjustment_id'],
    }),
  answers: created('Matched', bankMatch),
  refuses: ['bank_line_unknown', 'bank_line_matched', 'bank_line_not_pix'],
  change(inner, { line_id: line, adjustment_id: adjustment, transaction_id: transaction = '', note: why }, { caller }) {
    const picked = adjustment === undefined ? { transaction } : { adjustment };
    return pickMatch(inner, line, picked, { actor: caller.id, note: why });
  },
});

export const undoBankMatch = defineChange({
  ...written,
  name: 'bank.undo',
  route: 'POST /bank/matches/{id}/undo',
  summary: 'Undo a match: the rules keep this pair apart',
  input: z.strictObject({ note }),
  answers: created('Undone', bankMatch),
  refuses: ['bank_match_unknown', 'bank_match_is_undoing', 'bank_match_undone'],
  change: (inner, { note: why }, { caller, id }) => undoMatch(inner, id, { actor: caller.id, note: why }),
});

const marked = {
  roles: ['accountant'],
  input: z.strictObject({ note }),
  answer: async ({ db }, id) => presentWritten((await listBankLines(db, 1, undefined, { id }))[0]),
} as const satisfies Partial<Change<{ note: string }, string>>;

export const markLine = defineChange({
  ...marked,
  name: 'bank.mark',
  route: 'POST /bank/lines/{id}/mark',
  summary: 'Mark an open line as nothing of PIX',
  answers: created('Marked', bankLine),
  refuses: ['bank_line_unknown', 'bank_line_matched', 'bank_line_not_pix'],
  change: (inner, { note: why }, { caller, id }) => markBankLine(inner, id, { actor: caller.id, note: why }),
});

export const unmarkLine = defineChange({
  ...marked,
  name: 'bank.unmark',
  route: 'POST /bank/lines/{id}/unmark',
  summary: 'Undo such a mark: the line is open again, and no text marks it',
  answers: created('Undone', bankLine),
  refuses: ['bank_line_unknown', 'bank_line_unmarked'],
  change: (inner, { note: why }, { caller, id }) => unmarkBankLine(inner, id, { actor: caller.id, note: why }),
});

export const accountsOfBank = defineItem({
  route: '/bank/accounts',
  summary: 'What people say of bank accounts: names, texts of lines that are nothing of PIX, and columns of CSVs',
  item: bankAccounts,
  async read(context, by) {
    const { db } = context;
    const { caller } = by;
    await auditItem(context, by, 'bank.lines', 'accounts');
    const stated = [...(await readBankAccounts(db)).values()].sort((a, b) => compareText(a.account, b.account));
    const hide = (texts: string[]): string[] => (maySeePersons(caller.role) ? texts : texts.map(maskNote));
    return {
      accounts: stated.map(({ account, name, notPix: { begins, contains }, csv, balance }) => ({
        ...{ account, name, not_pix: { begins: hide(begins), contains: hide(contains) }, csv },
        balance: balance && { day: balance.day, amount: formatAmount(balance.cents) },
      })),
    };
  },
});

const NO_TEXTS: NotPix = { begins: [], contains: [] };

export const stateBankAccount = defineChange({
  name: 'bank.account',
  roles: ['accountant'],
  route: 'PUT /bank/accounts',
  summary: 'Name a bank account, and say which of its lines are nothing of PIX, how to read its CSV, and its balance',
  input: z.strictObject({
    account: bankAccount,
    name: z.string().nullable().optional().describe('null takes the name back; what is left out stays'),
    not_pix: notPix.optional(),
    csv: bankCsv.nullable().optional(),
    balance: z
      .strictObject({ day, amount: signedAmount })
      .nullable()
      .optional()
      .describe('at the end of the day, where no statement has one; null takes it back'),
    new_account: z.boolean().default(false).describe('whether an account that no statement shows is meant'),
  }),
  answers: ok('All accounts', bankAccounts),
  refuses: ['bank_account_name_taken'],
  async change(inner, { account, name, not_pix: texts, csv, balance, new_account: isNew }, { caller }) {
    const textsOf = async () => JSON.stringify((await readBankAccounts(inner.db)).get(account)?.notPix ?? NO_TEXTS);
    const before = await textsOf();
    const stated = balance && { day: balance.day, cents: balance.amount };
    const given = { account, name, notPix: texts, csv, balance: stated, isNew };
    const isChanged = await setBankAccount(inner, { ...given, actor: caller.id });
    // a name matches nothing
    if (before !== (await textsOf())) {
      await openUnnamed(inner, account);
      await matchBankLines(inner);
    }
    return isChanged;
  },
  target: (isChanged, _by, { account }) => (isChanged ? account : undefined),
  answer: (context, _made, { by }) => accountsOfBank.read(context, by),
});

/** A line as this caller may see it: the bank writes names and documents into its texts. */
export function maskBankLine<T extends Awaited<ReturnType<typeof listBankLines>>[number]>(
  { role }: Caller,
  line: T,
): T {
  if (maySeePersons(role)) return line;
  const [name, memo] = [maskNote(line.name), maskNote(line.memo)];
  const [check_number, reference_number] = [maskNote(line.check_number), maskNote(line.reference_number)];
  const mark = line.not_pix && { ...line.not_pix, note: maskNote(line.not_pix.note) };
  return { ...line, name, memo, check_number, reference_number, fitid: maskNote(line.fitid), not_pix: mark };
}
