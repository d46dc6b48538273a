import type { Command } from 'commander';
import { endArchivedBodies } from '../../inbox/manage/bring-back-bodies.ts';
import { print, withContext } from '../with-context.ts';

/** `confere archives`: ends the archive of webhook bodies that an earlier version kept. */
export function archivesCommand(program: Command): void {
  const archives = program.command('archives').description('what an earlier version moved out of the database');
  const end = (name: 'restore' | 'delete', description: string, says: string): void => {
    archives
      .command(name)
      .description(description)
      .option('--json', 'print one JSON object')
      .action(async ({ json }: { json?: boolean }) => {
        await withContext({}, async (context) => {
          const done = await endArchivedBodies(context, name);
          print(json, done, `${done.bodies} bodies of webhooks ${says}; ${done.files} files were deleted`);
        });
      });
  };
  end('restore', 'bring the bodies of webhooks back into the database; RETAIN_BODIES holds for them', 'are back');
  end('delete', 'delete the bodies of webhooks for good: their hashes, keys and outcomes stay', 'are gone');
}
