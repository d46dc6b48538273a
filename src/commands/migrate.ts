import type { Command } from 'commander';
import { sql } from 'kysely';
import {
  type PreviewedMigration,
  type PreviewedStatement,
  previewMigrations,
} from '../../embedded/migrations/preview-migrations.ts';
import { bringBackAudit } from '../access/bring-back-audit.ts';
import { describePending, listPending, MIGRATIONS } from '../database/open/bring-up-to-date.ts';
import { readDatabase } from '../database/open/read-database.ts';
import { listGrants } from '../doctor/list-grants.ts';
import { listArchivedBodies } from '../inbox/manage/bring-back-bodies.ts';
import { NOT_YET, print, withConfig, withContext } from './with-context.ts';

export function migrateCommand(program: Command): void {
  program
    .command('migrate')
    .description("bring the database's tables up to date")
    .option('--dry-run', 'print the statements of pending migrations, with an estimate from the sizes of the tables')
    .option('--check', 'say which migrations are pending, and change nothing; exit 0: none, 3: some')
    .option('--grants <user>', 'print the grants that serve needs, for a user or user@host, instead of migrating')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: boolean; grants?: string; dryRun?: boolean; check?: boolean }) => {
      const { grants, json } = options;
      if (options.check) {
        await withConfig(async (config, { log }) => {
          const pending = await readDatabase(config, log, listPending);
          print(json, { pending }, pending.length === 0 ? 'no migration is pending' : describePending(pending));
          return pending.length === 0 ? 0 : NOT_YET;
        });
        return;
      }
      if (options.dryRun) {
        await withConfig(async (config, { log }) => {
          const previewed = await readDatabase(config, log, (db) => previewMigrations(db, { folder: MIGRATIONS }));
          print(json, { migrations: previewed }, describePreview(previewed));
          return previewed.some(({ stopped }) => stopped?.refused) ? 1 : 0;
        });
        return;
      }
      if (grants !== undefined) {
        await withContext({}, async ({ db }) => {
          const statements = await listGrants(db, grants);
          print(json, { statements }, statements.join('\n'));
        });
        return;
      }
      await withContext({ migrates: true }, async (context) => {
        const restored = await bringBackAudit(context);
        const { rows } = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(context.db);
        const names = rows.map((row) => row.name);
        const left = (await listArchivedBodies(context)).size;
        const says = [
          `${names.length} migrations are in place, the last ${names.at(-1)}`,
          restored > 0 && `${restored} rows of the audit came back from the archive`,
          left > 0 &&
            `${left} files with bodies of webhooks are left: confere archives restore, or confere archives delete`,
        ];
        const counts = { audit_restored: restored, archives_left: left };
        print(json, { migrations: names, ...counts }, says.filter((line) => line !== false).join('\n'));
      });
    });
}

/** A script of SQL with comments. */
function describePreview(previewed: PreviewedMigration[]): string {
  if (previewed.length === 0) return '-- no migration is pending';
  return previewed
    .map(({ file, statements, stopped }) => {
      const end = stopped && `-- ${stopped.refused ? 'stops here' : 'not shown further'}: ${stopped.says}`;
      const lines = statements.length === 0 && !stopped ? ['-- changes nothing here'] : [];
      return [`-- ${file}`, ...lines, ...statements.map(describeStatement), end].filter(Boolean).join('\n');
    })
    .join('\n\n');
}

const EFFECT_TEXT: Record<PreviewedStatement['effect'], string> = {
  instant: 'changes its definition alone',
  index: 'reads it once; it takes writes meanwhile',
  rebuild: 'copies it; writes may wait',
  rows: 'reads or writes its rows',
};

function describeStatement({ sql: text, parameters, table, effect, seconds }: PreviewedStatement): string {
  const values = parameters.length > 0 ? `\n-- values: ${JSON.stringify(parameters)}` : '';
  if (!table) return `${text};${values}`;
  const size = `about ${table.rows.toLocaleString('en')} rows, ${Math.ceil(table.bytes / 2 ** 20)} MiB`;
  const time = seconds === 0 ? 'under a second' : `about ${seconds.toLocaleString('en')} s`;
  return `${text};${values}\n-- ${table.name}: ${size}; ${EFFECT_TEXT[effect]}; ${time}`;
}
