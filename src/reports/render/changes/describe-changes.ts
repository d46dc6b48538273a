/**
 * The rows of Alterações: what changed in a day since the revision before. Two cuts are compared; decision 33 says why.
 * After a revision of the running day there is one row with the day's movement so far: the other sheets list what is new.
 */
import { addDays } from '../../../domain/calendar.ts';
import { maskPlatform } from '../../../domain/person/mask-person.ts';
import { describeCode, fill } from '../../../texts/fill.ts';
import { formatLocalAmount, formatLocalCount, formatMoment, type Texts } from '../../../texts/reports/texts.ts';
import {
  type AnyPlan,
  isProven,
  type PreviousRevision,
  type ReportPlan,
  STATE_RANK,
  toWallTimeBounds,
} from '../../plan/report-plan.ts';
import { maskChanges } from '../../read/mask-rows.ts';
import { type AccountBalance, filterPlatform, readAccountBalances } from '../../read/read-accounts.ts';
import { type DayChange, readChanges } from '../../read/read-changes.ts';
import { type CutEntries, readCutEntries } from '../../read/read-cut-entries.ts';
import { readFactsAtCut } from '../../read/read-facts-at-cut.ts';
import { listChangedStatements, readNewestStatements, type StatedBalance } from '../../read/read-statements.ts';
import type { ChangeRow } from '../columns.ts';
import { nameMovement, namePerson } from '../name-movement.ts';
import { nameEntered, type ReportWork } from '../report-work.ts';
import { compareOpenings, EMPTY_CHANGE, sumDayMovements } from './compare-openings.ts';
import { describeOrders } from './compare-orders.ts';
import { type Counted, compareStatusCounts } from './compare-status-counts.ts';

type Work = Pick<ReportWork, 'db' | 'plan' | 'scope' | 'balances' | 'factsAtCut' | 'rendering' | 'shares'>;
type Previous = { revision: PreviousRevision; entries: CutEntries };

const DIGEST_CHARS = 12;

/** @param digest of the day's rows. @returns the line under the sheet's title, and the rows in chunks. */
export function describeChanges(work: Work, digest: Buffer): { note: string; rows: AsyncIterable<ChangeRow[]> } {
  const { plan, rendering } = work;
  const { previous } = plan;
  const { notes } = rendering.texts;
  const rows = listRows(work, digest);
  if (!previous) return { note: notes.none, rows };
  if (previous.state !== 'partial') return { note: notes.changes, rows };
  const at = formatMoment(plan.calendar.toWallTime(previous.madeAt));
  return { note: fill(notes.afterPartial, { revision: previous.revision, at }), rows };
}

async function* listRows(work: Work, digest: Buffer): AsyncGenerator<ChangeRow[], void, undefined> {
  const { db, plan, balances, rendering } = work;
  const { texts } = rendering;
  const { previous } = plan;
  if (!previous) return;
  const bounds = toWallTimeBounds(plan.day, addDays(plan.day, 1));
  const entries = await readCutEntries(db, previous.cut);
  const before = filterPlatform(await readAccountBalances(db, { ...bounds, ...entries }), plan.platform);
  const statedBefore = await readNewestStatements(db, { ...bounds, madeAt: previous.madeAt });
  const stated = await readNewestStatements(db, { ...bounds, madeAt: plan.madeAt });
  const rows = [
    ...describeState(plan, previous, { before, after: balances }, texts),
    ...describeProof(plan, previous, texts),
    ...compareOpenings(plan, before, balances, texts),
    ...compareStatements(plan, statedBefore, stated, texts),
    ...(await describeOrders(work, { revision: previous, entries })),
  ];
  yield rows;
  let count = rows.length;
  if (previous.state !== 'partial') {
    let transactions = 0;
    for await (const chunk of listTransactions(work, { revision: previous, entries })) {
      yield chunk;
      transactions += chunk.length;
    }
    const counts = transactions === 0 ? await describeCounts(work, previous) : [];
    yield counts;
    count += transactions + counts.length;
  }
  if (count === 0 && plan.platform === undefined && !digest.equals(previous.digest)) {
    yield [describeDigest(plan, previous, digest, texts)];
  }
}

async function* listTransactions(
  { db, plan, scope, factsAtCut, rendering }: Work,
  previous: Previous,
): AsyncGenerator<ChangeRow[], void, undefined> {
  const from = { ...previous.revision.cut, ...previous.entries };
  const compared = {
    ...toWallTimeBounds(plan.day, addDays(plan.day, 1)),
    from,
    to: { ...plan.cut, lateEntries: scope.lateEntries },
    platform: plan.platform,
    factsAtCut,
    factsAtPreviousCut: await readFactsAtCut(db, from),
  };
  for await (const changes of readChanges(db, compared)) {
    yield await toChangeRows({ db, plan, rendering }, changes);
  }
}

/** The day's state, if it changed or the revision before was made while the day was running. */
function describeState(
  plan: ReportPlan,
  previous: PreviousRevision,
  { before, after }: { before: AccountBalance[]; after: AccountBalance[] },
  texts: Texts,
): ChangeRow[] {
  const wasRunning = previous.state === 'partial';
  if (previous.state === plan.state && !wasRunning) return [];
  const { label, labelLost, labelPartial } = texts.notes;
  const why = wasRunning ? labelPartial : STATE_RANK[plan.state] < STATE_RANK[previous.state] ? labelLost : label;
  const at = formatMoment(plan.calendar.toWallTime(previous.madeAt));
  const row = {
    ...EMPTY_CHANGE,
    recordedAt: plan.madeAt,
    what: texts.changes.label,
    before: texts.states[previous.state],
    after: texts.states[plan.state],
    why: fill(why, { revision: previous.revision, at }),
  };
  return [wasRunning ? { ...row, effectBefore: sumDayMovements(before), effectAfter: sumDayMovements(after) } : row];
}

/** One row if the day was proven since. */
function describeProof(plan: ReportPlan, previous: PreviousRevision, texts: Texts): ChangeRow[] {
  const { reading, countedAt } = plan;
  const at = reading?.askedAt ?? countedAt;
  if (!at || previous.proven || !isProven(plan)) return [];
  const { proof: what, unproven: before, proven: after, provenWhy, countedWhy } = texts.changes;
  const why = fill(reading ? provenWhy : countedWhy, { at: formatMoment(plan.calendar.toWallTime(at)) });
  const source = [texts.sources.list, reading?.runId].filter(Boolean).join(' ');
  return [{ ...EMPTY_CHANGE, recordedAt: plan.madeAt, what, before, after, why, source }];
}

/** Changed counts of Resumo (`Cashin · Pago`, number and sum), for a revision without a row for a transaction. */
async function describeCounts({ db, plan, rendering }: Work, previous: PreviousRevision): Promise<ChangeRow[]> {
  const { texts } = rendering;
  const describe = (one: Counted): string =>
    `${formatLocalCount(one.count, texts)} · ${formatLocalAmount(one.amountCents, texts)}`;
  const changed = await compareStatusCounts(db, plan, previous);
  return changed.map(({ operation, status, before, after }) => ({
    ...EMPTY_CHANGE,
    recordedAt: plan.madeAt,
    what: `${describeCode(texts.operations, operation)} · ${describeCode(texts.statuses, status)}`,
    before: describe(before),
    after: describe(after),
    why: fill(texts.changes.countsWhy, { section: texts.summary.counts }),
  }));
}

/** Used when the digests differ and no other row explains the change. */
function describeDigest(plan: ReportPlan, previous: PreviousRevision, digest: Buffer, texts: Texts): ChangeRow {
  const shorten = (one: Buffer): string => one.toString('hex').slice(0, DIGEST_CHARS);
  const { rows: what, rowsWhy } = texts.changes;
  const [before, after] = [shorten(previous.digest), shorten(digest)];
  const why = fill(rowsWhy, { revision: previous.revision });
  return { ...EMPTY_CHANGE, recordedAt: plan.madeAt, what, before, after, why };
}

type Stated = Omit<StatedBalance, 'ledgerCents'>;

/** Balances that a person has stated since. Pure. */
function compareStatements(plan: ReportPlan, before: Stated[], after: Stated[], texts: Texts): ChangeRow[] {
  const format = (one: Stated | undefined): string => (one ? formatLocalAmount(one.statedCents, texts) : '');
  return listChangedStatements(before, after)
    .filter((one) => plan.platform === undefined || one.after.platform === plan.platform)
    .map((one) => ({
      ...EMPTY_CHANGE,
      recordedAt: plan.madeAt,
      platform: plan.masked ? maskPlatform(one.after.platform) : one.after.platform,
      what: texts.changes.statement,
      before: format(one.before),
      after: format(one.after),
      why: texts.changes.person,
      source: texts.sources.person,
    }));
}

/** Changes as rows, in words, as this reader sees them. */
export async function toChangeRows(
  work: Pick<ReportWork<AnyPlan>, 'db' | 'plan' | 'rendering'>,
  changes: DayChange[],
): Promise<ChangeRow[]> {
  const shown = await nameEntered(work, work.plan.masked ? await maskChanges(work.db, changes) : changes);
  return shown.map((change) => toChangeRow(change, work.rendering.texts));
}

function toChangeRow(change: DayChange, texts: Texts): ChangeRow {
  const { recordedAt, transactionId: id, reference, platform, effectBefore, effectAfter } = change;
  const status = (code: string | null): string =>
    code === null ? texts.changes.absent : describeCode(texts.statuses, code);
  const person = id === null;
  const statuses = change.learntStatuses.map((code) => describeCode(texts.statuses, code).toLowerCase()).join(', ');
  return {
    ...{ recordedAt, id, reference, platform, effectBefore, effectAfter },
    what: person ? texts.changes.movement : texts.changes.transaction,
    before: person ? '' : [status(change.statusBefore), ...describeFacts(change, 'before', texts)].join(', '),
    after: person
      ? nameEntry(change, texts)
      : [status(change.statusAfter), ...describeFacts(change, 'after', texts)].join(', '),
    why: fill(texts.changes[change.reason], { statuses }),
    source: person ? namePerson(change.adjustment, texts) : describeSource(change.source, texts),
  };
}

/** The kind and the note of what a person entered. */
function nameEntry({ adjustment, isReversal, effectAfter: netCents }: DayChange, texts: Texts): string {
  return nameMovement({ kind: 'adjustment', adjustment, isReversal, netCents }, texts);
}

/** `referência pedido-1`: facts that were filled in or corrected, as either cut has them. */
function describeFacts({ facts }: DayChange, when: 'before' | 'after', texts: Texts): string[] {
  return facts.map((fact) => {
    const value = fact[when];
    const words = texts.columns[fact.name === 'amount_cents' ? 'amount' : fact.name].toLowerCase();
    if (value === null) return `${words} –`;
    if (fact.name === 'amount_cents') return `${words} ${formatLocalAmount(BigInt(value), texts)}`;
    return `${words} ${fact.name === 'operation' ? describeCode(texts.operations, value).toLowerCase() : value}`;
  });
}

function describeSource(source: DayChange['source'], texts: Texts): string {
  if (source.kind === null) return '';
  const name = describeCode(texts.sources, source.kind);
  // a webhook's id in our API is the first 128 bits of its body's hash
  if (source.webhookHash) return `${name} wh_${source.webhookHash.subarray(0, 16).toString('hex')}`;
  if (source.runId === null) return name;
  return source.page === null ? `${name} ${source.runId}` : `${name} ${source.runId} p. ${source.page}`;
}
