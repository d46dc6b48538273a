import type { Command } from 'commander';
import { examineSystem } from '../doctor/examine-system.ts';
import { print, withContext } from './with-context.ts';

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the database, the clock, files and the provider; exit 1 when a check fails')
    .option(
      '--books',
      "also check the whole ledger: hash chain, zero sums, reversals, balances, and entries against the transactions' events",
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { books?: boolean; json?: boolean }) => {
      await withContext({}, async (context) => {
        const findings = await examineSystem(context, options);
        const ok = findings.every((finding) => finding.ok);
        const lines = findings.map((one) => `${one.ok ? 'ok  ' : 'FAIL'}  ${one.check.padEnd(9)} ${one.says}`);
        print(options.json, { ok, findings }, lines.join('\n'));
        return ok ? 0 : 1;
      });
    });
}
