/**
 * Several hosts of one database may all take writes (Galera), but the lock of a row does not reach from one to another. So all
 * processes agree on one host, the writer: its name stands in `settings`.
 *
 * - A process that starts uses the first of its hosts that works, and then the writer.
 * - A process that can't use the writer works on the next host at once, and names this one the writer.
 * - The others read the name every 2 s and follow. What they have begun ends on the host where it began.
 * - Commands follow the processes that serve, and name no writer.
 * - A writer that comes back is not the writer any more: nothing moves back.
 * - Two processes that reach no common host can't agree. Each keeps to the host that it reaches, and the name changes at most
 *   once in 15 s; each change is a warning. Two nodes of one cluster then abort what conflicts, and it is repeated.
 */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { FailOverPool, HostChoice } from '../../../embedded/fail-over.ts';
import { describeError, type Log } from '../../log.ts';
import type { Timers } from '../../timers.ts';
import type { Clock } from '../clock.ts';
import { readOrCreateSetting, readSetting } from '../keys/settings.ts';
import type { Reader } from '../reader.ts';
import type { Database } from '../tables.ts';

const SETTING = 'database_writer';
export const READ_WRITER_EVERY_MS = 2_000;
export const CHANGE_WRITER_EVERY_MS = 15_000;

const stored = z.object({ host: z.string(), since: z.coerce.date() });
type Writer = z.infer<typeof stored>;

type Options = {
  db: Kysely<Database>;
  hosts: Pick<FailOverPool, 'hostInUse' | 'canUse'>;
  /** Is changed here; the pools of this process follow it. */
  choice: HostChoice;
  clock: Pick<Clock, 'now'>;
  timers: Timers;
  log: Log;
  /** Otherwise this process follows the others, and names no writer: a command that runs elsewhere must not move them. */
  mayName: boolean;
};

/** Reads the writer, and then every READ_WRITER_EVERY_MS until it is disposed. @throws the error of the first reading. */
export async function agreeOnWriter(options: Options): Promise<Disposable> {
  const { hosts, choice, log, mayName } = options;
  let isReading = true;
  await followWriter(options);
  isReading = false;
  const own = hosts.hostInUse();
  if (!mayName && choice.agreed !== undefined && own !== choice.agreed)
    log.warn(
      { writer: choice.agreed, host: own },
      'the database writer can not be used; this command uses another host',
    );
  const readings = options.timers.every(READ_WRITER_EVERY_MS, () => {
    // a host that hangs delays a reading for longer than the interval
    if (isReading) return;
    isReading = true;
    followWriter(options)
      // the database is away, or another process changed the name at the same time: the next reading is in 2 s
      .catch((error: unknown) => log.debug({ error: describeError(error) }, 'the writer could not be read'))
      .finally(() => {
        isReading = false;
      });
  });
  return { [Symbol.dispose]: () => readings.cancel() };
}

/** @returns the writer and since when it is that; undefined before there is one. */
export async function readWriter(db: Reader): Promise<Writer | undefined> {
  const value = await readSetting(db, SETTING);
  return value && parse(value);
}

/** Uses the writer that all agreed on; if this process can't, names the host that it uses instead. */
async function followWriter({ db, hosts, choice, clock, log, mayName }: Options): Promise<void> {
  const value = await readSetting(db, SETTING);
  const writer = value && parse(value);
  const own = hosts.hostInUse();
  if (writer?.host !== choice.agreed) {
    if (choice.agreed !== undefined)
      log.info({ writer: writer?.host, before: choice.agreed }, 'another process named the database writer');
    choice.agreed = writer?.host;
  }
  if (!mayName || own === undefined || writer?.host === own) return;
  if (writer && clock.now().getTime() - writer.since.getTime() < CHANGE_WRITER_EVERY_MS) return;
  if (writer && (await hosts.canUse(writer.host))) return;
  const next = Buffer.from(JSON.stringify({ host: own, since: clock.now() } satisfies Writer));
  if (!value) {
    choice.agreed = parse(await readOrCreateSetting(db, SETTING, () => next))?.host;
    return;
  }
  // only if nobody else has changed it meanwhile
  const { numUpdatedRows } = await db
    .updateTable('settings')
    .set({ value: next })
    .where('name', '=', SETTING)
    .where('value', '=', value)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  choice.agreed = own;
  const details = { writer: own, before: writer?.host };
  log.warn(details, 'the database writer can not be used; all processes move to another host');
}

/** @returns undefined for a text that this version does not know. */
function parse(value: Buffer): Writer | undefined {
  try {
    return stored.parse(JSON.parse(value.toString()));
  } catch {
    return undefined;
  }
}
