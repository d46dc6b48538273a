import { type Kysely, type KyselyPlugin, RawNode, type RootOperationNode, SelectModifierNode } from 'kysely';
import type { Database } from './tables.ts';
import { hasErrno } from './transact.ts';

/** Limit of a SELECT for an interactive request, which the user can repeat: the server ends a longer one. */
export const READ_TIMEOUT_MS = 1_800;
/** MariaDB's and MySQL's statement time-out. */
const TIMEOUT_ERRNOS = new Set([1969, 3024]);

/**
 * Returns a handle whose SELECT statements time out after `ms`, so that no list occupies a connection for minutes. Each
 * server reads its own syntax and takes the other's for a comment. MySQL reads its hint only right after SELECT.
 */
export function limitStatementTime(db: Kysely<Database>, ms = READ_TIMEOUT_MS): Kysely<Database> {
  const before = RawNode.createWithSql(`/*M! SET STATEMENT max_statement_time=${ms / 1000} FOR */`);
  const hint = SelectModifierNode.createWithExpression(RawNode.createWithSql(`/*+ MAX_EXECUTION_TIME(${ms}) */`));
  const plugin: KyselyPlugin = {
    transformQuery({ node }): RootOperationNode {
      if (node.kind !== 'SelectQueryNode') return node;
      const limit = node.with ? RawNode.create(['', ' ', ''], [before, node.with]) : before;
      // kysely writes any node here before SELECT, so the cast is safe for a node that is no WITH
      const first = limit as unknown as NonNullable<typeof node.with>;
      return { ...node, with: first, frontModifiers: [hint, ...(node.frontModifiers ?? [])] };
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}

/** Whether a statement was ended because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return hasErrno(error, TIMEOUT_ERRNOS);
}
