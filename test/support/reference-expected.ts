/**
 * The contract's tables of expected payments, read literally and slowly: each rule is a search over all pairs. It shares no code with
 * src/expected, so that a test can compare both.
 */
export type ReferenceExpected = {
  seq: number;
  source: string;
  operation: string;
  amount: number;
  platform: string | null;
  references: string[];
  e2eIds: string[];
  /** Codes by which an NF-e names its payments. */
  authorizations?: string[];
  extra: string | null;
  document: string | null;
  issued: number;
  due: number;
  cancelled: boolean;
};
export type ReferencePayment = {
  seq: number;
  operation: string;
  amount: number;
  platform: string | null;
  reference: string | null;
  e2eId: string | null;
  extra: string | null;
  document: string | null;
  day: number;
  state: 'pending' | 'settled' | 'returned' | 'none';
};
export type ReferencePairs = [expected: number, payment: number][];

/** Days are numbers. @returns `expected-payment rule` of each match that the rules make. */
export function matchByContract(
  expected: ReferenceExpected[],
  payments: ReferencePayment[],
  { byPerson, undone }: { byPerson: ReferencePairs; undone: ReferencePairs },
): string[] {
  const has = (pairs: ReferencePairs, e: ReferenceExpected, p: ReferencePayment) =>
    pairs.some(([one, other]) => one === e.seq && other === p.seq);
  const paid = payments.filter((p) => p.state === 'settled' || p.state === 'returned');
  const goesWith = (e: ReferenceExpected, p: ReferencePayment) =>
    e.operation === p.operation && (e.platform === null || e.platform === p.platform);
  const made: { e: ReferenceExpected; p: ReferencePayment; rule: string }[] = [];
  const leftPayments = () =>
    paid.filter((p) => !byPerson.some(([, other]) => other === p.seq) && !made.some((one) => one.p === p));
  const leftExpected = () =>
    expected.filter(
      (e) => !e.cancelled && !byPerson.some(([one]) => one === e.seq) && !made.some((one) => one.e === e),
    );

  for (const p of leftPayments()) {
    const byReference = (e: ReferenceExpected) => p.reference !== null && e.references.includes(p.reference);
    const byE2e = (e: ReferenceExpected) => p.e2eId !== null && e.e2eIds.includes(p.e2eId);
    const byInvoice = (e: ReferenceExpected) =>
      [p.e2eId, p.reference].some((key) => key !== null && e.authorizations?.includes(key));
    let named = expected.filter((e) => goesWith(e, p) && (byReference(e) || byE2e(e) || byInvoice(e)));
    if (named.length > 1) named = named.filter((e) => !e.cancelled);
    const [only] = named;
    if (named.length === 1 && only && !has(undone, only, p))
      made.push({ e: only, p, rule: byReference(only) ? 'reference' : byE2e(only) ? 'e2e_id' : 'invoice' });
  }
  for (const rule of ['extra', 'document'] as const) {
    const [es, ps] = [leftExpected(), leftPayments()];
    const belong = (e: ReferenceExpected, p: ReferencePayment) => {
      const isEqual =
        rule === 'extra'
          ? e.extra !== null && e.extra === p.extra
          : e.document !== null && e.document === p.document && e.amount === p.amount;
      const begins = e.source === 'nfe' ? e.issued - 10 : e.issued;
      return goesWith(e, p) && isEqual && p.day >= begins && p.day <= e.due + 30;
    };
    for (const e of es)
      for (const p of ps) {
        if (!belong(e, p) || has(undone, e, p)) continue;
        const isOnly =
          es.filter((one) => belong(one, p)).length === 1 && ps.filter((one) => belong(e, one)).length === 1;
        if (isOnly) made.push({ e, p, rule });
      }
  }
  return made.map(({ e, p, rule }) => `${e.seq}-${p.seq} ${rule}`).sort();
}

/** The table of states. `over`, `proven`: of the days from issue to end. @param parts amount and state of each part. */
export function stateByContract(
  { amount, cancelled, over, proven }: { amount: number; cancelled: boolean; over: boolean; proven: boolean },
  parts: { amount: number; state: string }[],
): string {
  const settled = parts.filter((part) => part.state === 'settled');
  const s = settled.reduce((total, part) => total + part.amount, 0);
  const r = parts.filter((part) => part.state === 'returned').reduce((total, part) => total + part.amount, 0);
  const n = settled.length;
  const lines: [boolean, string][] = [
    [cancelled && s > 0, 'paid_after_cancel'],
    [cancelled, 'cancelled'],
    [n >= 2 && s >= 2 * amount, 'paid_twice'],
    [s > amount, 'overpaid'],
    [s === amount, 'paid'],
    [s > 0 && r > 0, 'partly_refunded'],
    [s > 0, 'underpaid'],
    [r > 0, 'refunded'],
    [!over, 'open'],
    [proven, 'unpaid'],
  ];
  return lines.find(([fits]) => fits)?.[1] ?? 'not_proven';
}
