import type { Reader } from '../database/reader.ts';
import { addDays } from '../domain/calendar.ts';
import type { ChangeRow } from './columns.ts';
import { boundsOf, type ReportPlan } from './plan.ts';
import { type AccountBalance, isBalance, namePlatform, readBalances, splitAccount } from './read-balances.ts';
import { type Change, readChanges } from './read-changes.ts';
import { type KnownThen, readKnownThen } from './read-facts.ts';
import { type EntriesOfCut, readEntriesOfCut } from './read-late.ts';
import { readStatements, type StatedBalance } from './read-statements.ts';
import { fill, formatMoment, say, type Texts } from './texts.ts';

type Books = { db: Reader; plan: ReportPlan; scope: EntriesOfCut; balances: AccountBalance[]; known: KnownThen };

/**
 * What Alterações says: what changed in the day since the revision before. After a revision of the running day it only
 * says so: everything that came later is new, and the other sheets tell it.
 */
export function describeChanges(books: Books, texts: Texts): { note: string; rows: AsyncIterable<ChangeRow[]> } {
  const { plan } = books;
  const { previous } = plan;
  if (!previous) return { note: texts.notes.none, rows: nothing() };
  if (previous.state === 'partial') {
    const at = formatMoment(plan.calendar.toWall(previous.madeAt));
    return { note: fill(texts.notes.afterPartial, { revision: previous.revision, at }), rows: nothing() };
  }
  return { note: texts.notes.changes, rows: listRows(books, previous, texts) };
}

async function* nothing(): AsyncGenerator<ChangeRow[], void, undefined> {}

async function* listRows(
  { db, plan, scope: now, balances, known }: Books,
  previous: NonNullable<ReportPlan['previous']>,
  texts: Texts,
): AsyncGenerator<ChangeRow[], void, undefined> {
  if (previous.state !== plan.state) yield [tellState(plan, previous, texts)];
  const bounds = boundsOf(plan.day, addDays(plan.day, 1));
  const then = await readEntriesOfCut(db, previous.cut);
  const before = await readBalances(db, { ...bounds, ...then });
  yield compareOpenings(plan, before, balances, texts);
  const old = await readStatements(db, { ...bounds, ...then, madeAt: previous.madeAt });
  const stated = await readStatements(db, { ...bounds, ...now, madeAt: plan.madeAt });
  yield compareStatements(plan, old, stated, texts);
  const knownBefore = await readKnownThen(db, { ...previous.cut, ...then });
  const scope = {
    ...bounds,
    from: { ...previous.cut, ...then },
    to: { ...plan.cut, late: now.late },
    platform: plan.platform,
    known,
    knownBefore,
  };
  for await (const changes of readChanges(db, scope)) yield changes.map((change) => toRow(change, texts));
}

function tellState(plan: ReportPlan, previous: NonNullable<ReportPlan['previous']>, texts: Texts): ChangeRow {
  const [before, after] = [texts.states[previous.state], texts.states[plan.state]];
  return {
    ...EMPTY,
    recordedAt: plan.madeAt,
    what: texts.changes.label,
    before,
    after,
    why: fill(texts.notes.label, { revision: previous.revision }),
  };
}

const EMPTY = {
  id: null,
  reference: null,
  platform: null,
  before: '',
  after: '',
  effectBefore: null,
  effectAfter: null,
  why: '',
  source: '',
};

/** A change in an earlier day, or a stated opening, moves the balance that this day starts from. Pure. */
function compareOpenings(
  plan: ReportPlan,
  before: AccountBalance[],
  after: AccountBalance[],
  texts: Texts,
): ChangeRow[] {
  const [old, now] = [sumOpenings(before), sumOpenings(after)];
  const only = plan.platform === undefined ? undefined : namePlatform(plan.platform);
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((platform) => only === undefined || only === platform)
    .filter((platform) => (old.get(platform) ?? 0n) !== (now.get(platform) ?? 0n))
    .sort()
    .map((platform) => ({
      ...EMPTY,
      recordedAt: plan.madeAt,
      platform,
      what: texts.changes.opening,
      effectBefore: old.get(platform) ?? 0n,
      effectAfter: now.get(platform) ?? 0n,
      why: texts.changes.earlierDay,
    }));
}

/** What a person stated since; what it says stands on Resumo. Pure. */
function compareStatements(
  plan: ReportPlan,
  before: StatedBalance[],
  after: StatedBalance[],
  texts: Texts,
): ChangeRow[] {
  const same = (a: StatedBalance, b: StatedBalance): boolean =>
    a.platform === b.platform && a.atWall === b.atWall && a.statedCents === b.statedCents;
  return after
    .filter((one) => plan.platform === undefined || one.platform === plan.platform)
    .filter((one) => !before.some((old) => same(old, one)))
    .map((one) => ({
      ...EMPTY,
      recordedAt: plan.madeAt,
      platform: one.platform,
      what: texts.changes.statement,
      why: texts.changes.person,
      source: texts.sources.person,
    }));
}

function sumOpenings(balances: AccountBalance[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { account, before, opened } of balances) {
    const { root, platform } = splitAccount(account);
    if (isBalance(root)) sums.set(platform, (sums.get(platform) ?? 0n) + before + opened);
  }
  return sums;
}

function toRow(change: Change, texts: Texts): ChangeRow {
  const status = (code: string | null): string => (code === null ? texts.changes.absent : say(texts.statuses, code));
  const person = change.transactionId === null;
  const statuses = change.learnt.map((code) => say(texts.statuses, code).toLowerCase()).join(', ');
  return {
    recordedAt: change.recordedAt,
    id: change.transactionId,
    reference: change.reference,
    platform: change.platform,
    what: person ? texts.changes.movement : texts.changes.transaction,
    before: person ? '' : status(change.statusBefore),
    after: person ? '' : status(change.statusAfter),
    effectBefore: change.effectBefore,
    effectAfter: change.effectAfter,
    why: fill(texts.changes[change.why], { statuses }),
    source: person ? texts.sources.person : tellSource(change.source, texts),
  };
}

function tellSource(source: Change['source'], texts: Texts): string {
  const name = say(texts.sources, source.kind);
  // the id that our API shows for a webhook: the first 128 bits of its body's hash
  if (source.webhookHash) return `${name} wh_${source.webhookHash.subarray(0, 16).toString('hex')}`;
  if (source.runId === null) return name;
  return source.page === null ? `${name} ${source.runId}` : `${name} ${source.runId} p. ${source.page}`;
}
