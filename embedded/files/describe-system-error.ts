import { userInfo } from 'node:os';

type SystemError = { code: string; syscall: string; path?: string; dest?: string; address?: string; port?: number };

/** Says a system code of a path, and what to do. */
const FILE_TEXTS = new Map<string, string>([
  ['EACCES', 'may not be used: correct its owner or mode'],
  ['EPERM', 'may not be used: correct its owner or mode'],
  ['EROFS', 'is on a read-only disk'],
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'is not a directory, or lies below a file'],
  ['EISDIR', 'is a directory'],
  ['EEXIST', 'exists already'],
  ['ENOSPC', 'could not be written, because its disk is full: free some space'],
  ['EDQUOT', 'could not be written, because the quota of its disk is used up: free some space'],
  ['EFBIG', 'could not be written: the file would exceed the limit on its size'],
  ['EIO', "could not be read or written: the disk has a fault, see the system's log"],
  ['EMFILE', 'could not be opened: too many files are open, raise the limit (ulimit -n)'],
  ['ENAMETOOLONG', 'has too long a name'],
]);
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Describes an error of the operating system: the path or the address, what is wrong, what to do.
 * @returns undefined for another error, and for one whose place is not known.
 */
export function describeSystemError(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined;
  const { code, syscall, path, dest, address, port } = error;
  const place = dest ?? path ?? (address === undefined ? undefined : `${address}${port ? `:${port}` : ''}`);
  const text = address === undefined ? FILE_TEXTS.get(code) : 'can not be reached';
  if (place === undefined) return FULL.has(code) ? `a file ${FILE_TEXTS.get(code)} (${code})` : undefined;
  const who = code === 'EACCES' || code === 'EPERM' ? `, user ${nameUser()}` : '';
  if (syscall === 'mkdir' && code === 'ENOENT') return `${place} can not be made there (${code}, ${syscall})`;
  if (syscall === 'mkdir' && code === 'EEXIST')
    return `${place} is a link to a place that does not exist: make that directory, or correct the link (${code}, ${syscall})`;
  return `${place} ${text ?? 'can not be used'} (${code}, ${syscall}${who})`;
}

/** Whether the operating system refused something: a file, a disk, a connection. */
export function isSystemError(error: unknown): error is Error & SystemError {
  const { code, syscall } = (error ?? {}) as Partial<SystemError>;
  return error instanceof Error && typeof code === 'string' && typeof syscall === 'string';
}

/** In a container a user may have no name. */
function nameUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
