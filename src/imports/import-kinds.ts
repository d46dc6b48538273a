import type { Role } from '../access/roles.ts';
import { largest } from '../domain/lists.ts';
import type { ImportKind } from './import-kind.ts';
import { ACCOUNTS } from './kinds/accounts.ts';
import { ADJUSTMENTS } from './kinds/adjustments.ts';
import { BANK } from './kinds/bank.ts';
import { DECISIONS } from './kinds/decisions.ts';
import { EXPECTED } from './kinds/expected.ts';
import { NFE } from './kinds/nfe.ts';
import { PLATFORMS } from './kinds/platforms.ts';
import { STATEMENTS } from './kinds/statements.ts';
import { TABLE_BYTES_MAX } from './read-table.ts';

/** The kinds of files that people give, each by its templates. The command line, the API and the console offer what is in this list. */
export const IMPORT_KINDS = {
  statements: STATEMENTS,
  adjustments: ADJUSTMENTS,
  accounts: ACCOUNTS,
  platforms: PLATFORMS,
  bank: BANK,
  expected: EXPECTED,
  nfe: NFE,
  decisions: DECISIONS,
} as const satisfies Record<string, unknown>;

export type ImportKindName = keyof typeof IMPORT_KINDS;
export const IMPORT_KIND_NAMES = Object.keys(IMPORT_KINDS) as ImportKindName[];

export function isImportKind(name: string): name is ImportKindName {
  return Object.hasOwn(IMPORT_KINDS, name);
}

/** Bytes of a file of a kind. */
export function bytesMaxOf(name: ImportKindName): number {
  return findImportKind(name).bytesMax ?? TABLE_BYTES_MAX;
}

/** Bytes of a file of any kind. */
export const IMPORT_BYTES_MAX = largest(IMPORT_KIND_NAMES.map(bytesMaxOf));

/** Roles that may import a file of some kind. */
// cast: each kind has a role
export const IMPORT_ROLES = [...new Set(IMPORT_KIND_NAMES.flatMap((name) => findImportKind(name).roles))] as [
  Role,
  ...Role[],
];

/** A kind by its name. What it reads is what it applies, so a caller need not know the rows. */
export function findImportKind(name: ImportKindName): ImportKind {
  return IMPORT_KINDS[name] as ImportKind;
}
