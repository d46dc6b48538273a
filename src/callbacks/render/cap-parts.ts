type Matched = { transaction_seq: number; part: number | null; amount_cents: bigint };

/** Cuts the parts of each payment to its amount, the last part first: a correction may have lowered it since. Pure. */
export function capParts<M extends Matched>(matches: readonly M[], amountOf: (seq: number) => bigint): M[] {
  const left = new Map<number, bigint>();
  return matches
    .toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0))
    .flatMap((row) => {
      const rest = left.get(row.transaction_seq) ?? amountOf(row.transaction_seq);
      const isWhole = row.amount_cents <= rest;
      const taken = isWhole ? row.amount_cents : rest;
      left.set(row.transaction_seq, rest - taken);
      return taken > 0n ? [{ ...row, amount_cents: taken }] : [];
    });
}
