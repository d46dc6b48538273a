import path from 'node:path';
import type { Command } from 'commander';
import { restoreBackup } from '../../backup/restore-backup.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { describeRestoredLog } from '../../tlog/origins.ts';
import { readInput } from '../parse-options.ts';
import { print, withConfig } from '../with-context.ts';

type Options = { from: string; identity?: string; sum?: string; json?: boolean };

/** `confere restore`: a backup into an empty DATA_DIR and an empty database. */
export function restoreCommand(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into an empty DATA_DIR and an empty database; callbacks are held until you confirm')
    .requiredOption('--from <dir>', 'the directory of the backup')
    .option('--identity <file>', 'the file with the private key of age; - for standard input')
    .option('--sum <sha256>', 'the SHA-256 of SHA256SUMS that backup printed: refuse another one')
    .option('--json', 'print one JSON object')
    .action(async ({ from, identity: file, sum, json }: Options) => {
      const identity = file === undefined ? undefined : await readInput(file);
      if (sum === undefined)
        process.stderr.write(
          `confere: without --sum, everyone who could write to ${showUnseen(from)} is trusted: its statements run in the database\n`,
        );
      await withConfig(async (config, { log, signal }) => {
        const { description, restore } = await restoreBackup(config, { from, identity, sum }, { log, signal });
        const { head, version } = description;
        const { gap_from, restored_at, log: logged } = restore;
        print(
          json,
          { gap_from, restored_at, head, version, log: logged },
          [
            `restored everything up to ${gap_from.toISOString()}${head ? `, with the chain up to position ${restore.head_position}` : ''}`,
            describeRestoredLog(logged),
            `start serve with DATA_DIR=${path.resolve(config.DATA_DIR)} and the settings of before, then run confere doctor --restored: callbacks are held until you confirm`,
          ].join('\n'),
        );
      });
    });
}
