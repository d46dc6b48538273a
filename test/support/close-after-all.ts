import { afterAll } from 'vitest';

/** Closes what the tests of a file share after the last of them, the newest first. @returns it. */
export function closeAfterAll<T extends AsyncDisposable | Disposable>(opened: T): T {
  afterAll(() => (Symbol.asyncDispose in opened ? opened[Symbol.asyncDispose]() : opened[Symbol.dispose]()));
  return opened;
}
