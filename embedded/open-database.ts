import { isIP } from 'node:net';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  MysqlDialect,
  type MysqlDialectConfig,
  MysqlDriver,
  type TransactionSettings,
} from 'kysely';
import mysql, { type Pool, type PoolConnection, type PoolOptions, type TypeCastField } from 'mysql2';
import { countConnections, type PoolCounts } from './count-connections.ts';
import { abortConnection, isHostAway, type Probe } from './detect-unresponsive-host.ts';
import { endIdleSessions } from './end-idle-sessions.ts';
import { prepareEnd } from './end-pool.ts';
import { type ConnectionPool, createFailOverPool, type HostChoice } from './fail-over.ts';
import { nameFailed } from './intercept-statements.ts';
import { askHost } from './server-state.ts';
import { refusalError } from './watch-refusals.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
/** For each connection. mysql2 reserves 32 bytes for each that may be, at the start: by default 0.5 MB. */
const PREPARED_STATEMENTS_MAX = 256;

const SESSION = [
  // init_connect of a server may have set another: then what has no letter there would be stored as a question mark
  'SET NAMES utf8mb4 COLLATE utf8mb4_general_ci',
  // MariaDB makes a table of a list of a thousand numbers, and may then read all rows to find each there, instead of the index
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00' /*M! , in_predicate_conversion_threshold = 0 */",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  // a statement outside a transaction commits itself, also where the server's default is another
  'SET SESSION autocommit = 1',
];

export type ConnectionTarget = {
  user: string;
  password?: string;
  database?: string;
  /** The certificate is verified, and compared with the name of each host that is a name. */
  ssl?: { ca?: string; rejectUnauthorized: true };
  connectionLimit?: number;
} & ({ socketPath: string } | ({ host: string; port: number } & { others?: DatabaseHost[] }));

/** Another server of the same database, used when the first is unavailable. */
export type DatabaseHost = { host: string; port: number };

export type OpenDatabase<DB> = {
  db: Kysely<DB>;
  countConnections(): PoolCounts;
  /** Whether the host in use greets a new connection within `msMax`. A host that refuses it answers too. */
  greets(msMax: number): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Opens a pool. Every session is strict, in UTC, in utf8mb4, commits each statement by itself and is READ COMMITTED: under
 * REPEATABLE READ two writers that select absent ids and then insert them deadlock each time. `castField` says how columns
 * are converted. `choice`: which of several hosts is used, shared by the pools of a process. `multipleStatements`: one text may hold several statements,
 * so values must be escaped by the driver, never by hand.
 */
export function openDatabase<DB>(
  target: ConnectionTarget,
  choice?: HostChoice,
  { multipleStatements = false }: { multipleStatements?: boolean } = {},
): OpenDatabase<DB> {
  const connectionLimit = target.connectionLimit ?? 10;
  const pools: Pool[] = [];
  const open = (one: ConnectionTarget): Pool => {
    const options = { ...poolOptions(one), connectionLimit, maxIdle: connectionLimit, multipleStatements };
    const pool = mysql.createPool(options);
    pool.on('connection', prepareSession);
    if (multipleStatements) pool.on('connection', nameFailed);
    pools.push(pool);
    return pool;
  };
  const pool = openEach(target, open, choice);
  const dialect = multipleStatements
    ? new TogetherDialect({ pool, onCreateConnection: async (connection) => beginLate(connection) })
    : new MysqlDialect({ pool });
  const db = new Kysely<DB>({ dialect });
  return {
    db,
    countConnections: () => countConnections(pools),
    greets: (msMax) => new Promise((resolve) => pool.probe((error) => resolve(!isHostAway(error)), msMax)),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}

const BEGIN = CompiledQuery.raw('begin');
/** Connections opened with `multipleStatements`. `owesBegin`: their transaction has begun, and the server does not know yet. */
const together = new WeakMap<DatabaseConnection, { owesBegin: boolean }>();

/** Whether several statements may be sent in one text on this connection: it was opened with `multipleStatements`. */
export function sendsTogether(connection: DatabaseConnection): boolean {
  return together.has(connection);
}

/** Returns the BEGIN that is to be sent before what is sent next, in the same text; none if it was sent. */
export function takeBegin(connection: DatabaseConnection): CompiledQuery[] {
  const state = together.get(connection);
  if (!state?.owesBegin) return [];
  state.owesBegin = false;
  return [BEGIN];
}

/** Sends an owed BEGIN before any other statement, by itself. */
function beginLate(connection: DatabaseConnection): void {
  together.set(connection, { owesBegin: false });
  const executeQuery = connection.executeQuery.bind(connection);
  connection.executeQuery = async (query) => {
    for (const begin of takeBegin(connection)) await executeQuery(begin);
    return await executeQuery(query);
  };
}

/** Sends BEGIN with the first statement of a transaction: one round trip less where several are sent together. */
class TogetherDialect extends MysqlDialect {
  readonly #config: MysqlDialectConfig;
  constructor(config: MysqlDialectConfig) {
    super(config);
    this.#config = config;
  }
  override createDriver(): TogetherDriver {
    return new TogetherDriver(this.#config);
  }
}

class TogetherDriver extends MysqlDriver {
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const state = together.get(connection);
    if (state && !settings.isolationLevel && !settings.accessMode) state.owesBegin = true;
    else await super.beginTransaction(connection, settings);
  }
}

/** Opens a pool beside Kysely's. Each connection gets the same session settings before its first use. */
export function openConnectionPool(
  target: ConnectionTarget,
  choice?: HostChoice,
  { multipleStatements = false }: { multipleStatements?: boolean } = {},
): ConnectionPool & { countConnections(): PoolCounts } {
  const pools: Pool[] = [];
  const open = (one: ConnectionTarget): Pool => {
    const connectionLimit = target.connectionLimit ?? 1;
    const pool = mysql.createPool({ ...poolOptions(one), connectionLimit, multipleStatements });
    pools.push(pool);
    pool.on('connection', prepareSession);
    return pool;
  };
  const together = openEach(target, open, choice);
  return { ...together, countConnections: () => countConnections(pools) };
}

/** A pool for each host, behind one. */
function openEach(
  target: ConnectionTarget,
  open: (one: ConnectionTarget) => Pool,
  choice?: HostChoice,
): ConnectionPool {
  const pools = listHosts(target).map((host) => {
    const pool = open(host);
    const probe: Probe = (callback, msMax) =>
      // a read-only host can still be read
      askHost(
        poolOptions(host),
        (error, state) => callback(state?.refusal === 'not ready' ? refusalError('not ready') : error),
        msMax,
      );
    return {
      ...{ name: nameHost(host), isLocal: 'socketPath' in host, probe },
      getConnection: pool.getConnection.bind(pool),
      end: prepareEnd(pool),
      endIdle: endIdleSessions(poolOptions(host)),
    };
  });
  return createFailOverPool(pools, choice);
}

/** `db1:3306`, `[::1]:3306`, or the path of the socket. */
export function nameHost(target: ConnectionTarget): string {
  if ('socketPath' in target) return target.socketPath;
  return `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
}

/** Returns one target per host, in the order of their use. */
export function listHosts(target: ConnectionTarget): ConnectionTarget[] {
  if (!('others' in target) || !target.others) return [target];
  const { others, ...first } = target;
  return [first, ...others.map((other) => ({ ...first, ...other }))];
}

/** Creates the database if it does not exist. */
export async function ensureDatabase(target: ConnectionTarget, name: string): Promise<void> {
  const { database: _, ...server } = target;
  const connection = mysql.createConnection(poolOptions(server as ConnectionTarget));
  try {
    await connection.promise().query(`CREATE DATABASE IF NOT EXISTS ${mysql.escapeId(name)} CHARACTER SET utf8mb4`);
  } finally {
    connection.destroy();
  }
}

/** mysql2's options for one host. */
export function poolOptions({ ssl, ...target }: ConnectionTarget): PoolOptions {
  // with an IP address mysql2 would compare the certificate with `localhost`
  const verifyIdentity = 'host' in target && isIP(target.host) === 0;
  return {
    ...target,
    ...(ssl ? { ssl: { ...ssl, verifyIdentity } } : {}),
    connectTimeout: CONNECT_TIMEOUT_MS,
    // the system's own default is two hours
    enableKeepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    maxPreparedStatements: PREPARED_STATEMENTS_MAX,
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: ['DATE'],
    supportBigNumbers: true,
    typeCast: castField,
  };
}

/** Later statements queue behind these. A connection that can't be prepared fails them, and leaves its pool. */
function prepareSession(connection: PoolConnection): void {
  for (const statement of SESSION) connection.query(statement, (error) => error && abortConnection(connection));
}

/**
 * BIGINT named `…_cents` is a bigint (money), any other a number; VARBINARY is text compared byte for byte
 * (identifiers), BINARY and BLOB stay bytes; DATETIME is a Date in UTC, DATE a `YYYY-MM-DD`, DECIMAL a string.
 */
function castField(field: TypeCastField, next: () => unknown): unknown {
  switch (field.type) {
    case 'LONGLONG': {
      const text = field.string();
      if (text === null) return null;
      return field.name.endsWith('_cents') ? BigInt(text) : Number(text);
    }
    case 'VAR_STRING':
    case 'VARCHAR':
      return field.string('utf8');
    default:
      return next();
  }
}
