/** The mismatches of fees that a change of contracts ends, changes, leaves and opens; its rows add up to those of now and of then. */
import { isDeepStrictEqual } from 'node:util';
import type { Reader } from '../../../database/reader.ts';
import { addDays } from '../../../domain/calendar.ts';
import type { DayDifference, Span } from '../../../ledger/stated/read-fees.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatCount, money } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';

type Sum = { count: number; cents: bigint };
const NAMES = ['ended', 'changed', 'kept', 'opened'] as const;
/** `now` and `later`: none where there is none of that moment. */
type Effect = Record<(typeof NAMES)[number], { now?: Sum; later?: Sum }>;

const keyOf = ({ day, platform }: DayDifference): string => `${day} ${platform}`;

/** Compares the days before and after. A mismatch that a person resolved stays so while its day does not change. */
export async function compareMismatches(
  db: Reader,
  { from, to }: Span,
  { before, after }: Record<'before' | 'after', DayDifference[]>,
): Promise<Effect> {
  const rows = await db
    .selectFrom('mismatches')
    .select('scope')
    .where('kind', '=', 'commission_not_agreed')
    .where('kept_scope', 'is not', null)
    .where('scope', '>=', from)
    .where('scope', '<', addDays(to, 1))
    .execute();
  const decided = new Set(rows.map(({ scope }) => scope));
  const [was, becomes] = [before, after].map((days) => new Map(days.map((one) => [keyOf(one), one])));
  const isSame = (key: string): boolean => isDeepStrictEqual(was?.get(key), becomes?.get(key));
  const open = before.filter((one) => one.differing > 0 && !decided.has(keyOf(one)));
  const opened = after.filter((one) => one.differing > 0 && !(decided.has(keyOf(one)) && isSame(keyOf(one))));
  const [openNow, openLater] = [open, opened].map((days) => new Set(days.map(keyOf)));
  const pick = (days: DayDifference[], other: Set<string> | undefined, want: (key: string) => boolean): Sum =>
    addUp(days.filter((one) => other?.has(keyOf(one)) && want(keyOf(one))));
  const without = (days: DayDifference[], other: Set<string> | undefined): Sum =>
    addUp(days.filter((one) => !other?.has(keyOf(one))));
  const isOther = (key: string): boolean => !isSame(key);
  return {
    ended: { now: without(open, openLater) },
    changed: { now: pick(open, openLater, isOther), later: pick(opened, openNow, isOther) },
    kept: { now: pick(open, openLater, isSame), later: pick(opened, openNow, isSame) },
    opened: { later: without(opened, openNow) },
  };
}

/** Adds up what is at stake, as the mismatch of each day has it. */
function addUp(days: DayDifference[]): Sum {
  const stakeOf = ({ charged, agreed }: DayDifference): bigint =>
    charged > agreed ? charged - agreed : agreed - charged;
  return { count: days.length, cents: days.reduce((sum, one) => sum + stakeOf(one), 0n) };
}

const TITLES: Record<(typeof NAMES)[number], Label> = {
  ended: 'Terminam',
  changed: 'Mudam de valor',
  kept: 'Ficam como estão',
  opened: 'Abrem',
};

/** The table of an effect, with its sums; nothing where no mismatch is open, then or now. */
export function effectTable(effect: Effect): Part {
  const add = (side: 'now' | 'later'): Sum => {
    const sums = NAMES.flatMap((name) => effect[name][side] ?? []);
    return {
      count: sums.reduce((all, one) => all + one.count, 0),
      cents: sums.reduce((all, one) => all + one.cents, 0n),
    };
  };
  const [now, later] = [add('now'), add('later')];
  if (now.count + later.count === 0) return undefined;
  const rows = [
    ...NAMES.map((name) => ({ head: translate(TITLES[name]) as Part, ...effect[name] })),
    { head: html`<b>${t('Soma')}</b>`, now, later },
  ];
  const countOf = (sum: Sum | undefined): Html | string => (sum ? formatCount(sum.count) : EMPTY_VALUE);
  const centsOf = (sum: Sum | undefined): Html => (sum ? money(sum.cents) : EMPTY_VALUE);
  return table({
    caption: 'Divergências de tarifas, agora e depois',
    rows,
    empty: '',
    columns: [
      { title: 'Divergências', cell: (row) => row.head },
      { title: 'Em aberto agora', cell: (row) => countOf(row.now), align: 'end' },
      { title: 'Em jogo agora', cell: (row) => centsOf(row.now), align: 'end' },
      { title: 'Em aberto depois', cell: (row) => countOf(row.later), align: 'end' },
      { title: 'Em jogo depois', cell: (row) => centsOf(row.later), align: 'end' },
    ],
  });
}
