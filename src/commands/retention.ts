import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { findDocuments } from '../domain/person/find-documents.ts';
import { applyRetention, type RetentionResult } from '../retention/apply-retention.ts';
import { type LostArchive, type LostStatement, stateLostArchives } from '../retention/state-lost-archives.ts';
import { print, type withContext } from './with-context.ts';

const DAY_MS = 86_400_000;
const TEXT_CHARS_MAX = 500;

type Options = {
  dryRun?: boolean;
  lost: string[];
  by?: string | undefined;
  reason?: string | undefined;
  json?: boolean;
};

export function retentionCommand(program: Command, open: typeof withContext): void {
  program
    .command('retention')
    .description(
      'delete rows that are older than their retention, and archive old webhook bodies, as JOB_RETENTION does',
    )
    .option('--dry-run', 'only count them')
    .option(
      '--lost <file>',
      'state that this archive is lost for good, and delete nothing; may be repeated, or all: each that cannot be read',
      (value: string, before: string[]) => [...before, value],
      [],
    )
    .option('--by <text>', 'with --lost: who says so, such as a ticket')
    .option('--reason <text>', 'with --lost: why, without personal data: the audit keeps it for ever')
    .option('--json', 'print one JSON object')
    .action(async ({ dryRun = false, lost, by, reason, json }: Options) => {
      const statement = parseStatement(lost, { by, reason });
      await open({}, async (context: Context) => {
        if (statement) {
          const files = lost.includes('all') ? 'all' : lost;
          const archives = await stateLostArchives(context, files, { ...statement, write: !dryRun });
          print(json, { dry_run: dryRun, lost: archives }, describeLost(archives, dryRun));
          return 0;
        }
        const results = await applyRetention(context, { write: !dryRun });
        const steps = results.map(({ name, setting, keepMs, note, rows }) => ({
          name,
          setting: setting ?? null,
          keep_days: keepMs === 'off' ? null : keepMs / DAY_MS,
          rows,
          note: note ?? null,
        }));
        print(json, { dry_run: dryRun, steps }, describe(results, dryRun));
        return context.signal.aborted ? 1 : 0;
      });
    });
}

/** @throws ConfereError `wrong_use` if one of the two is missing, too long for a row of the audit, or has a CPF or CNPJ. */
function parseStatement(lost: string[], given: Pick<Options, 'by' | 'reason'>): LostStatement | undefined {
  if (lost.length === 0 && given.by === undefined && given.reason === undefined) return undefined;
  const by = given.by?.trim();
  const reason = given.reason?.trim();
  if (lost.length === 0) throw new ConfereError('wrong_use', '--by and --reason belong to --lost');
  if (lost.length > 1 && lost.includes('all')) throw new ConfereError('wrong_use', '--lost takes files, or all alone');
  if (!by || !reason)
    throw new ConfereError('wrong_use', '--lost needs --by and --reason: the audit keeps who and why');
  if (by.length > TEXT_CHARS_MAX || reason.length > TEXT_CHARS_MAX)
    throw new ConfereError('wrong_use', `--by and --reason have at most ${TEXT_CHARS_MAX} characters`);
  if (findDocuments(`${by} ${reason}`).length > 0)
    throw new ConfereError('wrong_use', '--by and --reason must hold no CPF or CNPJ: the audit keeps them for ever');
  return { by, reason };
}

function describeLost(archives: LostArchive[], dryRun: boolean): string {
  if (archives.length === 0) return 'no archive that is not stated yet is lost';
  const lines = archives.map(({ file, kind, rows, fault }) => {
    return `${file}  ${rows} ${kind === 'audit' ? 'rows of the audit' : 'webhook bodies'}; it ${fault}`;
  });
  return [dryRun ? 'archives that would be stated as lost:' : 'archives that are stated as lost now:', ...lines].join(
    '\n',
  );
}

function describe(results: RetentionResult[], dryRun: boolean): string {
  const lines = results.map(({ name, setting, keepMs, note, rows }) => {
    const kept = keepMs === 'off' ? 'kept for ever' : `kept for ${keepMs / DAY_MS} days`;
    const by = setting === undefined ? kept : `${kept} (${setting})`;
    return `${name.padEnd(18)} ${String(rows).padStart(9)}  ${by}${note === undefined || keepMs === 'off' ? '' : `; ${note}`}`;
  });
  return [dryRun ? 'rows and files that would be deleted:' : 'rows and files that were deleted:', ...lines].join('\n');
}
