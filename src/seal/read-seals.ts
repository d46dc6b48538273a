import type { Reader } from '../database/reader.ts';

/** A sealed position: all entries up to it, and the hash that none of them can change without showing. */
export type Seal = {
  position: number;
  /** The highest numbers that were settled when it was sealed. */
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  /** The highest row of the audit; 0 where it was sealed before they were. */
  auditSeq: number;
  hash: Buffer;
  sealedAt: Date;
};

/** Positions that replicas of an older version may have sealed while others were upgraded: ten minutes of them. */
const OLD_POSITIONS_MAX = 600;

/** The newest sealed position; undefined while nothing was sealed yet. */
export async function readNewestSeal(db: Reader): Promise<Seal | undefined> {
  const row = await selectSeals(db).orderBy('position', 'desc').limit(1).executeTakeFirst();
  if (!row) return undefined;
  return { ...toSeal(row), auditSeq: row.audit_seq ?? (await readAuditBefore(db, row.position)) };
}

/** A replica of the version before may have sealed last: up to where the audit was sealed stands a little before it. */
async function readAuditBefore(db: Reader, position: number): Promise<number> {
  const row = await db
    .selectFrom('seals')
    .select((eb) => eb.fn.max<number | null>('audit_seq').as('seq'))
    .where('position', '>', position - OLD_POSITIONS_MAX)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

/** One sealed position, as a report or a question names it. */
export async function readSeal(db: Reader, position: number): Promise<Seal | undefined> {
  const row = await selectSeals(db).where('position', '=', position).executeTakeFirst();
  return row && toSeal(row);
}

/** The newest position that was sealed before an instant. */
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
  return db
    .selectFrom('seals')
    .select(['position', 'entry_seq', 'event_seq', 'mismatch_change_seq', 'audit_seq', 'hash', 'sealed_at']);
}

type SealRow = Awaited<ReturnType<ReturnType<typeof selectSeals>['execute']>>[number];

function toSeal(row: SealRow): Seal {
  return {
    position: row.position,
    entrySeq: row.entry_seq,
    eventSeq: row.event_seq,
    mismatchChangeSeq: row.mismatch_change_seq,
    auditSeq: row.audit_seq ?? 0,
    hash: row.hash,
    sealedAt: row.sealed_at,
  };
}
