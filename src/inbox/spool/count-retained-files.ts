import { readdirSync } from 'node:fs';

/**
 * Files that stay in the spool's directory, and that nobody drains: damaged segments (`.torn`), and what the database
 * refused (`.refused`). Webhooks that were answered may stand in them and nowhere else, until somebody has looked.
 */
export const RETAINED_KINDS = ['torn', 'refused'] as const;
export type RetainedFiles = Record<(typeof RETAINED_KINDS)[number], number>;

/** How many there are; none in a directory that is not there. */
export function countRetainedFiles(directory: string): RetainedFiles {
  const names = listNames(directory);
  const count = (kind: string): number => names.filter((name) => name.endsWith(`.${kind}`)).length;
  return { torn: count('torn'), refused: count('refused') };
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
