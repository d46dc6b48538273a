import type { Command } from 'commander';
import { auditChange, auditShown } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { MISMATCH_SEVERITY, MISMATCH_STATES, type MismatchKind } from '../domain/mismatch.ts';
import { listTransactionIds } from '../domain/person/mask-mismatch.ts';
import {
  findMismatch,
  listMismatches,
  type PresentedMismatch,
  transactionAmountOf,
} from '../mismatches/read-mismatches.ts';
import { resolveMany } from '../mismatches/resolve-many.ts';
import { acknowledgeMismatch, type Decision, resolveMismatchByHand } from '../mismatches/resolve-mismatch-by-hand.ts';
import { acceptMismatchOrSurplus } from '../reconciliation/windows/accept-surplus.ts';
import { parseInstant, parseLimit } from './parse-options.ts';
import { formatTime, print, withContext } from './with-context.ts';

const LIST_MAX = 200;
const SEVERITIES = ['medium', 'high', 'critical'];

type ListOptions = { state?: string; kind?: string; severity?: string; limit: string; json?: boolean };
type HandleOptions = { note?: string; actual?: string; json?: boolean };
type ResolveOptions = HandleOptions & { kind?: string; cause?: string; openedBefore?: string };
type Handle = (context: Context, id: string, by: Decision) => Promise<void>;

/** `confere mismatches …`: lists mismatches, and records what a person decides. */
export function mismatchesCommand(program: Command): void {
  const mismatches = program.command('mismatches').description('differences between the ledger and the provider');
  mismatches
    .command('list')
    .description('the newest mismatches')
    .option('--state <state>', MISMATCH_STATES.join(', '))
    .option('--kind <kind>', 'only of this kind')
    .option('--severity <severity>', SEVERITIES.join(', '))
    .option('--limit <count>', `rows at most, up to ${LIST_MAX}`, '50')
    .option('--json', 'print one JSON object')
    .action((options: ListOptions) => list(options));
  mismatches
    .command('resolve [ids...]')
    .description('close them with a reason, one, several, or all of a kind; the ledger stays as it is')
    .option('--kind <kind>', 'all open ones of this kind')
    .option('--cause <scope>', 'of these, those of one alert, which shows its scope')
    .option('--opened-before <instant>', 'of these, those opened before (default: now)')
    .option('--actual <json>', 'of one: the evidence that you saw; nothing is resolved if it has changed since')
    .option('--note <text>', 'why; required for several where one is critical')
    .option('--json', 'print one JSON object')
    .action((ids: string[], options: ResolveOptions) => resolve(ids, options));
  const handlings: [string, string, Handle][] = [
    ['acknowledge', 'mark that somebody works on it', acknowledgeMismatch],
    ['accept', 'book what the provider shows, by reversing entries, and notify merchants', acceptMismatchOrSurplus],
  ];
  for (const [name, description, handle] of handlings) {
    const command = mismatches
      .command(`${name} <id>`)
      .description(description)
      .option('--note <text>', 'why')
      .option('--json', 'print one JSON object')
      .action((id: string, options: HandleOptions) => handleOne({ name, handle }, id, options));
    if (handle === acceptMismatchOrSurplus) {
      command.requiredOption(
        '--actual <json>',
        'the evidence that you saw: nothing is accepted if it has changed since',
      );
    }
  }
}

async function handleOne(
  { name, handle }: { name: string; handle: Handle },
  id: string,
  options: HandleOptions,
): Promise<void> {
  const actual = readSeen(options.actual);
  await withContext({}, async (context) => {
    const by = { actor: 'command', note: options.note, actual };
    const done = { actor: by.actor, action: `mismatches.${name}`, target: id };
    await auditChange(context, (inner) => handle(inner, id, by), done);
    const mismatch = await findMismatch(context.db, id);
    if (mismatch) print(options.json, withoutSeq(mismatch), describe(context, mismatch));
  });
}

async function resolve(ids: string[], options: ResolveOptions): Promise<void> {
  const { kind, cause, note } = options;
  check('--kind', kind, Object.keys(MISMATCH_SEVERITY));
  const openedBefore = parseInstant('--opened-before', options.openedBefore);
  if (ids.length > 0 === (kind !== undefined))
    throw new ConfereError('wrong_use', 'name either the ids of mismatches, or a --kind');
  if (kind === undefined && (cause ?? openedBefore) !== undefined)
    throw new ConfereError('wrong_use', '--cause and --opened-before narrow a --kind');
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0)
    return await handleOne({ name: 'resolve', handle: resolveMismatchByHand }, id, options);
  if (options.actual !== undefined) throw new ConfereError('wrong_use', '--actual is the evidence of one mismatch');
  // `check` has refused any other kind
  const selection = kind === undefined ? { ids } : { kind: kind as MismatchKind, cause, openedBefore };
  await withContext({}, async (context) => {
    const { resolved, more } = await resolveMany(context, selection, { actor: 'command', note });
    print(
      options.json,
      { resolved, more },
      `${resolved} resolved${more ? '; there are more: repeat the command' : ''}`,
    );
  });
}

function readSeen(actual: string | undefined): unknown {
  if (actual === undefined) return undefined;
  try {
    return JSON.parse(actual);
  } catch (error) {
    throw new ConfereError('wrong_use', '--actual must be JSON, as `confere mismatches list --json` shows it', {
      cause: error,
    });
  }
}

async function list(options: ListOptions): Promise<void> {
  check('--state', options.state, MISMATCH_STATES);
  check('--kind', options.kind, Object.keys(MISMATCH_SEVERITY));
  check('--severity', options.severity, SEVERITIES);
  const limit = parseLimit(options.limit, LIST_MAX);
  const { state, kind, severity } = options;
  await withContext({}, async (context) => {
    const rows = await listMismatches(context.db, { state, kind, severity, limit });
    const named = Object.entries({ state, kind, severity }).filter(([, value]) => value !== undefined);
    const target = JSON.stringify(named.map(([name]) => name));
    await auditShown(
      context,
      { actor: 'command', action: 'mismatches.list', target },
      { transactions: rows.flatMap(listTransactionIds) },
    );
    print(
      options.json,
      { mismatches: rows.map(withoutSeq) },
      rows.map((row) => describe(context, row)).join('\n') || 'none',
    );
  });
}

function check(option: string, value: string | undefined, known: readonly string[]): void {
  if (value !== undefined && !known.includes(value))
    throw new ConfereError('wrong_use', `${option} must be one of ${known.join(', ')}`);
}

function withoutSeq({ seq: _, ...mismatch }: PresentedMismatch) {
  return mismatch;
}

function describe(context: Context, row: PresentedMismatch): string {
  const about = row.transaction_id ?? row.reference ?? '';
  const whole = transactionAmountOf(row);
  const stake = row.at_stake === null ? '' : `  R$ ${row.at_stake} at stake`;
  const amount = whole === null ? '' : `  of a transaction of R$ ${whole}`;
  return `${row.id}  ${formatTime(context, row.opened_at)}  ${row.severity}  ${row.state}  ${row.kind}  ${about}${stake}${amount}`;
}
