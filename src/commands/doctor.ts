import type { Command } from 'commander';
import { confirmRestore } from '../backup/confirm-restore.ts';
import { examineRestored, type RestoreFinding } from '../backup/examine-restored.ts';
import type { Context } from '../context.ts';
import { examineSystem, examineWithoutContext, type Finding } from '../doctor/examine-system.ts';
import { wrongUse } from '../domain/errors.ts';
import { describeSaid } from '../texts/messages.ts';
import { readOwnSettings, summarizeSettings } from './config.ts';
import { parseInstant } from './developer/read-place.ts';
import { NOT_YET, print, withContext } from './with-context.ts';

type Options = {
  books?: boolean;
  sinceProof?: boolean;
  restored?: boolean;
  since?: string;
  manifests?: string;
  confirm?: boolean;
  json?: boolean;
};

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the database, the clock, files and the provider; exit 1 when a check fails')
    .option(
      '--books',
      "also check the whole ledger: hash chain, zero sums, reversals, balances, and entries against the transactions' events",
    )
    .option('--since-proof', 'with --books: only what was written after the last check that found no break')
    .option(
      '--restored',
      'after a restore: what is missing, what is read again, and what waits for you; checks the books. Exit 3 while it is read',
    )
    .option('--since <instant>', 'with --restored: the instant of the backup, if confere restore did not restore it')
    .option('--manifests <dir>', 'with --restored: manifests of the lost machine, kept elsewhere')
    .option('--confirm', 'with --restored: send callbacks again')
    .option('--json', 'print one JSON object')
    .action(async (options: Options) => {
      const restored = parseRestored(options);
      if (restored) {
        await withContext({}, async (context) => {
          if (options.confirm) return await confirm(context, options);
          return printFindings(await examineRestored(context, restored), options);
        });
        return;
      }
      if (options.sinceProof && !options.books) throw wrongUse('--since-proof belongs to --books');
      const settings: Finding = { check: 'settings', ok: true, says: summarizeSettings(readOwnSettings()) };
      const say = (findings: Finding[]) => printFindings([settings, ...findings], options);
      await withContext({ readOnly: true }, async (context) => say(await examineSystem(context, options)), {
        withoutContext: async (error, parts) => say(await examineWithoutContext(error, parts)),
      });
    });
}

function parseRestored({ restored, since, manifests, confirm }: Options) {
  if (restored) {
    if (confirm && (since !== undefined || manifests !== undefined))
      throw wrongUse('--confirm takes neither --since nor --manifests: examine first, then confirm');
    return { since: parseInstant('--since', since), manifests };
  }
  if (since !== undefined || manifests !== undefined || confirm)
    throw wrongUse('--since, --manifests and --confirm belong to --restored');
  return undefined;
}

async function confirm(context: Context, { json }: Options): Promise<void> {
  await confirmRestore(context);
  print(json, { confirmed: true }, 'confirmed: serve sends callbacks again, the oldest first');
}

function printFindings(found: (Finding | RestoreFinding)[], { json }: Options): number {
  const findings = found.map((one) => ({ ...one, says: describeSaid(one.says) }));
  const ok = findings.every((finding) => finding.ok);
  const waits = (one: (typeof findings)[number]): boolean => 'waits' in one && one.ok;
  const lines = findings.map((one) => {
    const state = waits(one) ? 'wait' : one.ok ? 'ok  ' : 'FAIL';
    return `${state}  ${one.check.padEnd(9)} ${one.says}`;
  });
  print(json, { ok, findings }, lines.join('\n'));
  return !ok ? 1 : findings.some(waits) ? NOT_YET : 0;
}
