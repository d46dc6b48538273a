/** Variables that a program needs to find files, its user and a language. None holds a secret of ours, nor one of the database's client programs (MYSQL_PWD). */
const PASSED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'XDG_RUNTIME_DIR',
  'LD_LIBRARY_PATH',
];

/**
 * Returns the environment of a program that we start: `/proc/<pid>/environ`, a core dump or a crash report of it must not
 * have SECRET_KEY or the provider's key.
 */
export function childEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const passed = PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(passed), ...more };
}
