/**
 * The rows of *A receber*: orders that were due, paid, returned or changed in these days, and those that are overdue at the end of
 * them, each in the state that it had at the cut. What is found is a function of the cut: searches by facts of today find more, or are
 * widened to what changed after the cut, and each row is decided by its history up to it.
 */
import type { Reader } from '../../database/reader.ts';
import { addDays, type Calendar, type Day, type WallTime } from '../../domain/calendar.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';
import { append, groupValues, splitList } from '../../domain/lists.ts';
import type { ExpectedState } from '../../expected/decide/decide-state.ts';
import { OWED } from '../../expected/decide/split-amount.ts';
import type { OrdersCut } from '../plan/orders-cut.ts';
import type { Cut } from '../plan/report-plan.ts';
import type { FactsAtCut } from '../read/read-facts-at-cut.ts';
import { FINAL_STATUSES } from '../read/read-pending.ts';
import { selectMatchesAtCut } from './select-matches-at-cut.ts';

/** An order as of the cut. */
export type Receivable = {
  id: string;
  source: string;
  number: string;
  state: ExpectedState;
  stateAt: Date;
  dueDay: Day;
  platform: string | null;
  amountCents: bigint;
  settledCents: bigint;
  returnedCents: bigint;
  name: string | null;
  document: string | null;
  /** The person was erased. */
  forgotten: boolean;
};

export type ReceivableScope = {
  from: Day;
  to: Day;
  start: WallTime;
  end: WallTime;
  calendar: Pick<Calendar, 'startOfDay' | 'endOfDay'>;
  platform: string | undefined;
  cut: Pick<Cut, 'eventSeq'>;
  factsAtCut: Pick<FactsAtCut, 'outOfForce'>;
  orders: OrdersCut;
};

const CHUNK_ROWS = 500;
/** Orders in the order of their first arrival. Those that name no platform are in the files of all platforms alone. */
export async function* readReceivables(
  db: Reader,
  scope: ReceivableScope,
): AsyncGenerator<Receivable[], void, undefined> {
  // found by facts of the cut, so they are shown with any due day
  const moved = new Set([...(await listChanged(db, scope)), ...(await listPaid(db, scope))]);
  const seqs = [...new Set([...moved, ...(await listDue(db, scope))])].sort((a, b) => a - b);
  for (const some of splitList(seqs, CHUNK_ROWS)) {
    const rows = await readChunk(db, scope, some, moved);
    if (rows.length > 0) yield rows;
  }
}

/** Orders whose state or sums changed in the days. That an order came is no change of it. */
async function listChanged(db: Reader, { from, to, calendar, orders }: ReceivableScope): Promise<number[]> {
  const rows = await db
    .selectFrom('expected_changes')
    .innerJoin('expected_payments as head', 'head.seq', 'expected_seq')
    .select('expected_seq')
    .distinct()
    .where('head.operation', '=', 'cashin')
    .where('at', '>=', calendar.startOfDay(from))
    .where('at', '<', calendar.endOfDay(to))
    .where('expected_changes.seq', '<=', orders.changeSeq)
    .where((eb) =>
      eb.or([eb('expected_changes.sequence', '>', 1), eb('expected_changes.state', 'not in', ['open', 'not_proven'])]),
    )
    .execute();
  return rows.map((row) => row.expected_seq);
}

/** Orders of which a payment was paid or returned in the days. */
async function listPaid(db: Reader, { start, end, cut, factsAtCut, orders }: ReceivableScope): Promise<number[]> {
  const rows = await selectMatchesAtCut(db, orders)
    .innerJoin('events', 'events.transaction_seq', 'made.transaction_seq')
    .innerJoin('expected_payments as head', 'head.seq', 'made.expected_seq')
    .select('made.expected_seq')
    .distinct()
    .where('head.operation', '=', 'cashin')
    .where('events.at_wall', '>=', start)
    .where('events.at_wall', '<', end)
    .where('events.status', 'in', FINAL_STATUSES)
    .where('events.seq', '<=', cut.eventSeq)
    .$if(factsAtCut.outOfForce.length > 0, (query) => query.where('events.seq', 'not in', factsAtCut.outOfForce))
    .execute();
  return rows.map((row) => row.expected_seq);
}

/**
 * Orders that may have been due in the days, or overdue at their end: by their newest facts, or changed after the cut. Each condition
 * is a query with an index of its own.
 */
async function listDue(db: Reader, { from, to, orders }: ReceivableScope): Promise<number[]> {
  const heads = () => db.selectFrom('expected_payments as head').select('head.seq').where('operation', '=', 'cashin');
  const due = (first: Day) => heads().where('due_day', '>=', first).where('due_day', '<=', to);
  const oldest = addDays(to, -LATE_DAYS);
  const seqs: number[] = [];
  for (const query of [
    due(from),
    due(oldest).where('state', 'in', OWED),
    due(oldest)
      .innerJoin('expected_changes as later', 'later.expected_seq', 'head.seq')
      .where('later.seq', '>', orders.changeSeq),
    heads()
      .innerJoin('expected_versions as later', 'later.expected_id', 'head.id')
      .where('later.seq', '>', orders.versionSeq)
      .where('later.version', '>', 1),
  ])
    append(
      seqs,
      (await query.execute()).map(({ seq }) => seq),
    );
  return seqs;
}

async function readChunk(db: Reader, scope: ReceivableScope, seqs: number[], moved: ReadonlySet<number>) {
  const { orders } = scope;
  const heads = await db
    .selectFrom('expected_payments')
    .select(['seq', 'id', 'source', 'number'])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute();
  const changes = groupValues(
    await db
      .selectFrom('expected_changes')
      .select(['expected_seq', 'version', 'state', 'settled_cents', 'returned_cents', 'at'])
      .where('expected_seq', 'in', seqs)
      .where('seq', '<=', orders.changeSeq)
      .orderBy('expected_seq')
      .orderBy('sequence')
      .execute(),
    (row) => row.expected_seq,
    (row) => row,
  );
  const decided = new Map(heads.map(({ id, seq }) => [id, changes.get(seq)?.at(-1)?.version ?? 0]));
  const versions = await readVersions(db, scope, decided);
  return heads.flatMap(({ seq, id, source, number }): Receivable[] => {
    const [history, version] = [changes.get(seq) ?? [], versions.get(id)];
    const last = history.at(-1);
    // it came after the cut
    if (!last || !version || !isShown(scope, version.due_day, last.state, moved.has(seq))) return [];
    if (scope.platform !== undefined && version.platform !== scope.platform) return [];
    const before = history.findLastIndex(({ state }) => state !== last.state);
    return [
      {
        ...{ id, source, number, state: last.state as ExpectedState },
        stateAt: history[before + 1]?.at ?? last.at,
        ...{ dueDay: version.due_day, platform: version.platform, amountCents: version.amount_cents },
        ...{ settledCents: last.settled_cents, returnedCents: last.returned_cents },
        ...{ name: version.name, document: version.document },
        forgotten: version.document_hash !== null && version.document === null,
      },
    ];
  });
}

function isShown({ from, to }: ReceivableScope, dueDay: Day, state: string, isMoved: boolean): boolean {
  if (isMoved || (dueDay >= from && dueDay <= to)) return true;
  return dueDay <= to && dueDay >= addDays(to, -LATE_DAYS) && OWED.includes(state);
}

/**
 * The facts of each order as of the cut: of one that came while the cut was taken, if the state was decided by it.
 * @param decided the version of the last change, by the order's id.
 */
async function readVersions(db: Reader, { orders }: ReceivableScope, decided: ReadonlyMap<string, number>) {
  const rows = await db
    .selectFrom('expected_versions as version')
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'version.seq')
    .select(['expected_id', 'due_day', 'platform', 'amount_cents', 'document_hash', 'texts.name', 'texts.document'])
    .select(['version.seq', 'version.version'])
    .where('expected_id', 'in', [...decided.keys()])
    .orderBy('version')
    .execute();
  const isOfCut = (row: (typeof rows)[number]) =>
    row.seq <= orders.versionSeq || row.version <= (decided.get(row.expected_id) ?? 0);
  return new Map(rows.filter(isOfCut).map((row) => [row.expected_id, row]));
}
