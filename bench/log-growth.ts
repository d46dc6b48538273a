import { sql } from 'kysely';
import type { Context } from '../src/context.ts';
import { transact } from '../src/database/transact.ts';
import { LEAVES_MAX } from '../src/tlog/append.ts';
import { makeCheckpoint } from '../src/tlog/checkpoints.ts';
import { hashLeaf, TILE_WIDTH } from '../src/tlog/merkle.ts';
import { proveLeaf } from '../src/tlog/prove.ts';
import { appendLeaves, readSize } from '../src/tlog/tree.ts';
import { type Figure, figure, QUICK } from './figure.ts';
import { measure, measureSizes, type Path } from './measure-growth.ts';
import { openEmpty } from './open-empty.ts';

const SIZES = { min: 100_000, max: QUICK ? 1_000_000 : 10_000_000, step: 10 };
const APPEND_MS_MAX = 0.2;
const PROOF_MS_MAX = 5;
const ROWS_AT_ONCE = 1_000_000;

/** The log's tree over up to ten million leaves, whose hashes are inserted by SQL: appending a batch, and proving a leaf. MariaDB only. */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const context = await openEmpty(stack);
  let [appendMs, proofMs] = [0, 0];
  const figures = await measureSizes(SIZES, async (size, record) => {
    await fill(context, size);
    const paths = listPaths(context, size);
    const [appended, proven] = [await measure(context, paths[0]), await measure(context, paths[1])];
    record(paths[0].name, appended);
    record(paths[1].name, proven);
    [appendMs, proofMs] = [appended.ms / LEAVES_MAX, proven.ms];
    return paths;
  });
  const of = `of ${SIZES.max.toLocaleString('en')} leaves`;
  return [
    ...figures,
    { ...figure(`a log ${of}: ms to append each in a batch`, appendMs, APPEND_MS_MAX), value: appendMs.toFixed(3) },
    figure(`a log ${of}: ms to prove a leaf`, proofMs, PROOF_MS_MAX),
  ];
}

function listPaths(context: Context, size: number): [Path, Path] {
  let ref = size;
  const append = async (): Promise<void> => {
    const leaves = Array.from({ length: LEAVES_MAX }, () => ({
      kind: 'seal' as const,
      ref: ++ref,
      hash: hashLeaf(`${ref}`),
    }));
    await transact(context.db, (trx) => appendLeaves(trx, leaves));
  };
  const prove = async (n: number): Promise<void> => {
    const proof = await proveLeaf(context, { kind: 'seal', ref: 1 + ((n * 2_654_435_761) % size) });
    if (proof === undefined) throw new Error('the leaf has no proof');
  };
  return [
    { name: `appending ${LEAVES_MAX} leaves to the log`, reads: 'a part', tries: 30, run: append },
    // the checkpoint is of the leaves before
    {
      name: 'proving a leaf of the log',
      reads: 'a part',
      tries: 100,
      run: prove,
      before: () => makeCheckpoint(context),
    },
  ];
}

/** Fills the levels up to a size. What the hashes are costs nothing. */
async function fill({ db }: Context, size: number): Promise<void> {
  await sql`SET GLOBAL innodb_flush_log_at_trx_commit = 0`.execute(db);
  for (let [level, width] = [0, 1]; width <= size; level++, width *= TILE_WIDTH) {
    const end = Math.floor(size / width);
    for (let from = level === 0 ? await readSize(db) : await countLevel(db, level); from < end; from += ROWS_AT_ONCE) {
      const to = Math.min(end, from + ROWS_AT_ONCE) - 1;
      const [kind, ref] = level === 0 ? [sql`'seal'`, sql`seq + 1`] : [sql`NULL`, sql`NULL`];
      await sql`INSERT INTO log_hashes (level, position, hash, kind, ref)
        SELECT ${sql.lit(level)}, seq, UNHEX(SHA2(seq, 256)), ${kind}, ${ref}
        FROM ${sql.raw(`seq_${from}_to_${to}`)}`.execute(db);
    }
  }
  await sql`SET GLOBAL innodb_flush_log_at_trx_commit = 1`.execute(db);
}

async function countLevel(db: Context['db'], level: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM log_hashes
    WHERE level = ${level}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
