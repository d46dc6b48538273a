import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { ConfereError } from '../../domain/errors.ts';
import { OVERLAP_DAYS, rotateManifestKey } from '../../manifests/keys.ts';
import { print, withContext } from '../with-context.ts';

const OVERLAP_DAYS_MAX = 3650;

type Options = { overlapDays: string; json?: boolean };

/** `confere manifests …`: the key that signs day manifests. */
export function manifestsCommand(program: Command): void {
  const manifests = program.command('manifests').description('signed manifests of what merchants were sent of a day');
  manifests
    .command('rotate-key')
    .description('sign day manifests with a new key, and for some days also with the one before')
    .option('--overlap-days <n>', 'how long the key before still signs; 0: it ends at once', String(OVERLAP_DAYS))
    .option('--json', 'print one JSON object')
    .action(async ({ overlapDays, json }: Options) => {
      const days = readDays(overlapDays);
      await withContext({}, async (context) => {
        const done = await auditChange(
          context,
          (inner) => rotateManifestKey(inner, days),
          ({ kid }) => ({ actor: 'command', action: 'manifests.key_rotated', target: `key:${kid}` }),
        );
        const until = done.old_signs_until === null ? '' : `; ${done.old_kid} signs until ${done.old_signs_until}`;
        print(json, done, `${done.kid} signs from now on${until}`);
      });
    });
}

function readDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,4}$/.test(text) && days <= OVERLAP_DAYS_MAX) return days;
  throw new ConfereError('wrong_use', `--overlap-days is a whole number from 0 to ${OVERLAP_DAYS_MAX}`);
}
