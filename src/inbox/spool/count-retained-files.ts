import { readdirSync } from 'node:fs';

/**
 * Files that stay in the spool's directory and are not drained: damaged segments (`.torn`), and webhooks that the database
 * refused (`.refused`). They may hold answered webhooks that exist nowhere else, until a person has checked them.
 */
export const RETAINED_KINDS = ['torn', 'refused'] as const;
export type RetainedFiles = Record<(typeof RETAINED_KINDS)[number], number>;

/** @returns how many files of each kind there are; 0 if the directory does not exist. */
export function countRetainedFiles(directory: string): RetainedFiles {
  const count = (pattern: RegExp): number => listSpoolFiles(directory, pattern).length;
  return { torn: count(/\.torn$/), refused: count(/\.refused$/) };
}

/** @returns the names of matching files; none if the directory does not exist. */
export function listSpoolFiles(directory: string, pattern: RegExp): string[] {
  try {
    return readdirSync(directory).filter((name) => pattern.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
