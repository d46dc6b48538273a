import type { Kysely } from 'kysely';
import { readSetting } from '../database/keys/settings.ts';
import type { Database } from '../database/tables.ts';
import type { Reading } from '../metrics/reading.ts';

/** The newest backup: `{startedAt, bytes}`. */
const SETTING = 'last_backup';

/** Records a finished backup, for the metrics. */
export async function recordBackup(db: Kysely<Database>, made: { startedAt: Date; bytes: number }): Promise<void> {
  const value = Buffer.from(JSON.stringify(made));
  await db.insertInto('settings').values({ name: SETTING, value }).onDuplicateKeyUpdate({ value }).execute();
}

/** When the newest backup was made, and its size. */
export async function readBackupMetrics({ db }: { db: Kysely<Database> }): Promise<Reading[]> {
  const stored = await readSetting(db, SETTING);
  const last = stored && (JSON.parse(stored.toString()) as { startedAt: string; bytes: number });
  return [
    {
      name: 'confere_backup_timestamp_seconds',
      help: 'Start of the newest backup that confere backup finished; 0 before the first.',
      values: last ? Date.parse(last.startedAt) / 1000 : 0,
    },
    { name: 'confere_backup_bytes', help: 'Size of that backup.', values: last?.bytes ?? 0 },
  ];
}
