import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { wrongUse } from '../domain/errors.ts';
import { type PresentedMismatch, transactionAmountOf } from '../mismatches/read-mismatches.ts';
import { COMMAND } from '../operations/define-change.ts';
import { decisionFilters, renderDecisionWorkbook } from '../operations/export-mismatches.ts';
import { assignOneMismatch, mismatchDecisions, mismatches, resolveMismatches } from '../operations/mismatches.ts';
import { addFilters, changeCommand, listCommand, type Options } from './operation-commands.ts';
import { formatTime, print, withContext } from './with-context.ts';

type Shown = Omit<PresentedMismatch, 'seq'>;

/** `confere mismatches …`: lists mismatches, and records what a person decides. */
export function mismatchesCommand(program: Command): void {
  const group = program.command('mismatches').description('differences between the ledger and the provider');
  const { acknowledge, resolve, accept } = mismatchDecisions;
  listCommand(group, mismatches, {
    description: 'the newest mismatches',
    fields: { transaction: 'transaction_id' },
    say: describe,
  });
  changeCommand<unknown, unknown, Shown | { resolved: number; more: boolean }>(group, 'resolve [ids...]', resolve, {
    description: 'close them with a reason, one, several, or all of a kind; the ledger stays as it is',
    options: {
      '--kind <kind>': 'all open ones of this kind',
      '--cause <scope>': 'of these, those of one alert, which shows its scope',
      '--opened-before <instant>': 'of these, those opened before (default: now)',
      '--actual <json>': 'of one: the evidence that you saw; nothing is resolved if it has changed since',
      '--note <text>': 'why; required for several where one is critical',
    },
    ask({ actual, ...fields }, ids) {
      const [id, ...others] = ids;
      if (id !== undefined && others.length === 0 && fields.kind === undefined) return { id };
      if (actual !== undefined) throw wrongUse('--actual is the evidence of one mismatch');
      return { change: resolveMismatches, fields: ids.length > 0 ? { ...fields, ids } : fields };
    },
    read: readSeen,
    say(done, { context }) {
      if (!('resolved' in done)) return describe(done, context);
      return `${done.resolved} resolved${done.more ? '; there are more: repeat the command' : ''}`;
    },
  });
  const note = { '--note <text>': 'why' } as const;
  const say = (row: Shown, { context }: { context: Context }): string => describe(row, context);
  changeCommand(group, 'acknowledge <id>', acknowledge, {
    ...{ description: 'mark that somebody works on it', options: note, say },
  });
  const workbook = group
    .command('export')
    .description('write the open ones to be decided as a workbook, up to 500: confere import decisions takes it back');
  const readFilter = addFilters(workbook, { filters: decisionFilters }, { transaction: 'transaction_id' });
  workbook
    .requiredOption('--out <file>', 'where to write it')
    .option('--json', 'print one JSON object')
    .action(({ out, json, ...options }: Options & { out: string; json?: boolean }) => {
      const filter = readFilter(options);
      return withContext({}, async (context) => {
        const { REPORT_LOCALE: language } = context.config;
        writeFileSync(out, await renderDecisionWorkbook(context, { filter, caller: COMMAND, language }));
        print(json, { file: out }, `wrote ${out}`);
      });
    });
  changeCommand(group, 'assign <id>', assignOneMismatch, {
    description: 'say who is to decide it',
    options: { ...note, '--owner <id>': 'a user or a token; none: nobody' },
    read: ({ owner }) => (owner === 'none' ? { owner: null } : {}),
    say,
  });
  changeCommand(group, 'accept <id>', accept, {
    description: 'book what the provider shows, by reversing entries, and notify merchants',
    options: { ...note, '--actual <json>': 'the evidence that you saw: nothing is accepted if it has changed since' },
    ...{ read: readSeen, say },
  });
}

function readSeen({ actual }: { actual?: unknown }): { actual?: unknown } {
  if (typeof actual !== 'string') return {};
  try {
    return { actual: JSON.parse(actual) as unknown };
  } catch (error) {
    throw wrongUse('--actual must be JSON, as `confere mismatches list --json` shows it', {
      cause: error,
    });
  }
}

function describe(row: Shown, context: Context): string {
  const about = row.transaction_id ?? row.reference ?? '';
  const whole = transactionAmountOf(row);
  const stake = row.at_stake === null ? '' : `  R$ ${row.at_stake} at stake`;
  const amount = whole === null ? '' : `  of a transaction of R$ ${whole}`;
  const owner = row.owner === null ? '' : `  of ${row.owner}`;
  return `${row.id}  ${formatTime(context, row.opened_at)}  ${row.severity}  ${row.state}  ${row.kind}  ${about}${stake}${amount}${owner}`;
}
