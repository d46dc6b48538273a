import type { Reader } from '../../database/reader.ts';
import { addDays } from '../../domain/calendar.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { type PreviousRevision, type ReportPlan, STATE_RANK, toWallTimeBounds } from '../plan/report-plan.ts';
import { maskChanges } from '../read/mask-rows.ts';
import { type AccountBalance, filterPlatform, readBalances } from '../read/read-balances.ts';
import { type DayChange, readChanges } from '../read/read-changes.ts';
import { type CutEntries, readCutEntries } from '../read/read-cut-entries.ts';
import { type FactsAtCut, readFactsAtCut } from '../read/read-facts-at-cut.ts';
import { listChangedStatements, readStatements, type StatedBalance } from '../read/read-statements.ts';
import { describeCode, fill, formatLocalAmount, formatLocalCount, formatMoment, type Texts } from '../texts/texts.ts';
import type { ChangeRow } from './columns.ts';
import { compareOpenings, EMPTY_CHANGE, sumDayMovements } from './compare-openings.ts';
import { type Counted, compareStatusCounts } from './compare-status-counts.ts';
import { isProven } from './write-summary.ts';

type Books = {
  db: Reader;
  plan: ReportPlan;
  scope: CutEntries;
  balances: AccountBalance[];
  known: FactsAtCut;
  /** Of the day's rows. */
  digest: Buffer;
};

/**
 * What Alterações says: what changed in the day since the revision before. After a revision of the running day it says
 * that, and by how much the day has moved since: everything that came later is new, and the other sheets tell it.
 */
export function describeChanges(books: Books, texts: Texts): { note: string; rows: AsyncIterable<ChangeRow[]> } {
  const { plan } = books;
  const { previous } = plan;
  if (!previous) return { note: texts.notes.none, rows: nothing() };
  const rows = listRows(books, previous, texts);
  if (previous.state !== 'partial') return { note: texts.notes.changes, rows };
  const at = formatMoment(plan.calendar.toWallTime(previous.madeAt));
  return { note: fill(texts.notes.afterPartial, { revision: previous.revision, at }), rows };
}

async function* nothing(): AsyncGenerator<ChangeRow[], void, undefined> {}

async function* listRows(
  books: Books,
  previous: PreviousRevision,
  texts: Texts,
): AsyncGenerator<ChangeRow[], void, undefined> {
  const { db, plan, scope: now, balances } = books;
  const bounds = toWallTimeBounds(plan.day, addDays(plan.day, 1));
  const then = await readCutEntries(db, previous.cut);
  const before = filterPlatform(await readBalances(db, { ...bounds, ...then }), plan.platform);
  const old = await readStatements(db, { ...bounds, ...then, madeAt: previous.madeAt });
  const stated = await readStatements(db, { ...bounds, ...now, madeAt: plan.madeAt });
  let count = 0;
  for (const rows of [
    tellState(plan, previous, { before, after: balances }, texts),
    tellProof(plan, previous, texts),
    compareOpenings(plan, before, balances, texts),
    compareStatements(plan, old, stated, texts),
  ]) {
    yield rows;
    count += rows.length;
  }
  if (previous.state !== 'partial') {
    let transactions = 0;
    for await (const rows of listTransactions(books, previous, texts)) {
      yield rows;
      transactions += rows.length;
    }
    const counted = transactions === 0 ? await tellCounts(books, previous, texts) : [];
    yield counted;
    count += transactions + counted.length;
  }
  if (count === 0 && plan.platform === undefined && !books.digest.equals(previous.digest)) {
    yield [tellDigest(plan, previous, books.digest, texts)];
  }
}

async function* listTransactions(
  { db, plan, scope: now, known }: Books,
  previous: PreviousRevision,
  texts: Texts,
): AsyncGenerator<ChangeRow[], void, undefined> {
  const then = await readCutEntries(db, previous.cut);
  const scope = {
    ...toWallTimeBounds(plan.day, addDays(plan.day, 1)),
    from: { ...previous.cut, ...then },
    to: { ...plan.cut, lateEntries: now.lateEntries },
    platform: plan.platform,
    factsAtCut: known,
    factsAtPreviousCut: await readFactsAtCut(db, { ...previous.cut, ...then }),
  };
  for await (const changes of readChanges(db, scope)) {
    const shown = plan.masked ? await maskChanges(db, changes) : changes;
    yield shown.map((change) => toRow(change, texts));
  }
}

/** The day's label, where it is another one or the revision before was made while the day was running. */
function tellState(
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

/** That the day was read whole since. */
function tellProof(plan: ReportPlan, previous: PreviousRevision, texts: Texts): ChangeRow[] {
  const { proof } = plan;
  if (!proof || previous.proven || !isProven(plan)) return [];
  const { proof: what, unproven: before, proven: after, provenWhy } = texts.changes;
  const why = fill(provenWhy, { at: formatMoment(plan.calendar.toWallTime(proof.askedAt)) });
  const source = `${texts.sources.list} ${proof.runId}`;
  return [{ ...EMPTY_CHANGE, recordedAt: plan.madeAt, what, before, after, why, source }];
}

/** What Resumo counts otherwise, where no transaction tells of it: `Cashin · Pago`, and how many for how much. */
async function tellCounts({ db, plan }: Books, previous: PreviousRevision, texts: Texts): Promise<ChangeRow[]> {
  const tell = (one: Counted): string =>
    `${formatLocalCount(one.count, texts)} · ${formatLocalAmount(one.amountCents, texts)}`;
  const changed = await compareStatusCounts(db, plan, previous);
  return changed.map(({ operation, status, before, after }) => ({
    ...EMPTY_CHANGE,
    recordedAt: plan.madeAt,
    what: `${describeCode(texts.operations, operation)} · ${describeCode(texts.statuses, status)}`,
    before: tell(before),
    after: tell(after),
    why: fill(texts.changes.countsWhy, { section: texts.summary.counts }),
  }));
}

/** The last resort: what differs has no row of its own, so the digests say at least that something does. */
function tellDigest(plan: ReportPlan, { revision, digest }: PreviousRevision, now: Buffer, texts: Texts): ChangeRow {
  const tell = (one: Buffer): string => one.toString('hex').slice(0, DIGEST_CHARS);
  const { rows: what, rowsWhy } = texts.changes;
  const why = fill(rowsWhy, { revision });
  return { ...EMPTY_CHANGE, recordedAt: plan.madeAt, what, before: tell(digest), after: tell(now), why };
}

const DIGEST_CHARS = 12;

/** What a person stated since; what it says stands on Resumo. Pure. */
function compareStatements(
  plan: ReportPlan,
  before: StatedBalance[],
  after: StatedBalance[],
  texts: Texts,
): ChangeRow[] {
  const tell = (one: Pick<StatedBalance, 'statedCents'> | undefined): string =>
    one ? formatLocalAmount(one.statedCents, texts) : '';
  return listChangedStatements(before, after)
    .filter((one) => plan.platform === undefined || one.after.platform === plan.platform)
    .map((one) => ({
      ...EMPTY_CHANGE,
      recordedAt: plan.madeAt,
      platform: plan.masked ? maskPlatform(one.after.platform) : one.after.platform,
      what: texts.changes.statement,
      before: tell(one.before),
      after: tell(one.after),
      why: texts.changes.person,
      source: texts.sources.person,
    }));
}

function toRow(change: DayChange, texts: Texts): ChangeRow {
  const status = (code: string | null): string =>
    code === null ? texts.changes.absent : describeCode(texts.statuses, code);
  const person = change.transactionId === null;
  const statuses = change.learntStatuses.map((code) => describeCode(texts.statuses, code).toLowerCase()).join(', ');
  return {
    recordedAt: change.recordedAt,
    id: change.transactionId,
    reference: change.reference,
    platform: change.platform,
    what: person ? texts.changes.movement : texts.changes.transaction,
    before: person ? '' : [status(change.statusBefore), ...tellFacts(change, 'before', texts)].join(', '),
    after: person ? '' : [status(change.statusAfter), ...tellFacts(change, 'after', texts)].join(', '),
    effectBefore: change.effectBefore,
    effectAfter: change.effectAfter,
    why: fill(texts.changes[change.reason], { statuses }),
    source: person ? texts.sources.person : tellSource(change.source, texts),
  };
}

/** `referência pedido-1`: what was filled in or corrected, as it was at either cut. */
function tellFacts({ facts }: DayChange, when: 'before' | 'after', texts: Texts): string[] {
  return facts.map((fact) => {
    const value = fact[when];
    const words = texts.columns[fact.name === 'amount_cents' ? 'amount' : fact.name].toLowerCase();
    if (value === null) return `${words} –`;
    if (fact.name === 'amount_cents') return `${words} ${formatLocalAmount(BigInt(value), texts)}`;
    return `${words} ${fact.name === 'operation' ? describeCode(texts.operations, value).toLowerCase() : value}`;
  });
}

function tellSource(source: DayChange['source'], texts: Texts): string {
  if (source.kind === null) return '';
  const name = describeCode(texts.sources, source.kind);
  // the id that our API shows for a webhook: the first 128 bits of its body's hash
  if (source.webhookHash) return `${name} wh_${source.webhookHash.subarray(0, 16).toString('hex')}`;
  if (source.runId === null) return name;
  return source.page === null ? `${name} ${source.runId}` : `${name} ${source.runId} p. ${source.page}`;
}
