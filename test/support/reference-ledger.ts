/**
 * An independent implementation of the journal: the table of design.md, line by line. It knows no entries, reversals or order
 * of observations, only the totals of a whole history by account and time.
 */
export type ReferenceInput = {
  operation: 'cashin' | 'cashout';
  amount: bigint;
  commission: bigint;
  platform: string;
  history: Moment[];
  opensAt?: string;
  returnsCommission?: boolean;
};

type Moment = { status: string; at: string };

/** Order of a status that came without a history: after those of its line and earlier ones, before later lines. */
const LINES = [['pending'], ['in_process', 'in_analysis'], ['paid', 'denied', 'canceled', 'expired'], ['refund']];

/**
 * Returns the history of a set of observations: the longest one, in the order of its array, independent of its times. A
 * status that came without a history is an event at the creation, or at the latest event before it, unless the history has
 * an event of that status.
 */
export function referenceHistory(real: Moment[], bare: { statuses: string[]; at: string }): Moment[] {
  const lineOf = (status: string): number => {
    const line = LINES.findIndex((statuses) => statuses.includes(status));
    return line < 0 ? 1 : line;
  };
  const history: (Moment & { isReal: boolean })[] = real.map((event) => ({ ...event, isReal: true }));
  const missing = LINES.flat()
    .concat('partially_paid', 'unreadable')
    .filter((status) => bare.statuses.includes(status));
  for (const line of [0, 1, 2, 3]) {
    for (const status of missing.filter((one) => lineOf(one) === line)) {
      if (real.some((event) => event.status === status)) continue;
      const later = history.findIndex((event) => event.isReal && lineOf(event.status) > line);
      history.splice(later < 0 ? history.length : later, 0, { status, at: bare.at, isReal: false });
    }
  }
  let latest = '';
  return history.map(({ status, at, isReal }) => {
    if (at > latest) latest = at;
    return { status, at: isReal ? at : latest };
  });
}

/** Returns the net cents by `account @ time`, without zeros. */
export function referenceLedger(input: ReferenceInput): Record<string, bigint> {
  const { operation, amount: X, commission: F, platform, history, opensAt = '', returnsCommission = false } = input;
  const totals: Record<string, bigint> = {};
  let at = '';
  let silent = false;
  const put = (account: string, cents: bigint): void => {
    const key = `${account}:${platform} @ ${at}`;
    if (!silent) totals[key] = (totals[key] ?? 0n) + cents;
  };
  const move = (to: string, from: string, cents: bigint): void => {
    put(to, cents);
    put(from, -cents);
  };
  const [AVAILABLE, HELD] = ['Assets:Provider:Available', 'Assets:Provider:Held'];
  const FEES = operation === 'cashin' ? 'Expenses:Commission:Cashin' : 'Expenses:Commission:Cashout';
  const isOut = operation === 'cashout';
  let state = 'none';

  let opened = opensAt === '';
  const open = (): void => {
    if (opened) return;
    opened = true;
    at = opensAt;
    silent = false;
    if (state === 'held') move(HELD, AVAILABLE, X);
  };

  let latest = opensAt;
  for (const event of history) {
    if (event.at >= opensAt) open();
    if (event.at > latest) latest = event.at;
    // an event after the opening that is dated before it gets the date of its predecessor
    at = opened && event.at < opensAt ? latest : event.at;
    silent = !opened;
    const { status } = event;
    if (['pending', 'in_process', 'in_analysis'].includes(status)) {
      if (isOut && state === 'none') {
        move(HELD, AVAILABLE, X);
        state = 'held';
      }
    } else if (status === 'paid') {
      if (state === 'settled') continue;
      if (isOut) move('Liabilities:Payables', state === 'held' ? HELD : AVAILABLE, X);
      else move(AVAILABLE, 'Liabilities:Receipts', X);
      move(FEES, AVAILABLE, F);
      state = 'settled';
    } else if (['denied', 'canceled', 'expired', 'refund'].includes(status)) {
      if (state === 'held') {
        move(AVAILABLE, HELD, X);
        state = 'none';
      } else if (state === 'settled') {
        if (isOut) move(AVAILABLE, 'Liabilities:Payables', X);
        else move('Liabilities:Receipts', AVAILABLE, X);
        if (returnsCommission) move(AVAILABLE, FEES, F);
        state = 'returned';
      }
    }
  }
  open();
  return Object.fromEntries(Object.entries(totals).filter(([, cents]) => cents !== 0n));
}
