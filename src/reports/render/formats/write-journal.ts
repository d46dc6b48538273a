import { addDays, type Day } from '../../../domain/calendar.ts';
import { compareText } from '../../../domain/lists.ts';
import { formatAmount } from '../../../domain/money.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { type AnyPlan, spanOf } from '../../plan/report-plan.ts';
import type { Movement } from '../../read/read-movements.ts';
import { openTextFile } from './open-text-file.ts';
import type { FormatWork, Output } from './output.ts';

/** An account and its cents, debit positive. */
export type Leg = { account: string; cents: bigint };

type Entry = { day: Day; description: string; source?: EntrySource; legs: readonly Leg[] };

/** Where an entry comes from: its number in the ledger, and the time of day. */
type EntrySource = { entrySeq: number; time: string };

const COMMODITY = 'BRL';

/**
 * Opens a journal for hledger: it posts the balances before the first day as one entry, then each movement, and asserts the balances at
 * the end of each day. The entry is dated on the day before: a program's report of the days themselves (`-b DAY`) counts no
 * expense from before them. Descriptions hold kinds, statuses and ids, and no names. For a reader without the right to see people
 * a platform that holds a document shows as `***`; accounts that share a masked name add up.
 */
export async function openJournal(work: FormatWork, path: string): Promise<Output> {
  const { file, post, ...output } = await startJournal(work, path);
  const legs = listLegs(work, ({ before, opened }) => before + opened);
  const day = addDays(spanOf(work.plan).from, -1);
  if (legs.length > 0) file.add(renderEntry({ day, description: 'opening balances', legs: post(legs) }));
  return output;
}

/**
 * Opens a journal that continues the one of the days before: both are included together. It has no entry of opening balances, but for
 * those that were stated for its first day; what changed closed months comes first, dated its first day. Its assertions are those of
 * all days: they fail where the journal before it is missing, or of another cut.
 */
export async function continueJournal(work: FormatWork, path: string): Promise<Output> {
  const { file, post, nameLegs, ...output } = await startJournal(work, path);
  const { from: day } = spanOf(work.plan);
  post(listLegs(work, ({ before, opened }) => before + opened));
  const stated = listLegs(work, ({ opened }) => opened);
  if (stated.length > 0) file.add(renderEntry({ day, description: 'opening balances', legs: nameLegs(stated) }));
  return {
    ...output,
    addEarlier(movement) {
      const description = `earlier month, ${movement.atWall.slice(0, 10)}: ${describeMovement(movement)}`;
      file.add(renderEntry({ day, description, source: sourceOf(movement), legs: nameLegs(movement.postings) }));
    },
  };
}

function listLegs({ balances }: FormatWork, centsOf: (balance: FormatWork['balances'][number]) => bigint): Leg[] {
  return balances
    .map((balance) => ({ account: balance.account, cents: centsOf(balance) }))
    .filter((leg) => leg.cents !== 0n);
}

/** Writes the head. `post` counts legs for the assertions, and returns them under the names that the reader sees. */
async function startJournal(work: FormatWork, path: string) {
  const { plan, signal } = work;
  const file = await openTextFile(path, signal);
  const balances = new Map<string, bigint>();
  const nameOf = memoize((name: string) => (plan.masked ? maskAccount(name) : name));
  const nameLegs = (postings: readonly Leg[]): Leg[] =>
    postings.map(({ account, cents }) => ({ account: nameOf(account), cents }));
  const post = (postings: readonly Leg[]): Leg[] => {
    const legs = nameLegs(postings);
    for (const { account, cents } of legs) balances.set(account, (balances.get(account) ?? 0n) + cents);
    return legs;
  };
  const accounts = [...new Set(work.balances.map(({ account }) => nameOf(account)))];
  file.add(renderHead(describePlan(plan), accounts));
  const output: Output = {
    add({ movement }) {
      const day = movement.atWall.slice(0, 10);
      const description = describeMovement(movement);
      file.add(renderEntry({ day, description, source: sourceOf(movement), legs: post(movement.postings) }));
    },
    endDay(ended) {
      const closing = [...balances].map(([account, cents]) => ({ account, cents }));
      if (closing.length > 0)
        file.add(
          renderClosing(
            ended,
            closing.sort((a, b) => compareText(a.account, b.account)),
          ),
        );
    },
    drain: () => file.drain(),
    end: () => file.end(),
  };
  return { file, post, nameLegs, ...output };
}

function sourceOf({ atWall, entrySeq }: Movement): EntrySource {
  return { entrySeq, time: atWall.slice(11) };
}

function renderHead(note: string, accounts: string[]): string {
  const declared = accounts.map((account) => `account ${account}\n`).join('');
  return `; ${plain(note)}\n\ncommodity 1000.00 ${COMMODITY}\n\n${declared}`;
}

function renderEntry({ day, description, source, legs }: Entry): string {
  const comment = source ? `  ; ${source.time} entry:${source.entrySeq}` : '';
  let text = `\n${day} * ${plain(description)}${comment}\n`;
  for (const { account, cents } of legs) text += `    ${account}  ${formatAmount(cents)} ${COMMODITY}\n`;
  return text;
}

/** Asserts the balances at a day's end by an entry of zeros: assertions check the order of the file. */
function renderClosing(day: Day, balances: Leg[]): string {
  const asserted = balances.map(
    ({ account, cents }) => `    ${account}  0.00 ${COMMODITY} = ${formatAmount(cents)} ${COMMODITY}\n`,
  );
  return `\n${day} * closing balances\n${asserted.join('')}`;
}

/** A provider's id or status is free text for Confere: characters with a meaning in the format become blanks. */
function plain(text: string): string {
  return text.replace(/[;|\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim();
}

function describeMovement({ isReversal, kind, status, transactionId, adjustment }: Movement): string {
  const name = adjustment ? `${kind} ${adjustment.kind}` : kind.replaceAll('_', ' ');
  return [isReversal ? 'reversal of' : '', name, status, transactionId, adjustment?.note].filter(Boolean).join(' ');
}

function describePlan(plan: AnyPlan): string {
  const { from, to } = spanOf(plan);
  const { cut } = plan;
  const chain = cut.sealHash ? `, chain ${cut.position} sha256:${cut.sealHash.toString('hex')}` : '';
  const name = 'days' in plan ? `${from} to ${to}` : `${from}, revision ${plan.revision}`;
  return `Confere, ${name}, cut ${cut.entrySeq}${chain}`;
}

/** A journal names a few accounts in every entry; masking reads each name in several spellings. */
function memoize(name: (account: string) => string): (account: string) => string {
  const names = new Map<string, string>();
  return (account) => {
    const known = names.get(account) ?? name(account);
    names.set(account, known);
    return known;
  };
}
