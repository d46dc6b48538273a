/** The log's tree in the database: each hash of `log_hashes` is written once, by the sealer, and never changes. */
import type { Transaction } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { InvariantError } from '../domain/errors.ts';
import { splitList } from '../domain/lists.ts';
import { hashRange, hashTile, type ReadNode, TILE_WIDTH } from './merkle.ts';

const INSERT_ROWS = 500;

/** `ref`: `seals.position`, `month_closes.seq` or `day_manifests.seq`. `hash`: of the leaf. */
export type Leaf = { kind: 'seal' | 'month' | 'day'; ref: number; hash: Buffer };

/** How many leaves the log has. */
export async function readSize(db: Reader): Promise<number> {
  const row = await db
    .selectFrom('log_hashes')
    .select('position')
    .where('level', '=', 0)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? row.position + 1 : 0;
}

/** Returns the position of a leaf; undefined while it is not in the log. */
export async function findLeaf(db: Reader, { kind, ref }: Pick<Leaf, 'kind' | 'ref'>): Promise<number | undefined> {
  const row = await db
    .selectFrom('log_hashes')
    .select('position')
    .where('kind', '=', kind)
    .where('ref', '=', ref)
    .executeTakeFirst();
  return row?.position;
}

/** Returns the hashes of a level, from one position to before another. */
export async function readHashes(db: Reader, level: number, from: number, to: number): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('log_hashes')
    .select('hash')
    .where('level', '=', level)
    .where('position', '>=', from)
    .where('position', '<', to)
    .orderBy('position')
    .execute();
  return rows.map(({ hash }) => hash);
}

/**
 * Reads what a proof needs: on each level the tile of each leaf, and the newest one of the tree.
 * @throws InvariantError from the returned function for a hash that is not stored.
 */
export async function openTree(db: Reader, size: number, leaves: number[] = []): Promise<ReadNode> {
  const ranges: [level: number, from: number, to: number][] = [];
  for (let [level, width] = [0, 1]; width <= size; level++, width *= TILE_WIDTH) {
    const tiles = new Set([...leaves, size].map((leaf) => Math.floor(leaf / (width * TILE_WIDTH)) * TILE_WIDTH));
    for (const from of tiles) ranges.push([level, from, Math.min(from + TILE_WIDTH, Math.floor(size / width))]);
  }
  const rows = await db
    .selectFrom('log_hashes')
    .select(['level', 'position', 'hash'])
    .where((eb) =>
      eb.or(
        ranges.map(([level, from, to]) =>
          eb.and([eb('level', '=', level), eb('position', '>=', from), eb('position', '<', to)]),
        ),
      ),
    )
    .execute();
  const nodes = new Map(rows.map(({ level, position, hash }) => [`${level} ${position}`, hash]));
  return (level, position) => {
    const hash = nodes.get(`${level} ${position}`);
    if (!hash) throw new InvariantError(`the log lacks its hash ${position} of level ${level}`);
    return hash;
  };
}

/** The root of the first leaves. */
export async function readRoot(db: Reader, size: number): Promise<Buffer> {
  return hashRange(0, size, await openTree(db, size));
}

/** Appends leaves, and the hashes of the tiles that they complete. Under the lock of the sealers. */
export async function appendLeaves(trx: Transaction<Database>, leaves: Leaf[]): Promise<void> {
  let from = await readSize(trx);
  await insert(trx, 0, from, leaves);
  let hashes = leaves.map(({ hash }) => hash);
  for (let level = 0; ; level++) {
    const first = Math.floor(from / TILE_WIDTH);
    const end = Math.floor((from + hashes.length) / TILE_WIDTH);
    if (end === first) return;
    const all = [...(await readHashes(trx, level, first * TILE_WIDTH, from)), ...hashes];
    hashes = [...splitList(all, TILE_WIDTH)].slice(0, end - first).map(hashTile);
    from = first;
    await insert(
      trx,
      level + 1,
      from,
      hashes.map((hash) => ({ kind: null, ref: null, hash })),
    );
  }
}

type Row = { kind: Leaf['kind'] | null; ref: number | null; hash: Buffer };

async function insert(trx: Transaction<Database>, level: number, from: number, rows: Row[]): Promise<void> {
  const numbered = rows.map((row, index) => ({ level, position: from + index, ...row }));
  for (const some of splitList(numbered, INSERT_ROWS)) await trx.insertInto('log_hashes').values(some).execute();
}
