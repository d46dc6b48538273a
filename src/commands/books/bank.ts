import type { Command } from 'commander';
import { audit } from '../../access/audit.ts';
import { wrongUse } from '../../domain/errors.ts';
import { LINE_STATES, listBankLines } from '../../ledger/bank/list-bank-lines.ts';
import { listOpenBankEntries } from '../../ledger/bank/list-bank-matches.ts';
import { presentBankSummary } from '../../ledger/bank/present-bank-summary.ts';
import { summarizeBank } from '../../ledger/bank/summarize-bank.ts';
import {
  type bankMatches,
  markLine,
  matchBank,
  matchBankLine,
  stateBankAccount,
  undoBankMatch,
  unmarkLine,
} from '../../operations/books/bank.ts';
import type { RowOf } from '../../operations/define-list.ts';
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../../operations/describe-operation.ts';
import { withoutSeq } from '../../operations/present-row.ts';
import { addAnswerOptions, runImport } from '../imports/imports.ts';
import { changeCommand } from '../operation-commands.ts';
import { parseLimit } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';

type Summary = ReturnType<typeof presentBankSummary>;
type Line = Awaited<ReturnType<typeof listBankLines>>[number];
type Entry = Awaited<ReturnType<typeof listOpenBankEntries>>[number];
type Match = RowOf<typeof bankMatches>;
type Matched = { matched: Record<'reference' | 'amount' | 'not_pix', number> };

/** `confere bank …`: statements of the company's bank account, matched with the ledger. */
export function bankCommand(program: Command): void {
  const group = program
    .command('bank')
    .description("statements of your bank account: which of their lines are the ledger's withdrawals and deposits");
  const imports = group
    .command('import <file>')
    .description('import an OFX (- for standard input), as confere import bank: each line once, and match its lines')
    .option('--dry-run', 'only say what would be imported and matched')
    .option('--json', 'print one JSON object');
  addAnswerOptions(imports, ['bank']).action((file: string, options: { dryRun?: boolean; json?: boolean }) =>
    runImport('bank', file, options),
  );
  group
    .command('list')
    .description("the bank's balance beside the ledger's, and what is open on both sides")
    .option('--state <state>', `lines that are ${LINE_STATES.join(' or ')}`, 'open')
    .option('--limit <count>', `rows at most, up to ${PAGE_ITEMS_MAX}`, String(PAGE_ITEMS_DEFAULT))
    .option('--json', 'print one JSON object')
    .action((options: { state: string; limit: string; json?: boolean }) => list(options));
  changeCommand<unknown, unknown, Match | Matched>(group, 'match [line]', matchBank, {
    description: 'match open lines by the rules, or one line with an entry that you choose',
    options: {
      '--adjustment <id>': 'the adjustment of kind bank that the line is',
      '--transaction <id>': 'the paid cashout that the line is',
      '--note <text>': 'why',
    },
    formerOptions: ['--undo <match>'],
    fields: { adjustment: 'adjustment_id', transaction: 'transaction_id' },
    ask({ undo, ...fields }, [line]) {
      const isChosen = (fields.adjustment_id ?? fields.transaction_id) !== undefined;
      if (typeof undo === 'string') {
        if (line !== undefined || isChosen) throw wrongUse('--undo takes no line and no entry');
        return { change: undoBankMatch, id: undo, fields };
      }
      if (line !== undefined) return { change: matchBankLine, fields: { ...fields, line_id: line } };
      if (!isChosen) return {};
      throw wrongUse('name the line: confere bank match bl_12 --adjustment adj_…');
    },
    say(done) {
      if (!('matched' in done)) return describeMatch(done);
      const { reference, amount, not_pix } = done.matched;
      return `${reference} matched by reference, ${amount} by amount and day; ${not_pix} are nothing of PIX`;
    },
  });
  changeCommand(group, 'undo <match>', undoBankMatch, {
    description: 'undo a match, such as bm_12: the line and the entry are open again',
    options: { '--note <text>': 'why' },
    say: describeMatch,
  });
  accountCommands(group);
}

function accountCommands(group: Command): void {
  for (const [name, change] of [['mark', markLine] as const, ['unmark', unmarkLine] as const])
    changeCommand<{ note: string }, string, Line>(group, `${name} <line>`, change, {
      options: { '--note <text>': 'why' },
      say: describeLine,
    });
  changeCommand(group, 'account <account>', stateBankAccount, {
    description: 'name an account, or say which texts make its lines nothing of PIX',
    argument: 'account',
    options: {
      '--name <name>': 'its name; empty takes it back',
      '--new-account': 'the account is meant, though no statement shows it',
    },
    repeatedOptions: {
      '--begins <text>': 'lines whose text begins so are nothing of PIX; all texts are given at once',
      '--contains <text>': 'lines whose text contains it are nothing of PIX',
    },
    read({ name, begins, contains }) {
      const isGiven = begins !== undefined || contains !== undefined;
      return {
        ...{ begins: undefined, contains: undefined, name: name === '' ? null : name },
        ...(isGiven ? { not_pix: { begins: begins ?? [], contains: contains ?? [] } } : {}),
      };
    },
    say: (_all, { given: { account, name } }) => `${account}  ${name ?? ''}`.trim(),
  });
}

async function list(options: { state: string; limit: string; json?: boolean }): Promise<void> {
  const count = parseLimit(options.limit, PAGE_ITEMS_MAX);
  const state = LINE_STATES.find((one) => one === options.state);
  if (state === undefined) throw wrongUse(`--state must be one of ${LINE_STATES.join(', ')}`);
  await withContext({}, async (context) => {
    await audit(context, { actor: 'command', action: 'bank.lines', target: 'texts' });
    const summary = presentBankSummary(await summarizeBank(context.db));
    const lines = await listBankLines(context.db, count, undefined, { state });
    const entries = await listOpenBankEntries(context.db, count, undefined);
    const text = [
      describeSummary(summary),
      `lines, ${state}:`,
      ...(lines.length > 0 ? lines.map(describeLine) : ['none']),
    ];
    const open = [
      'entries of Assets:Bank without a line:',
      ...(entries.length > 0 ? entries.map(describeEntry) : ['none']),
    ];
    const json = { summary, lines: lines.map(withoutSeq), entries: entries.map(withoutSeq) };
    print(options.json, json, [...text, ...open].join('\n'));
  });
}

function describeSummary(summary: Summary): string {
  const { accounts, bank, ledger, difference } = summary;
  const sum = (name: string, { count, amount }: { count: number; amount: string }) =>
    `  ${name}: ${count}, R$ ${amount}`;
  return [
    ...accounts.flatMap((one) => [
      `${one.account}  ${one.name ?? ''}  ${one.balance === null ? 'no balance' : `R$ ${one.balance} on ${one.balance_day}`}  ${one.lines.count} lines`,
      ...one.gaps.map(({ from, to, amount }) => `  between ${from} and ${to} lines of R$ ${amount} are missing`),
    ]),
    `bank R$ ${bank ?? 'unknown'}  Assets:Bank R$ ${ledger}  difference R$ ${difference ?? 'unknown'}`,
    `  before the first line: R$ ${summary.before_first_line}`,
    sum('+ withdrawals (cashouts)', summary.withdrawals),
    sum('+ lines without an entry', summary.open_lines),
    sum('+ lines that are nothing of PIX', summary.not_pix),
    sum('- entries without a line', summary.open_entries),
    `  - lines after the balance: R$ ${summary.after_balance}`,
    sum('matched, closed', summary.matched),
  ].join('\n');
}

function describeLine({ id, day, account, amount, name, memo, match: found, not_pix: mark, candidates }: Line): string {
  const of = (one: { adjustment_id: string | null; transaction_id: string | null }) =>
    one.adjustment_id ?? one.transaction_id ?? '';
  const end =
    found !== null
      ? `${found.id} ${found.rule} ${of(found)}`
      : mark !== null
        ? 'nothing of PIX'
        : candidates.length > 0
          ? `candidates: ${candidates.map((one) => `${of(one)}${one.named ? ' (named)' : ''}`).join(', ')}`
          : 'no candidate';
  return `${id}  ${day}  ${account}  R$ ${amount}  ${[name, memo].filter(Boolean).join(' ')}  ${end}`;
}

function describeEntry({ adjustment_id, day, platform, amount, note, candidates }: Entry): string {
  const lines =
    candidates.length > 0 ? `candidates: ${candidates.map((one) => one.line_id).join(', ')}` : 'no candidate';
  return `${adjustment_id}  ${day}  ${platform}  R$ ${amount}  ${note}  ${lines}`;
}

function describeMatch({ id, rule, line_id, amount }: Match): string {
  return `${id}  ${rule}  ${line_id}  R$ ${amount}`;
}
