import path from 'node:path';

/** Where bin/setup --engines puts the programs of servers of other releases. */
export const ENGINES_BIN = path.join(
  process.env.CONFERE_ENGINES ?? path.resolve(import.meta.dirname, '../../.engines'),
  'bin',
);
