/** One metric as it is read at a scrape: a gauge, or a counter that somebody else counts. */
export type Reading = {
  name: string;
  help: string;
  type?: 'counter';
  /** A number, or one for each combination of labels. Each known combination is there, with 0 if there is nothing. */
  values: number | LabelledValue[];
};

type LabelledValue = { labels: Record<string, string>; value: number };

/** Returns one value for each of these label values: 0 for those that `counts` lacks. */
export function byLabel(
  label: string,
  values: readonly string[],
  counts: ReadonlyMap<string, number>,
): LabelledValue[] {
  return values.map((value) => ({ labels: { [label]: value }, value: counts.get(value) ?? 0 }));
}

/** A count beyond it stays at it: counting millions would take seconds. */
export const COUNTED_MAX = 100_000;

/** Seconds from an instant to `now`; 0 without one, and never less. */
export function secondsSince(at: Date | null | undefined, now: Date): number {
  return at ? Math.max(0, now.getTime() - at.getTime()) / 1000 : 0;
}
