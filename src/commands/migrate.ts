import type { Command } from 'commander';
import { sql } from 'kysely';
import { print, withContext } from './with-context.ts';

export function migrateCommand(program: Command): void {
  program
    .command('migrate')
    .description("bring the database's tables up to date")
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: boolean }) => {
      await withContext({ migrates: true }, async (context) => {
        const { rows } = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(context.db);
        const names = rows.map((row) => row.name);
        print(options.json, { migrations: names }, `${names.length} migrations are in place, the last ${names.at(-1)}`);
      });
    });
}
