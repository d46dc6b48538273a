import type { Command } from 'commander';
import { sql } from 'kysely';
import { listGrants } from '../proof/list-grants.ts';
import { print, withContext } from './with-context.ts';

export function migrateCommand(program: Command): void {
  program
    .command('migrate')
    .description("bring the database's tables up to date")
    .option('--grants <user>', 'print the grants that serve needs, for a user or user@host, instead of migrating')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: boolean; grants?: string }) => {
      const { grants } = options;
      if (grants !== undefined) {
        await withContext({}, async ({ db }) => {
          const statements = await listGrants(db, grants);
          print(options.json, { statements }, statements.join('\n'));
        });
        return;
      }
      await withContext({ migrates: true }, async (context) => {
        const { rows } = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(context.db);
        const names = rows.map((row) => row.name);
        print(options.json, { migrations: names }, `${names.length} migrations are in place, the last ${names.at(-1)}`);
      });
    });
}
