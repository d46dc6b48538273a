import type { Command } from 'commander';
import { type Drill, drillRestore } from '../../backup/drill-restore.ts';
import { readInput, readSecret } from '../parse-options.ts';
import { print, withConfig } from '../with-context.ts';

type Options = {
  from: string;
  place: string;
  database?: string;
  identity?: string;
  sum?: string;
  manifests?: string;
  json?: boolean;
};

/** `confere drill`: whether the newest backup can be restored, and how long that takes. */
export function drillCommand(program: Command): void {
  program
    .command('drill')
    .description(
      'restore the newest backup into an empty place, check it there, print the time of each step, and remove it again; exit 0: it can be restored, 1: it cannot',
    )
    .requiredOption('--from <dir>', 'a backup, or a folder with backups, of which the newest counts')
    .requiredOption('--place <dir>', 'a directory that does not exist yet, or is empty; an embedded server runs in it')
    .option(
      '--database <file>',
      'in place of that server: a file with the mysql:// address of an empty database; - for standard input',
    )
    .option('--identity <file>', 'the file with the private key of age; - for standard input')
    .option('--sum <sha256>', 'the SHA-256 of SHA256SUMS that backup printed: refuse another one')
    .option('--manifests <dir>', 'manifests kept elsewhere, to compare the chain with')
    .option('--json', 'print one JSON object')
    .action(async ({ identity: file, database: place, json, ...options }: Options) => {
      const identity = file === undefined ? undefined : await readInput(file);
      const database = place === undefined ? undefined : await readSecret('--database', place);
      await withConfig(async (config, process) => {
        const drill = await drillRestore(config, { ...options, identity, database }, process);
        print(json, drill, describe(drill));
        return drill.ok ? 0 : 1;
      });
    });
}

function describe({ ok, backup, steps }: Drill): string {
  const lines = steps.map(
    (one) => `${one.ok ? 'ok  ' : 'FAIL'}  ${one.check.padEnd(9)} ${one.seconds.toFixed(1).padStart(7)} s  ${one.says}`,
  );
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(1);
  return [
    ...lines,
    `${backup ?? 'the backup'} ${ok ? 'can be restored' : 'cannot be relied on'}: ${total} s in all`,
  ].join('\n');
}
