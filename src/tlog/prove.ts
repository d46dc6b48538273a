/** Serves the log: its checkpoint with cosignatures, and proofs that a leaf is in it (c2sp.org/tlog-proof@v1). */
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { readNewestCheckpoint, type StoredCheckpoint } from './checkpoints.ts';
import { proveInclusion } from './merkle.ts';
import { formatProof } from './note.ts';
import { readOrigin } from './origins.ts';
import { findLeaf, type Leaf, openTree } from './tree.ts';
import { listWitnesses } from './witness-list.ts';

/**
 * Returns the newest checkpoint that enough witnesses countersigned; the newest of all, if none of at least `size` leaves was.
 * @returns the signed note with its cosignatures; undefined while no checkpoint has as many leaves.
 */
export async function readPublished(context: Context, size = 1): Promise<{ size: number; note: string } | undefined> {
  const { db, config } = context;
  const origin = await readOrigin(context);
  const names = listWitnesses(config).map(({ name }) => name);
  const countersigned =
    names.length === 0
      ? undefined
      : await db
          .selectFrom('log_checkpoints as checkpoints')
          .select(['seq', 'size', 'root', 'note', 'made_at'])
          .where('origin_seq', '=', origin.seq)
          .where('size', '>=', size)
          // the newest that fits is the first one read
          .where(
            (eb) =>
              eb
                .selectFrom('log_cosignatures')
                .select((one) => one.fn.countAll().as('count'))
                .whereRef('checkpoint_seq', '=', 'checkpoints.seq')
                .where('witness', 'in', names),
            '>=',
            config.WITNESSES.quorum,
          )
          .orderBy('size', 'desc')
          .limit(1)
          .executeTakeFirst();
  const chosen = countersigned ?? (await readNewestCheckpoint(db, origin));
  if (!chosen || chosen.size < size) return undefined;
  return { size: chosen.size, note: chosen.note + (await readCosignatures(db, chosen)) };
}

async function readCosignatures(db: Reader, { seq }: StoredCheckpoint): Promise<string> {
  const rows = await db
    .selectFrom('log_cosignatures')
    .select('line')
    .where('checkpoint_seq', '=', seq)
    .orderBy('witness')
    .execute();
  return rows.map(({ line }) => `${line}\n`).join('');
}

/** @returns the proof; undefined while the leaf is under no checkpoint: a minute at most. */
export async function proveLeaf(context: Context, leaf: Pick<Leaf, 'kind' | 'ref'>): Promise<string | undefined> {
  const position = await findLeaf(context.db, leaf);
  if (position === undefined) return undefined;
  const published = await readPublished(context, position + 1);
  if (!published) return undefined;
  const node = await openTree(context.db, published.size, [position]);
  return formatProof(position, proveInclusion(position, published.size, node), published.note);
}
