import type { Command } from 'commander';
import { rotateManifestKeys } from '../../operations/merchants/manifests.ts';
import { OVERLAP_DAYS, type RotatedKey } from '../../tlog/keys.ts';
import { changeCommand } from '../operation-commands.ts';

/** `confere manifests …`: the key that signs day manifests. */
export function manifestsCommand(program: Command): void {
  const manifests = program.command('manifests').description('signed manifests of what merchants were sent of a day');
  changeCommand(manifests, 'rotate-key', rotateManifestKeys, {
    options: {
      '--overlap-days <n>': `how long the key before still signs; 0: it ends at once; default: ${OVERLAP_DAYS}`,
    },
    say: ({ kid, old_kid, old_signs_until: until }: RotatedKey) =>
      `${kid} signs from now on${until === null ? '' : `; ${old_kid} signs until ${until}`}`,
  });
}
