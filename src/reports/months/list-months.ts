import type { Context } from '../../context.ts';
import { addMonths, type Month, monthOf } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { maskNote } from '../../domain/person/mask-mismatch.ts';
import { maskAccount } from '../../domain/person/mask-person.ts';
import type { MonthBalance } from '../../seal/digest-month.ts';
import { listClosesInForce, type MonthChange, readMonthChanges } from '../../seal/read-month-closes.ts';
import { findMonthWithEntries } from '../plan/find-month-close.ts';
import { findLaterCloses, findLeftOpen, findRefusals } from './find-refusals.ts';
import { readShownBalances } from './read-shown-balances.ts';
import { presentRefusal, type Refusal } from './refusal.ts';

/** `running`: it has not ended; `open`: it ended and is not closed; `closed`. */
export type MonthState = 'running' | 'open' | 'closed';

export type ListedMonth = { month: Month; state: MonthState; close: MonthChange | undefined };

/** Lists the months from the first with entries to the running one, the newest first. */
export async function listMonths({ db, calendar, clock }: Context): Promise<ListedMonth[]> {
  const today = monthOf(calendar.dayOf(clock.now()));
  const changes = await readMonthChanges(db);
  const closes = new Map(listClosesInForce(changes).map((close) => [close.month, close]));
  const withEntries = await findMonthWithEntries(db, { after: undefined, before: addMonths(today, 1) });
  const [first = today] = [withEntries, ...changes.map(({ month }) => month)].filter((one) => one !== undefined).sort();
  const months: ListedMonth[] = [];
  for (let month = today; month >= first; month = addMonths(month, -1)) {
    const close = closes.get(month);
    months.push({ month, state: close ? 'closed' : month === today ? 'running' : 'open', close });
  }
  return months;
}

export type ShownMonth = ListedMonth & {
  /** Reasons that keep an open month from being closed. */
  refusals: Refusal[];
  /** The first earlier month that closing an open month leaves open. */
  leavesOpen: Month | undefined;
  /** Later months that keep a closed one from being reopened. */
  laterCloses: Refusal[];
  /** How it was closed and reopened, the newest first. */
  changes: MonthChange[];
  /** Balances that its close fixes; while it is open, those of now. */
  balances: MonthBalance[];
};

/** A month with its checklist and its history; undefined for a month that has not begun. */
export async function readMonth(context: Context, month: Month): Promise<ShownMonth | undefined> {
  const { db, calendar, clock } = context;
  const today = monthOf(calendar.dayOf(clock.now()));
  if (month > today) return undefined;
  const changes = await readMonthChanges(db, month);
  const [close] = listClosesInForce(changes);
  return {
    ...{ month, close, changes: changes.toReversed() },
    state: close ? 'closed' : month === today ? 'running' : 'open',
    refusals: close ? [] : await findRefusals(context, month),
    leavesOpen: close ? undefined : await findLeftOpen(db, month),
    laterCloses: close ? await findLaterCloses(db, month) : [],
    balances: await readShownBalances(context, month, close?.seq),
  };
}

/** A month as our API shows it. @param masked for a reader without the right to see people. */
export function presentMonth({ month, state, close }: ListedMonth, masked = false) {
  return {
    ...{ month, state },
    closed_at: close?.at.toISOString() ?? null,
    closed_by: close?.actor ?? null,
    note: presentNote(close?.note ?? null, masked),
    position: close?.position ?? null,
    chain_hash: close?.hash?.toString('hex') ?? null,
    digest: close?.digest?.toString('hex') ?? null,
  };
}

/** Presents a month with checklist, balances and history. */
export function presentShownMonth(shown: ShownMonth, masked = false) {
  const { refusals, leavesOpen, laterCloses, changes, balances } = shown;
  return {
    ...presentMonth(shown, masked),
    refusals: [...refusals, ...laterCloses].map((one) => presentRefusal(one, masked)),
    leaves_open: leavesOpen ?? null,
    balances: shown.close
      ? balances.map(({ account, openingCents, closingCents }) => ({
          account: masked ? maskAccount(account) : account,
          opening: formatAmount(openingCents),
          closing: formatAmount(closingCents),
        }))
      : null,
    changes: changes.map(({ action, at, actor, note, position }) => ({
      ...{ action, at: at.toISOString(), by: actor, note: presentNote(note, masked), position },
    })),
  };
}

function presentNote(note: string | null, masked: boolean): string | null {
  return masked ? maskNote(note) : note;
}
