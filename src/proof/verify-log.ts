/**
 * Verifies the log: each leaf is that of its row, each seal has one, the stored tree is that of the leaves, each checkpoint is a
 * root of it and signed, by its witnesses too. At the end searches for what has no leaf, and compares the checkpoints in files.
 */
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { DAY_MS } from '../domain/calendar.ts';
import { readMonthChanges } from '../seal/read-month-closes.ts';
import { readHead } from '../seal/read-seals.ts';
import { writeMonthLeaf, writeSealLeaf } from '../tlog/append.ts';
import { CHECKPOINT_LIMITS, readNewestCheckpoint, readVerifiers } from '../tlog/checkpoints.ts';
import { hashLeaf, pushLeaf, rootOf } from '../tlog/merkle.ts';
import { findCosignature, isSignedNote, parseCheckpoint, parseSignatures } from '../tlog/note.ts';
import { readOrigins } from '../tlog/origins.ts';
import { readSize } from '../tlog/tree.ts';
import { listWitnesses } from '../tlog/witness-list.ts';
import { type CheckState, UNCOMMITTED_MAX, type Verification } from './check-state.ts';
import { BREAKS_KEPT_MAX, type ReportBreak } from './collect-breaks.ts';
import { verifyRecorded } from './verify-anchors.ts';
import { SEALED_WITHIN_MS } from './verify-sealed.ts';

const LEAVES_AT_ONCE = 4_000;
const NO_LEAF = 'it has no leaf in the log';

type LeafRow = Awaited<ReturnType<typeof readLeaves>>[number];

/** Verifies the next leaves; behind the newest one, what is stored elsewhere. */
export async function verifyLog(verification: Verification): Promise<boolean> {
  const { context, state, report } = verification;
  const rows = await readLeaves(context.db, state.log.size);
  if (rows.length === 0) {
    await verifyEnd(verification);
    return false;
  }
  const range = { size: state.log.size, nodes: state.log.nodes.map((hex) => Buffer.from(hex, 'hex')) };
  const { checkpoints, unverified } = await readCheckpoints(context, range.size, range.size + rows.length);
  const expected = await readExpected(context.db, rows);
  const tiles: { level: number; position: number; hash: Buffer }[] = [];
  for (const row of rows) {
    const fault = (says: string): void => report({ scope: `log ${row.position}`, says });
    if (row.position !== range.size) {
      fault(`the leaves after ${range.size - 1} are missing`);
      return false;
    }
    const own = expected.get(`${row.kind} ${row.ref}`);
    if (!own?.equals(row.hash))
      fault(own ? `it is not the leaf of ${row.kind} ${row.ref}` : `${row.kind} ${row.ref} is gone`);
    if (row.kind === 'seal' && row.ref !== null) {
      if (state.log.seal > 0 && row.ref !== state.log.seal + 1) fault(`the seals after ${state.log.seal} have no leaf`);
      state.log.seal = row.ref;
    }
    let width = 1;
    for (const [index, hash] of pushLeaf(range, row.hash).entries()) {
      width *= 256;
      tiles.push({ level: index + 1, position: range.size / width - 1, hash });
    }
    for (const one of checkpoints.get(range.size) ?? []) verifyCheckpoint(one, rootOf(range), report);
  }
  await verifyTiles(context.db, tiles, report);
  const nodes = range.nodes.map((hash) => hash.toString('hex'));
  state.log = { ...state.log, size: range.size, nodes, unverified: state.log.unverified + unverified };
  return true;
}

async function readLeaves(db: Reader, from: number) {
  return await db
    .selectFrom('log_hashes')
    .select(['position', 'kind', 'ref', 'hash'])
    .where('level', '=', 0)
    .where('position', '>=', from)
    .orderBy('position')
    .limit(LEAVES_AT_ONCE)
    .execute();
}

/** Makes the leaves again from what they are about. */
async function readExpected(db: Reader, rows: LeafRow[]): Promise<Map<string, Buffer>> {
  const refs = (kind: string): number[] =>
    rows.flatMap((row) => (row.kind === kind && row.ref !== null ? [row.ref] : []));
  const found = new Map<string, Buffer>();
  const [seals, days] = [refs('seal'), refs('day')];
  if (seals.length > 0) {
    const query = db.selectFrom('seals').select(['position', 'hash']).where('position', 'in', seals);
    for (const seal of await query.execute()) found.set(`seal ${seal.position}`, hashLeaf(writeSealLeaf(seal)));
  }
  if (days.length > 0) {
    const query = db.selectFrom('day_manifests').select(['seq', 'payload']).where('seq', 'in', days);
    for (const { seq, payload } of await query.execute()) found.set(`day ${seq}`, hashLeaf(payload));
  }
  if (refs('month').length === 0) return found;
  for (const { position, hash, digest, ...change } of await readMonthChanges(db)) {
    if (position === null || !hash || !digest) continue;
    found.set(`month ${change.seq}`, hashLeaf(writeMonthLeaf({ ...change, position, hash, digest })));
  }
  return found;
}

async function verifyTiles(
  db: Reader,
  tiles: { level: number; position: number; hash: Buffer }[],
  report: ReportBreak,
): Promise<void> {
  for (const { level, position, hash } of tiles) {
    const stored = await db
      .selectFrom('log_hashes')
      .select('hash')
      .where('level', '=', level)
      .where('position', '=', position)
      .executeTakeFirst();
    if (!stored?.hash.equals(hash))
      report({ scope: `log tile ${level}/${position}`, says: 'it is not that of its leaves' });
  }
}

type Checked = { size: number; root: Buffer; says: string[] };

/** Reads checkpoints by their size, each with what is wrong in itself. `unverified`: lines of witnesses whose key is not configured. */
async function readCheckpoints(context: Context, after: number, to: number) {
  const { db, config } = context;
  const rows = await db
    .selectFrom('log_checkpoints')
    .innerJoin('log_origins', 'log_origins.seq', 'origin_seq')
    .leftJoin('log_cosignatures', 'checkpoint_seq', 'log_checkpoints.seq')
    .select(['origin', 'size', 'root', 'note', 'witness', 'line'])
    .where('size', '>', after)
    .where('size', '<=', to)
    .execute();
  const witnesses = new Map(listWitnesses(config).map((witness) => [witness.name, witness]));
  const verifiers = new Map<string, Awaited<ReturnType<typeof readVerifiers>>>();
  const checked: Checked[] = [];
  let unverified = 0;
  for (const { origin, size, root, note, witness: name, line } of rows) {
    const known = verifiers.get(origin) ?? (await readVerifiers(db, origin));
    verifiers.set(origin, known);
    const parsed = parseCheckpoint(note);
    const isOwn = parsed?.origin === origin && parsed.size === size && parsed.root.equals(root);
    const says = isOwn && isSignedNote(parsed.text, parsed.signatures, known) ? [] : ['the log did not sign it'];
    const [witness, signatures] = [witnesses.get(name ?? ''), parseSignatures(line ?? '')];
    const isKnown = witness && signatures.every(({ keyId }) => keyId.equals(witness.keyId));
    if (name !== null && !isKnown) unverified++;
    else if (witness && parsed && !findCosignature(parsed.text, signatures, witness))
      says.push(`${name} did not countersign it`);
    checked.push({ size, root, says });
  }
  return { checkpoints: Map.groupBy(checked, ({ size }) => size), unverified };
}

function verifyCheckpoint({ size, root, says }: Checked, own: Buffer, report: ReportBreak): void {
  const scope = `checkpoint ${size}`;
  for (const one of says) report({ scope, says: one });
  if (!root.equals(own)) report({ scope, says: 'its root is not that of the leaves' });
}

async function verifyEnd({ context, state: { log }, proof, report }: Verification): Promise<void> {
  const { db, clock } = context;
  const size = await readSize(db);
  const origin = (await readOrigins(db)).at(-1);
  const newest = origin && (await readNewestCheckpoint(db, origin));
  const signed = Math.max(newest?.size ?? 0, log.size);
  if (signed > size)
    report({ scope: `log ${size}`, says: `${signed} leaves were signed or checked, and the log has fewer` });
  // later leaves were read
  if (proof && proof.log.seal > ((await readHead(db))?.position ?? 0))
    report({ scope: `seal ${proof.log.seal}`, says: 'it has a leaf in the log, and is gone' });
  await verifyRecentSeals(context, report);
  const before = new Date(clock.now().getTime() - SEALED_WITHIN_MS);
  const unlogged = await db
    .selectFrom('seals')
    .select('position')
    .where('position', '>', log.seal)
    .where('sealed_at', '<', before)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  if (log.seal > 0 && unlogged) report({ scope: `seal ${unlogged.position}`, says: NO_LEAF });
  await verifyDays(db, { log, before }, report);
  await verifyCloses(db, before, report);
  await verifyRecorded(context, report);
}

type End = { log: CheckState['log']; before: Date };

/**
 * Reports day manifests whose leaf is neither in the log nor in its queue. Those up to `log.days` have theirs: a leaf that goes
 * is found in the tree.
 */
async function verifyDays(db: Reader, { log, before }: End, report: ReportBreak): Promise<void> {
  const old = db.selectFrom('day_manifests').select('seq').where('made_at', '<', before);
  const rows = await old
    .where('seq', '>', log.days)
    .where('payload', 'like', '{"version":2,%')
    .where((eb) => {
      const of = eb.ref('day_manifests.seq');
      const leaf = eb.selectFrom('log_hashes').select('ref').where('kind', '=', 'day').where('ref', '=', of);
      const waiting = eb.selectFrom('log_queue').select('ref').where('kind', '=', 'day').where('ref', '=', of);
      return eb.not(eb.or([eb.exists(leaf), eb.exists(waiting)]));
    })
    .orderBy('seq')
    .limit(BREAKS_KEPT_MAX)
    .execute();
  for (const { seq } of rows) report({ scope: `day manifest ${seq}`, says: NO_LEAF });
  const newest = await old.orderBy('seq', 'desc').limit(1).executeTakeFirst();
  const waiting = await db
    .selectFrom('log_queue')
    .select('ref')
    .where('kind', '=', 'day')
    .orderBy('ref')
    .executeTakeFirst();
  log.days = Math.max(log.days, Math.min(newest?.seq ?? 0, waiting?.ref ?? Number.POSITIVE_INFINITY) - UNCOMMITTED_MAX);
}

/** Likewise of closes of months, from the position on with which the log begins. */
async function verifyCloses(db: Reader, before: Date, report: ReportBreak): Promise<void> {
  const leaves = db.selectFrom('log_hashes').select('ref');
  const first = await leaves.where('level', '=', 0).where('position', '=', 0).executeTakeFirst();
  // a close leaves the queue for the log
  const waiting = await db.selectFrom('log_queue').select('ref').where('kind', '=', 'month').execute();
  const logged = new Set([...waiting, ...(await leaves.where('kind', '=', 'month').execute())].map(({ ref }) => ref));
  for (const { seq, position, at } of await readMonthChanges(db))
    if (first && position !== null && position >= (first.ref ?? 0) && at < before && !logged.has(seq))
      report({ scope: `month close ${seq}`, says: NO_LEAF });
}

/** Compares the seals of the last days with their leaves: a check since a proof reads the leaves after it alone. */
async function verifyRecentSeals({ db, clock }: Context, report: ReportBreak): Promise<void> {
  const since = new Date(clock.now().getTime() - CHECKPOINT_LIMITS.files * DAY_MS);
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('seals')
      .innerJoin('log_hashes', (join) => join.onRef('ref', '=', 'seals.position').on('kind', '=', 'seal'))
      .select(['seals.position', 'seals.hash', 'log_hashes.hash as leaf'])
      .where('seals.position', '>', after)
      .where('sealed_at', '>=', since)
      .orderBy('seals.position')
      .limit(LEAVES_AT_ONCE)
      .execute();
    const changed = rows.find(({ leaf, ...seal }) => !hashLeaf(writeSealLeaf(seal)).equals(leaf));
    if (changed) report({ scope: `seal ${changed.position}`, says: 'it is not that of its leaf in the log' });
    const last = rows.at(-1);
    if (changed || !last || rows.length < LEAVES_AT_ONCE) return;
    after = last.position;
  }
}
