import { type Kysely, type KyselyPlugin, RawNode, type RootOperationNode, SelectModifierNode } from 'kysely';
import type { Database } from './tables.ts';

/** What somebody waits for and may ask for again: a statement that takes longer is ended by the server. */
export const READ_TIMEOUT_MS = 1_800;
/** MariaDB's and MySQL's statement time-out. */
const TIMEOUT_ERRNOS = new Set([1969, 3024]);

/**
 * The same database, whose SELECT statements are ended after so long, so that no list holds a connection for minutes.
 * Each server reads its own time-out and takes the other's for a comment; MySQL takes it right behind SELECT only.
 */
export function limitStatementTime(db: Kysely<Database>, ms = READ_TIMEOUT_MS): Kysely<Database> {
  const before = RawNode.createWithSql(`/*M! SET STATEMENT max_statement_time=${ms / 1000} FOR */`);
  const hint = SelectModifierNode.createWithExpression(RawNode.createWithSql(`/*+ MAX_EXECUTION_TIME(${ms}) */`));
  const plugin: KyselyPlugin = {
    transformQuery({ node }): RootOperationNode {
      if (node.kind !== 'SelectQueryNode') return node;
      const limit = node.with ? RawNode.create(['', ' ', ''], [before, node.with]) : before;
      // what stands before SELECT is written as it is, a WITH or not
      const first = limit as unknown as NonNullable<typeof node.with>;
      return { ...node, with: first, frontModifiers: [hint, ...(node.frontModifiers ?? [])] };
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}

/** Whether a statement was ended because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return TIMEOUT_ERRNOS.has((error as { errno?: number } | undefined)?.errno ?? 0);
}
