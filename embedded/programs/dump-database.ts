/** A whole database as statements, from one snapshot: the tables and their rows, without triggers (they name a user). */
import type { Readable } from 'node:stream';
import type { ConnectionTarget } from '../open-database.ts';
import { findClient, finishProgram, readHelp, startProgram, writeClientOptions } from './run-client.ts';

/** One packet of a row with a webhook's body, which has at most 256 KiB, hex-encoded. The server's own limit applies too. */
const PACKET = '--max-allowed-packet=64M';
const DUMP_ARGS = [
  // one REPEATABLE READ snapshot for all tables, without a lock that a writer waits for
  ...['--single-transaction', '--skip-lock-tables', '--quick'],
  ...['--hex-blob', '--skip-triggers', '--skip-comments', '--skip-add-drop-table', '--skip-add-locks'],
  ...['--no-tablespaces', PACKET],
];
/** MySQL's own program: MariaDB's writes values of generated columns, which MySQL refuses (3105). */
const MYSQL_ARGS = ['--column-statistics=0', '--set-gtid-purged=OFF'];

/**
 * Dumps a database into `write`, which consumes the statements.
 * @param target one host. @param server its version.
 * @throws Error if the program of its kind is missing or fails: then what was written is incomplete.
 */
export async function dumpDatabase(
  target: ConnectionTarget & { database: string },
  server: string,
  write: (statements: Readable) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const isMariaDb = /mariadb/i.test(server);
  const program = findClient(isMariaDb ? ['mariadb-dump', 'mysqldump'] : ['mysqldump'], isMariaDb ? 'mariadb-client' : 'mysql-client-core');
  if (!isMariaDb && program.kind === 'mariadb')
    throw new Error(`${program.file} is of MariaDB, whose dump MySQL refuses: put MySQL's own mysqldump before it in PATH`);
  using options = writeClientOptions(target, program.kind);
  const more = program.kind === 'mysql' ? MYSQL_ARGS : [];
  const args = [`--defaults-file=${options.file}`, ...DUMP_ARGS, ...more, target.database];
  const dump = startProgram(program.file, args, signal);
  dump.input.end();
  await finishProgram(dump, write(dump.output));
}

/** The client then runs statements alone: no program of the machine, and no file of it is read or written. */
const SAFE_OPTIONS = ['--binary-mode', '--sandbox'];

/** Older clients, and MySQL's, have no sandbox; in binary mode none knows a command but two harmless ones. */
function listSafeOptions(client: string): string[] {
  const help = readHelp(client);
  return SAFE_OPTIONS.filter((option) => help.includes(option));
}

/** Loads a dump into an empty database. @throws Error if the program is missing or a statement fails. */
export async function loadDump(
  target: ConnectionTarget & { database: string },
  statements: (into: NodeJS.WritableStream) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const program = findClient(['mariadb', 'mysql'], 'mariadb-client-core');
  using options = writeClientOptions(target, program.kind);
  const args = [`--defaults-file=${options.file}`, PACKET, ...listSafeOptions(program.file), target.database];
  const load = startProgram(program.file, args, signal);
  load.output.resume();
  await finishProgram(load, statements(load.input));
}
