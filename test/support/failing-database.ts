/** Contexts whose database fails at chosen statements. All other statements reach the real database. */
import { type Kysely, type KyselyPlugin, type RootOperationNode, TableNode, type Transaction } from 'kysely';
import type { Context } from '../../src/context.ts';
import type { Database } from '../../src/database/tables.ts';

/** The error that mysql2 reports for a lost connection. */
export const LOST = Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });

/** A context whose statements pass through a plugin, also those of the ledger's writer. */
function plugIn(context: Context, plugin: KyselyPlugin): Context {
  return {
    ...context,
    db: context.db.withPlugin(plugin),
    ledgerDb: context.ledgerDb.withPlugin(plugin),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Calls `onWrite` before each insert into, or update of, a table. An error that it throws fails the statement. */
export function watchWrites(context: Context, table: string, onWrite: () => void): Context {
  return plugIn(context, pluginOf(table, onWrite));
}

/** Calls `onDelete` before each delete from a table. An error that it throws fails the statement. */
export function watchDeletes(context: Context, table: string, onDelete: () => void): Context {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const from = node.kind === 'DeleteQueryNode' ? node.from.froms[0] : undefined;
      if (from && TableNode.is(from) && from.table.identifier.name === table) onDelete();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return plugIn(context, plugin);
}

/** Calls `onRead` before each SELECT from a table. An error that it throws fails the statement. */
export function watchReads(context: Context, table: string, onRead: () => void): Context {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (readsFrom(node, table)) onRead();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return plugIn(context, plugin);
}

/** A context whose SELECTs from a table find nothing while `isHidden()`, as on a host that has not applied yet what is committed. */
export function hideRows(context: Context, table: string, isHidden: () => boolean): Context {
  const reads = new WeakSet<object>();
  return plugIn(context, {
    transformQuery({ node, queryId }) {
      if (readsFrom(node, table) && isHidden()) reads.add(queryId);
      return node;
    },
    transformResult: async ({ result, queryId }) => (reads.has(queryId) ? { ...result, rows: [] } : result),
  });
}

/**
 * A context whose SELECTs from a table wait, after `hold()`, for `release()` before they return. `held`: how many wait.
 * @param table undefined: those without a FROM, such as a watermark.
 */
export function holdReads(context: Context, table: string | undefined) {
  const reads = new WeakSet<object>();
  let holding: PromiseWithResolvers<void> | undefined;
  let held = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      if (readsFrom(node, table)) reads.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      if (!holding || !reads.has(queryId)) return result;
      held++;
      await holding.promise;
      held--;
      return result;
    },
  };
  return {
    context: plugIn(context, plugin),
    held: () => held,
    hold() {
      holding = Promise.withResolvers();
    },
    release() {
      holding?.resolve();
      holding = undefined;
    },
  };
}

/**
 * A context that can lose its database: after `lose(table)` the next SELECT from this table fails, and with it every
 * statement until `heal()`. `lost` counts the failures.
 */
export function loseDatabase(context: Context) {
  let trigger: string | undefined;
  let isAway = false;
  let lost = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      isAway ||= trigger !== undefined && readsFrom(node, trigger);
      if (!isAway) return node;
      lost++;
      throw LOST;
    },
    transformResult: async ({ result }) => result,
  };
  return {
    context: plugIn(context, plugin),
    lost: () => lost,
    lose(table: string) {
      trigger = table;
    },
    heal() {
      trigger = undefined;
      isAway = false;
    },
  };
}

/** Commits the first transaction, or statement outside a transaction, that writes to a table, and loses its answer. */
export function loseCommit(context: Context, table: string): Context {
  let isLost = false;
  const open = (opened: Kysely<Database>): Kysely<Database> => {
    const execute = async <T>(work: (trx: Transaction<Database>) => Promise<T>): Promise<T> => {
      let wrote = false;
      const plugin = pluginOf(table, () => {
        wrote = true;
      });
      const result = await opened.transaction().execute((trx) => work(trx.withPlugin(plugin)));
      if (!wrote || isLost) return result;
      isLost = true;
      throw LOST;
    };
    const written = new WeakSet<object>();
    const alone = opened.withPlugin({
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
    return new Proxy(alone, {
      get(target, key) {
        if (key === 'transaction') return () => ({ execute });
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  return {
    ...context,
    db: open(context.db),
    ledgerDb: open(context.ledgerDb),
    [Symbol.asyncDispose]: async () => undefined,
  };
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

function readsFrom(node: RootOperationNode, table: string | undefined): boolean {
  if (table === undefined) return node.kind === 'SelectQueryNode' && node.from === undefined;
  const from = node.kind === 'SelectQueryNode' ? node.from?.froms[0] : undefined;
  return from !== undefined && TableNode.is(from) && from.table.identifier.name === table;
}
