/** An upgrade begins with a backup, also where the new version is installed already. */
import path from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { createVault } from '../../../src/database/keys/vault.ts';
import type { Database } from '../../../src/database/tables.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { createPreviousDatabase, PREVIOUS } from '../../support/previous-release.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

it('a database of the previous release is backed up as it is, and restored with the tables of this version', async () => {
  using home = temporaryDirectory();
  const old = await createPreviousDatabase();
  const { check } = createVault(Buffer.from(SECRET_KEY, 'base64'));
  {
    await using opened = openDatabase<Database>(old);
    await sql`INSERT INTO settings (name, value) VALUES ('secret_key_check', ${check})`.execute(opened.db);
  }
  const to = path.join(home.path, 'backup');
  const env = { SECRET_KEY, DATABASE_URL: urlOf(old), DATA_DIR: path.join(home.path, 'old') };
  expect(await runCommandInProcess(['migrate', '--check'], env)).toMatchObject({
    code: 3,
    err: '',
    out: expect.stringMatching(/^\d+ migrations are pending \(0071-create-heartbeats\.ts to \d{4}-/),
  });
  expect(await runCommandInProcess(['backup', '--to', to], env)).toMatchObject({ code: 0, err: '' });
  {
    await using opened = openDatabase<Database>(old);
    const { rows } = await sql<{ name: string }>`SELECT MAX(name) AS name FROM migrations`.execute(opened.db);
    expect(rows, 'no migration ran').toEqual([{ name: PREVIOUS.lastMigration }]);
  }

  const fresh = {
    ...env,
    DATABASE_URL: urlOf(await createTestDatabase('empty')),
    DATA_DIR: path.join(home.path, 'new'),
  };
  expect(await runCommandInProcess(['restore', '--from', to], fresh)).toMatchObject({ code: 0 });
  expect(await runCommandInProcess(['migrate', '--check'], fresh)).toMatchObject({
    code: 0,
    out: 'no migration is pending\n',
  });
});
