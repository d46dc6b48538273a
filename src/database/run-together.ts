import { CompiledQuery, type DatabaseConnection, type QueryResult, Transaction } from 'kysely';
import { sendsTogether, takeBegin } from '../../embedded/open-database.ts';
import { InvariantError } from '../domain/errors.ts';
import type { Database } from './tables.ts';

type Statement = {
  query: CompiledQuery;
  resolve: (result: QueryResult<unknown>) => void;
  reject: (error: unknown) => void;
};
type Functions<Results extends readonly unknown[]> = {
  [Index in keyof Results]: (together: Transaction<Database>) => Promise<Results[Index]>;
};

/** Larger ones go one by one: there the round trip costs little, and a packet has a limit. */
const TOGETHER_CHARS_MAX = 65_536;
/** Length of a value that is no text: mostly a number, a time or NULL, with its separator. */
const NUMBER_CHARS = 8;

const collectors = new WeakSet<Transaction<Database>>();

/**
 * Runs functions of one transaction at the same time, and sends the statements that they wait for at the same moment to the
 * server together: one round trip instead of one each. The server runs them one after another, in the order of the calls, and
 * stops at the first that fails. On a connection that can't send several (any but the writer's), they are sent one by one.
 *
 * So they do not depend on each other's results: `[(together) => readThis(together), (together) => writeThat(together)]`.
 * @returns their results, in order, once all have ended.
 * @throws the error of the statement that failed, as the driver reports it. Nothing of this transaction may be sent after it
 *   but the ROLLBACK: the server may have rolled back already, and would commit each further statement by itself. What the
 *   functions still send is therefore refused with the same error.
 */
export async function runTogether<Results extends readonly unknown[]>(
  trx: Transaction<Database>,
  functions: [...Functions<Results>],
): Promise<Results> {
  // what is collected already joins those who collect it
  const together = collectors.has(trx) ? trx : collect(trx);
  // async: the others are waited for also if one throws before it returns a promise
  const started = functions.map(async (start) => await start(together));
  await Promise.allSettled(started);
  // all have ended: this only reads their results, or the first error. Cast: a map keeps the order
  return (await Promise.all(started)) as unknown as Results;
}

/** A handle of the same transaction that collects the statements of one turn of the event loop before it sends them. */
function collect(trx: Transaction<Database>): Transaction<Database> {
  const executor = trx.getExecutor();
  let waiting: Statement[] = [];
  let failure: { error: unknown } | undefined;

  async function run(connection: DatabaseConnection, statements: Statement[]): Promise<QueryResult<unknown>[]> {
    // others may have failed while these waited for the connection
    if (failure) throw failure.error;
    try {
      return await sendAll(
        connection,
        statements.map(({ query }) => query),
      );
    } catch (error) {
      failure = { error };
      throw error;
    }
  }

  async function send(): Promise<void> {
    const statements = waiting;
    waiting = [];
    try {
      const results = await executor.provideConnection((connection) => run(connection, statements));
      for (const [index, { resolve }] of statements.entries()) resolve(results[index] ?? { rows: [] });
    } catch (error) {
      for (const { reject } of statements) reject(error);
    }
  }

  const connection: DatabaseConnection = {
    executeQuery: <Row>(query: CompiledQuery) =>
      new Promise<QueryResult<Row>>((resolve, reject) => {
        // after all microtasks: functions that were started together reach their statements after a few of them
        if (waiting.length === 0) process.nextTick(() => void send());
        // cast: the caller knows the rows of its statement
        waiting.push({ query, resolve: resolve as Statement['resolve'], reject });
      }),
    streamQuery() {
      throw new InvariantError('rows can not be streamed among statements that run together');
    },
  };
  const together = new Transaction<Database>({
    executor: executor.withConnectionProvider({ provideConnection: async (use) => await use(connection) }),
    // only Kysely itself uses the others, to open connections and transactions
    ...({ config: {}, driver: {}, dialect: {} } as Pick<
      ConstructorParameters<typeof Transaction>[0],
      'config' | 'driver' | 'dialect'
    >),
  });
  collectors.add(together);
  return together;
}

async function sendAll(connection: DatabaseConnection, queries: CompiledQuery[]): Promise<QueryResult<unknown>[]> {
  if (sendsTogether(connection) && isSmall(queries)) {
    const begin = takeBegin(connection);
    const all = [...begin, ...queries];
    if (all.length > 1) return (await sendOnce(connection, all)).slice(begin.length);
  }
  const results: QueryResult<unknown>[] = [];
  for (const query of queries) results.push(await connection.executeQuery(query));
  return results;
}

function isSmall(queries: CompiledQuery[]): boolean {
  let chars = 0;
  for (const { sql, parameters } of queries) {
    chars += sql.length;
    chars += countChars(parameters);
  }
  return chars <= TOGETHER_CHARS_MAX;
}

function countChars(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Buffer.isBuffer(value)) return 2 * value.length;
  if (!Array.isArray(value)) return NUMBER_CHARS;
  let chars = 0;
  for (const one of value) chars += countChars(one);
  return chars;
}

type Answer = { affectedRows: number; changedRows?: number; insertId: number } | unknown[];

/** The driver escapes all values into one text, as it does for one statement. */
async function sendOnce(connection: DatabaseConnection, queries: CompiledQuery[]): Promise<QueryResult<unknown>[]> {
  for (const { sql, parameters } of queries) {
    // a question mark that is no placeholder would take the value of the next statement
    if ((sql.match(/\?/g)?.length ?? 0) !== parameters.length)
      throw new InvariantError(`a statement has other placeholders than values: ${sql}`);
  }
  const all = CompiledQuery.raw(
    queries.map(({ sql }) => sql).join(';\n'),
    queries.flatMap(({ parameters }) => parameters),
  );
  const answers = await connection.executeQuery(all).then(
    // cast: Kysely passes several results through as they are
    ({ rows }) => rows as Answer[],
    (error: unknown) => {
      throw nameStatement(error, queries);
    },
  );
  if (answers.length !== queries.length)
    throw new InvariantError(`${queries.length} statements gave ${answers.length} results`);
  return answers.map(toResult);
}

/** As Kysely reads the result of one statement. */
function toResult(answer: Answer): QueryResult<unknown> {
  if (Array.isArray(answer)) return { rows: answer };
  const { affectedRows, changedRows, insertId } = answer;
  return {
    rows: [],
    numAffectedRows: BigInt(affectedRows),
    ...(changedRows === undefined ? {} : { numChangedRows: BigInt(changedRows) }),
    ...(insertId === 0 ? {} : { insertId: BigInt(insertId) }),
  };
}

/** Adds to the driver's error which statement failed, without its values. */
function nameStatement(error: unknown, queries: CompiledQuery[]): unknown {
  const { failedIndex } = (error ?? {}) as { failedIndex?: number };
  const query = failedIndex === undefined ? undefined : queries[failedIndex];
  if (query && error instanceof Error) Object.assign(error, { statement: query.sql });
  return error;
}
