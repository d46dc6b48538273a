import path from 'node:path';
import type { Command } from 'commander';
import { type MadeBackup, makeBackup } from '../../backup/make-backup.ts';
import { wrongUse } from '../../domain/errors.ts';
import { print, withConfig } from '../with-context.ts';

type Options = { to?: string; into?: string; recipient: string[]; method?: 'dump' | 'copy'; json?: boolean };

/** `confere backup`: everything that a restore needs, while the service runs. */
export function backupCommand(program: Command): void {
  program
    .command('backup')
    .description('back up the database, keys, manifests and the spool into a new directory; serve may run')
    .option('--to <dir>', 'a directory that does not exist yet, or is empty')
    .option('--into <dir>', 'in place of --to: a folder, in which the backup is named by its time, 2026-11-23T033000Z')
    .option('--recipient <key>', 'encrypt for this public key of age (age1…); may be repeated', collect, [])
    .addOption(
      program
        .createOption('--method <method>', 'dump: statements; copy: files of the embedded server; default by its size')
        .choices(['dump', 'copy']),
    )
    .option('--json', 'print one JSON object')
    .action(async ({ recipient, method, json, ...place }: Options) => {
      const { to, option } = choosePlace(place);
      await withConfig(async (config, { log, signal }) => {
        const made = await makeBackup(config, { to, option, recipients: recipient, method }, { log, signal });
        print(json, toJson(to, made), describe(to, made));
      });
    });
}

/** A timer has no shell that would name a new directory each time. */
function choosePlace({ to, into }: Pick<Options, 'to' | 'into'>): { to: string; option: '--to' | '--into' } {
  if (to !== undefined && into === undefined) return { to, option: '--to' };
  if (into === undefined || to !== undefined) throw wrongUse('give one of --to and --into');
  const time = new Date().toISOString().replace(/\.\d+/, '').replaceAll(':', '');
  return { to: path.join(into, time), option: '--into' };
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function toJson(directory: string, { description, files, bytes, sum, spoolsElsewhere, trouble }: MadeBackup) {
  const { started_at, finished_at, encrypted, database, head, key } = description;
  const spooled = description.data.filter((name) => name.startsWith('data/spool/')).length;
  return {
    directory,
    ...{
      started_at,
      finished_at,
      method: database.method,
      encrypted,
      head,
      key_id: key.id,
      has_key: key.file !== null,
    },
    ...{ files, bytes, sum, spool_files: spooled, spools_elsewhere: spoolsElsewhere },
    ...(trouble !== undefined && { trouble }),
  };
}

function describe(directory: string, made: MadeBackup): string {
  const { description, files, bytes, sum, spoolsElsewhere } = made;
  const { key, encrypted, started_at, head } = description;
  const lines = [
    `${directory} has everything up to ${started_at.toISOString()}: ${files} files, ${(bytes / 2 ** 20).toFixed(1)} MiB, ${description.database.method}`,
    head ? `the chain reaches at least position ${head.position}` : 'nothing is sealed yet',
    `SHA-256 of SHA256SUMS: ${sum}`,
  ];
  if (key.file === null)
    lines.push(`SECRET_KEY (id ${key.id}) is not in it: keep it elsewhere, without it the backup is of little use`);
  else if (!encrypted)
    lines.push('it has secret.key and is not encrypted: anybody who can read it can read everything');
  if (spoolsElsewhere > 0)
    lines.push(`${spoolsElsewhere} spools of other machines hold webhooks that are not in it: they are safe there`);
  if (made.trouble !== undefined) lines.push(`it is finished and whole, but ${made.trouble}`);
  return lines.join('\n');
}
