import type { PoolConnection } from 'mysql2';

type Method = (...args: unknown[]) => unknown;
type Listener = {
  sent?(): void;
  /** @param text the statement, if it was sent as text. */
  answered(error: unknown, text: unknown): void;
};

/** Calls the listener for every statement with a callback, also prepared ones; `answered` runs before the callback. */
export function interceptStatements(connection: PoolConnection, listener: Listener): void {
  const wrap =
    (run: Method): Method =>
    (...args) => {
      const callback = args.at(-1);
      if (typeof callback !== 'function') return run(...args);
      listener.sent?.();
      return run(...args.slice(0, -1), (error: unknown, ...results: unknown[]) => {
        listener.answered(error, args[0]);
        (callback as Method)(error, ...results);
      });
    };
  // cast: each method has other overloads, and the wrapper passes all arguments unchanged
  const methods = connection as unknown as Record<'query' | 'execute' | 'prepare', Method>;
  for (const name of ['query', 'execute'] as const) methods[name] = wrap(methods[name].bind(connection));
  const prepare = wrap(methods.prepare.bind(connection));
  methods.prepare = (text, callback) =>
    prepare(text, (error: unknown, statement: { execute: Method } | undefined) => {
      if (statement) statement.execute = wrap(statement.execute.bind(statement));
      (callback as Method)(error, statement);
    });
}

/** Adds to each error of a text of several statements which one failed, from 0: `failedIndex`. The server stopped there. */
export function nameFailed(connection: PoolConnection): void {
  type Run = (...args: unknown[]) => { _resultIndex?: number };
  // cast: mysql2 counts the results of a query in a field that is not in its types
  const target = connection as unknown as { query: Run };
  const query = target.query.bind(connection);
  target.query = (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== 'function') return query(...args);
    // undefined still where mysql2 calls back at once: the connection is closed, and nothing was sent
    let sent: { _resultIndex?: number } | undefined;
    sent = query(...args.slice(0, -1), (error: unknown, ...results: unknown[]) => {
      if (error instanceof Error) Object.assign(error, { failedIndex: sent?._resultIndex });
      callback(error, ...results);
    });
    return sent;
  };
}
