import type { PoolConnection } from 'mysql2';

type Method = (...args: unknown[]) => unknown;
type Ear = {
  asked?(): void;
  /** @param text of the statement, where it was sent as text. */
  answered(error: unknown, text: unknown): void;
};

/** Hears every statement of a connection that has a callback, prepared ones too, and its answer before its asker does. */
export function interceptStatements(connection: PoolConnection, ear: Ear): void {
  const hear =
    (run: Method): Method =>
    (...args) => {
      const callback = args.at(-1);
      if (typeof callback !== 'function') return run(...args);
      ear.asked?.();
      return run(...args.slice(0, -1), (error: unknown, ...results: unknown[]) => {
        ear.answered(error, args[0]);
        (callback as Method)(error, ...results);
      });
    };
  // each method's overloads differ; what is put around them passes all arguments on as they come
  const methods = connection as unknown as Record<'query' | 'execute' | 'prepare', Method>;
  for (const name of ['query', 'execute'] as const) methods[name] = hear(methods[name].bind(connection));
  const prepare = hear(methods.prepare.bind(connection));
  methods.prepare = (text, callback) =>
    prepare(text, (error: unknown, statement: { execute: Method } | undefined) => {
      if (statement) statement.execute = hear(statement.execute.bind(statement));
      (callback as Method)(error, statement);
    });
}
