import type { Command } from 'commander';
import type { Setting } from '../config/list-settings.ts';
import { findUnknownNames } from '../config/unknown-names.ts';
import { readSettings } from '../config.ts';
import { print } from './with-context.ts';

/** `confere config`: the settings in force. Exit code 2 for a fault, as of `serve`. */
export function configCommand(program: Command): void {
  program
    .command('config')
    .description('print every setting in force, its source and its faults, without secrets; exit 2 with a fault')
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) => {
      const settings = readOwnSettings();
      const unknown = findUnknownNames(process.env);
      const ok = settings.every(({ faults }) => faults.length === 0);
      const strange = unknown.map(
        ({ name, near }) => `?      ${name}  unknown${near ? `: did you mean ${near}?` : ''}`,
      );
      print(json, { ok, settings, unknown }, [...settings.map(describe), ...strange].join('\n'));
      process.exitCode = ok ? 0 : 2;
    });
}

/** Lists the settings of this process. */
export function readOwnSettings(): Setting[] {
  return readSettings(process.env, findEnvFile(process.execArgv));
}

/** Summarizes the settings, for one line: those that are set, with their sources. */
export function summarizeSettings(settings: Setting[]): string {
  const set = settings.filter(({ source }) => source !== 'default');
  const sources = Map.groupBy(set, ({ source, file }) => file ?? source);
  const parts = [...sources].map(([source, of]) => `${of.map(({ name }) => name).join(', ')} by ${source}`);
  return `${set.length} of ${settings.length} set${parts.length > 0 ? `: ${parts.join('; ')}` : ''} (confere config)`;
}

/** Finds the file that bin/confere had Node read. */
function findEnvFile(args: string[]): string | undefined {
  return args.map((arg) => /^--env-file(?:-if-exists)?=(.+)$/s.exec(arg)?.[1]).find(Boolean);
}

const NAME_CHARS = 34;
const VALUE_CHARS_MAX = 80;

function describe({ name, value, secret, source, file, faults }: Setting): string {
  const isSet = source !== 'default';
  const shown = secret && isSet ? '(hidden)' : (value ?? (isSet ? '(in the file)' : '-'));
  const short = shown.length > VALUE_CHARS_MAX ? `${shown.slice(0, VALUE_CHARS_MAX)}…` : shown;
  const says = faults.map((fault) => `\n       ${fault}`).join('');
  return `${faults.length > 0 ? 'FAULT' : isSet ? 'set  ' : '     '}  ${name.padEnd(NAME_CHARS)}  ${short}  [${file ?? source}]${says}`;
}
