import type { Reader } from '../database/reader.ts';

/** A position of the hash chain: all entries up to it, and a hash that reveals any change of them. */
export type Seal = ReturnType<typeof toSeal>;

/** Number of seals that replicas of an older version may write during an upgrade: ten minutes. */
const OLD_POSITIONS_MAX = 600;

/** Returns the end of the chain, also from the tables of an earlier version; undefined while nothing is sealed. */
export async function readHead(db: Reader): Promise<Pick<Seal, 'position' | 'hash'> | undefined> {
  return await db
    .selectFrom('seals')
    .select(['position', 'hash'])
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Returns the newest seal; undefined while there is none. */
export async function readNewestSeal(db: Reader): Promise<Seal | undefined> {
  const row = await selectSeals(db).orderBy('position', 'desc').limit(1).executeTakeFirst();
  if (!row) return undefined;
  return { ...toSeal(row), auditSeq: row.audit_seq ?? (await readAuditBefore(db, row.position)) };
}

/** Reads the audit number of an earlier seal: a replica of an older version may have written the newest one. */
async function readAuditBefore(db: Reader, position: number): Promise<number> {
  const row = await db
    .selectFrom('seals')
    .select((eb) => eb.fn.max<number | null>('audit_seq').as('seq'))
    .where('position', '>', position - OLD_POSITIONS_MAX)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

/** Returns the seal at a position. */
export async function readSeal(db: Reader, position: number): Promise<Seal | undefined> {
  const row = await selectSeals(db).where('position', '=', position).executeTakeFirst();
  return row && toSeal(row);
}

/** Returns the newest seal made before an instant. */
export async function readSealBefore(db: Reader, instant: Date): Promise<Seal | undefined> {
  const row = await selectSeals(db)
    .where('sealed_at', '<', instant)
    .orderBy('sealed_at', 'desc')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toSeal(row);
}

function selectSeals(db: Reader) {
  return (
    db
      .selectFrom('seals')
      // the watermark at which it was sealed
      .select([
        'position',
        'entry_seq as entrySeq',
        'event_seq as eventSeq',
        'mismatch_change_seq as mismatchChangeSeq',
      ])
      // read with the numbers above, so that the seal is a cut; null: it is none, or an older version wrote it
      .select(['fact_change_seq as factChangeSeq', 'audit_seq', 'hash', 'sealed_at as sealedAt'])
  );
}

type SealRow = Awaited<ReturnType<ReturnType<typeof selectSeals>['execute']>>[number];

function toSeal({ audit_seq, ...row }: SealRow) {
  // the highest sealed audit row; 0 for a seal from before audit rows were sealed
  return { ...row, auditSeq: audit_seq ?? 0 };
}
