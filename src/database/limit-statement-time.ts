import {
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type QueryId,
  RawNode,
  type RootOperationNode,
  SelectModifierNode,
  type SelectQueryNode,
  type WithNode,
} from 'kysely';
import type { Database } from './tables.ts';
import { hasErrno } from './transact.ts';

/** Limit of a SELECT for an interactive request, which the user can repeat: the server ends a longer one. */
export const READ_TIMEOUT_MS = 1_800;
/** MariaDB's and MySQL's statement time-out. */
const TIMEOUT_ERRNOS = new Set([1969, 3024]);

/** MariaDB's limit, before a statement; MySQL takes it for a comment. */
const limitBefore = (ms: number): string => `/*M! SET STATEMENT max_statement_time=${ms / 1000} FOR */`;
/** MySQL's limit, which it reads only right after SELECT; MariaDB takes it for a comment. */
const limitWithin = (ms: number): string => `/*+ MAX_EXECUTION_TIME(${ms}) */`;
const SELECT = /^\s*select\b/i;

/** The text of a SELECT, limited to `ms`: at least 1, since servers read 0 as no limit. Any other text stays as it is. */
export function limitSelect(text: string, ms: number): string {
  return text.replace(SELECT, (select) => `${limitBefore(ms)} ${select} ${limitWithin(ms)}`);
}

/** The limits that were written into queries, each with the WITH that it stands before. */
const limits = new WeakMap<object, { with?: WithNode }>();

/** Removes limits from a query's subqueries: Kysely passes each subquery to the plugins as if it were a query. */
class LimitRemover extends OperationNodeTransformer {
  protected override transformSelectQuery(node: SelectQueryNode, queryId: QueryId): SelectQueryNode {
    const limited = node.with && limits.get(node.with);
    if (!limited) return super.transformSelectQuery(node, queryId);
    const { with: _, frontModifiers = [], ...plain } = node;
    return super.transformSelectQuery({ ...plain, ...limited, frontModifiers: frontModifiers.slice(1) }, queryId);
  }
}
const remover = new LimitRemover();

/**
 * Returns a handle whose SELECT statements time out after `ms`, so that no list occupies a connection for minutes. The limit
 * of a handle that is limited already stays.
 */
export function limitStatementTime(db: Kysely<Database>, ms = READ_TIMEOUT_MS): Kysely<Database> {
  const hint = SelectModifierNode.createWithExpression(RawNode.createWithSql(limitWithin(ms)));
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }): RootOperationNode {
      if (node.kind === 'RawNode') {
        const plain = remover.transformNode(node, queryId);
        const [first = '', ...others] = plain.sqlFragments;
        return { ...plain, sqlFragments: [limitSelect(first, ms), ...others] };
      }
      if (node.kind !== 'SelectQueryNode' || (node.with && limits.has(node.with))) return node;
      const plain = remover.transformNode(node, queryId);
      const before = RawNode.createWithSql(limitBefore(ms));
      const limit = plain.with ? RawNode.create(['', ' ', ''], [before, plain.with]) : before;
      limits.set(limit, plain.with ? { with: plain.with } : {});
      // kysely writes any node here before SELECT, so the cast is safe for a node that is no WITH
      const first = limit as unknown as WithNode;
      return { ...plain, with: first, frontModifiers: [hint, ...(plain.frontModifiers ?? [])] };
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}

/** Returns the context of a request that only reads: its SELECT statements time out. */
export function limitReads<Context extends { db: Kysely<Database> }>(context: Context): Context {
  return { ...context, db: limitStatementTime(context.db) };
}

/** Whether a statement was ended because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return hasErrno(error, TIMEOUT_ERRNOS);
}
