import { addDays, type Day } from '../../../domain/calendar.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { type AnyPlan, spanOf } from '../../plan/report-plan.ts';
import type { Movement } from '../../read/read-movements.ts';
import { openTextFile } from './open-text-file.ts';
import type { FormatWork, Output } from './output.ts';

/** An account and its cents, debit positive. */
export type Leg = { account: string; cents: bigint };

/** How one program of plain text accounting spells a journal. */
export type JournalDialect = {
  /** Spells the name of an account: `Assets:Provider:Held:<platform>`. */
  nameAccount(account: string): string;
  /** Declares the commodity and the accounts, from `day` on. */
  renderHead(head: { day: Day; note: string; accounts: string[] }): string;
  renderEntry(entry: { day: Day; description: string; source?: EntrySource; legs: readonly Leg[] }): string;
  /** Asserts the balances at a day's end, against all entries before. */
  renderClosing(day: Day, balances: Leg[]): string;
};

/** Where an entry comes from: its number in the ledger, and the time of day. */
type EntrySource = { entrySeq: number; time: string };

/**
 * Opens a journal: it posts the balances before the first day as one entry, then each movement, and asserts the balances at
 * the end of each day. The entry is dated on the day before: a program's report of the days themselves (`-b DAY`) counts no
 * expense from before them. Descriptions hold kinds, statuses and ids, and no names. For a reader without the right to see people
 * a platform that holds a document shows as `***`; accounts that share a masked name add up.
 */
export async function openJournal(work: FormatWork, path: string, dialect: JournalDialect): Promise<Output> {
  const { plan, signal } = work;
  const eve = addDays(spanOf(plan).from, -1);
  const file = await openTextFile(path, signal);
  const balances = new Map<string, bigint>();
  const nameOf = memoize((name: string) => dialect.nameAccount(plan.masked ? maskAccount(name) : name));
  const post = (postings: readonly Leg[]): Leg[] => {
    const legs = postings.map(({ account, cents }) => ({ account: nameOf(account), cents }));
    for (const { account, cents } of legs) balances.set(account, (balances.get(account) ?? 0n) + cents);
    return legs;
  };
  const accounts = [...new Set(work.balances.map(({ account }) => nameOf(account)))];
  file.add(dialect.renderHead({ day: eve, note: describePlan(plan), accounts }));
  const opening = work.balances
    .map(({ account, before, opened }) => ({ account, cents: before + opened }))
    .filter((leg) => leg.cents !== 0n);
  if (opening.length > 0)
    file.add(dialect.renderEntry({ day: eve, description: 'opening balances', legs: post(opening) }));
  return {
    add({ movement }) {
      const { atWall, entrySeq, postings } = movement;
      const source = { entrySeq, time: atWall.slice(11) };
      const description = describeMovement(movement);
      file.add(dialect.renderEntry({ day: atWall.slice(0, 10), description, source, legs: post(postings) }));
    },
    endDay(ended) {
      const closing = [...balances].map(([account, cents]) => ({ account, cents }));
      if (closing.length > 0)
        file.add(
          dialect.renderClosing(
            ended,
            closing.sort((a, b) => (a.account < b.account ? -1 : 1)),
          ),
        );
    },
    drain: () => file.drain(),
    end: () => file.end(),
  };
}

function describeMovement({ isReversal, kind, status, transactionId }: Movement): string {
  return [isReversal ? 'reversal of' : '', kind.replaceAll('_', ' '), status, transactionId].filter(Boolean).join(' ');
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
