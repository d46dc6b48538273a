import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise';
import { readCpuUs } from './read-cpu.ts';
import type { MeasuredChain } from './start-chain.ts';

/** The cost of a webhook: milliseconds of the processor in the service and in the database server, and what was sent to it. */
export type Usage = { serviceMs: number; databaseMs: number; statements: number; commits: number };

/** Reads what chains use: their processes, and the database server of ours and of its limit. */
export type Meter = AsyncDisposable & {
  /** Runs `work` and divides what was used by its webhooks. A server's own loops are part of it. */
  measure<T>(chain: MeasuredChain, webhooks: number, work: () => Promise<T>): Promise<Usage & { result: T }>;
  /**
   * Counts the round trips a webhook of `work`, by the server's general log: one row for each text, however many statements it
   * holds. With BENCH_STATEMENTS=1 it prints the texts. The log costs time, so nothing else is measured meanwhile.
   */
  countRoundTrips(webhooks: number, work: () => Promise<unknown>): Promise<number>;
};

export async function openMeter(socketPath: string): Promise<Meter> {
  const connection = await mysql.createConnection({ socketPath, user: 'root', multipleStatements: true });
  return {
    async measure(chain, webhooks, work) {
      const before = await read(connection, chain);
      const result = await work();
      const after = await read(connection, chain);
      const each = (name: keyof Usage): number => (after[name] - before[name]) / webhooks;
      const usage = { serviceMs: each('serviceMs'), databaseMs: each('databaseMs') };
      return { result, ...usage, statements: each('statements'), commits: each('commits') };
    },
    async countRoundTrips(webhooks, work) {
      await connection.query("TRUNCATE mysql.general_log; SET GLOBAL log_output = 'TABLE', general_log = ON");
      await work();
      await connection.query('SET GLOBAL general_log = OFF');
      const [texts] = await connection.query<RowDataPacket[]>(
        `SELECT COUNT(*) AS count, LEFT(REGEXP_REPLACE(argument, '[0-9]+|0x[0-9A-F]+|''[^'']*''', '?'), 300) AS text
        FROM mysql.general_log WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID()
        GROUP BY LEFT(REGEXP_REPLACE(argument, '[0-9]+|0x[0-9A-F]+|''[^'']*''', '?'), 120) ORDER BY count DESC`,
      );
      const isShown = process.env.BENCH_STATEMENTS === '1';
      for (const { count, text } of isShown ? texts : []) process.stderr.write(`    ${count / webhooks} ${text}\n`);
      return texts.reduce((sum, { count }) => sum + Number(count), 0) / webhooks;
    },
    [Symbol.asyncDispose]: () => connection.end(),
  };
}

/** Commits are those of transactions; a statement outside of one that writes is a commit of its own. */
async function read(connection: Connection, { pids }: MeasuredChain): Promise<Usage> {
  const [rows] = await connection.query<RowDataPacket[]>('SHOW GLOBAL STATUS');
  const status = new Map(rows.map((row) => [row.Variable_name as string, Number(row.Value)]));
  const [serviceMs, databaseMs] = [readCpuUs(pids.service) / 1000, readCpuUs(pids.database) / 1000];
  return { serviceMs, databaseMs, statements: status.get('Questions') ?? 0, commits: status.get('Com_commit') ?? 0 };
}
