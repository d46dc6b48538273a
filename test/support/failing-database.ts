/** Databases that fail where a test wants it: what is asked of them otherwise reaches the real one. */
import { type KyselyPlugin, type RootOperationNode, TableNode, type Transaction } from 'kysely';
import type { Context } from '../../src/context.ts';
import type { Database } from '../../src/database/tables.ts';

/** As mysql2 tells of a connection that went away. */
export const LOST = Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });

/** `onWrite` is called before each insert into, or update of, this table: what it throws fails the statement. */
export function watchWrites(context: Context, table: string, onWrite: () => void): Context {
  return {
    ...context,
    db: context.db.withPlugin(pluginOf(table, onWrite)),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** `onDelete` is called before each delete from this table: what it throws fails the statement. */
export function watchDeletes(context: Context, table: string, onDelete: () => void): Context {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const from = node.kind === 'DeleteQueryNode' ? node.from.froms[0] : undefined;
      if (from && TableNode.is(from) && from.table.identifier.name === table) onDelete();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { ...context, db: context.db.withPlugin(plugin), [Symbol.asyncDispose]: async () => undefined };
}

/** The first transaction, or statement outside of one, that writes to this table is committed, and its answer lost. */
export function loseCommit(context: Context, table: string): Context {
  let isLost = false;
  const execute = async <T>(work: (trx: Transaction<Database>) => Promise<T>): Promise<T> => {
    let wrote = false;
    const plugin = pluginOf(table, () => {
      wrote = true;
    });
    const result = await context.db.transaction().execute((trx) => work(trx.withPlugin(plugin)));
    if (!wrote || isLost) return result;
    isLost = true;
    throw LOST;
  };
  const written = new WeakSet<object>();
  const alone = context.db.withPlugin({
    transformQuery({ node, queryId }) {
      if (tableOf(node) === table) written.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      if (isLost || !written.has(queryId)) return result;
      isLost = true;
      throw LOST;
    },
  });
  const db = new Proxy(alone, {
    get(target, key) {
      if (key === 'transaction') return () => ({ execute });
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...context, db, [Symbol.asyncDispose]: async () => undefined };
}

function pluginOf(table: string, onWrite: () => void): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (tableOf(node) === table) onWrite();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

function tableOf(node: RootOperationNode): string | undefined {
  const into = node.kind === 'InsertQueryNode' ? node.into : node.kind === 'UpdateQueryNode' ? node.table : undefined;
  return into && TableNode.is(into) ? into.table.identifier.name : undefined;
}
