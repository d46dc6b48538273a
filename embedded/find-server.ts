import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const DIRECTORIES = [
  ...(process.env.PATH ?? '').split(path.delimiter),
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/libexec',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mariadb/bin',
  '/usr/local/mysql/bin',
];

export type ServerBinaries = { kind: 'mariadb'; server: string; install: string } | { kind: 'mysql'; server: string };

/**
 * Finds the database server of this machine: MariaDB, else MySQL.
 * @throws Error that names the packages to install, if there is neither.
 */
export function findServer(): ServerBinaries {
  const server = findBinary('mariadbd');
  const install = findBinary('mariadb-install-db');
  if (server && install) return { kind: 'mariadb', server, install };
  const mysql = findBinary('mysqld');
  if (mysql) return { kind: 'mysql', server: mysql };
  throw new Error(
    'no MariaDB or MySQL server was found for the embedded database. Install one (Debian: apt-get install ' +
      'mariadb-server-core mariadb-client-core; Fedora: dnf install mariadb-server; macOS: brew install mariadb), ' +
      'or set DATABASE_URL to a server that runs already',
  );
}

/** @returns the path of a program of the database, in PATH or where packages put it. */
export function findBinary(name: string): string | undefined {
  return DIRECTORIES.filter(Boolean)
    .map((directory) => path.join(directory, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
