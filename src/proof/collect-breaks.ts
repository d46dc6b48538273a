/** One place where the books are inconsistent. */
export type Break = {
  /** The scope of the mismatch: the place in a few words. */
  scope: string;
  /** A description for people. */
  says: string;
  transactionId?: string | undefined;
};

export type ReportBreak = (found: Break) => void;

export const BREAKS_KEPT_MAX = 200;
const SCOPE_CHARS_MAX = 150;

/** Collects breaks: counts all, stores the first ones. */
export function collectBreaks(): { report: ReportBreak; breaks: Break[]; count: () => number } {
  const breaks: Break[] = [];
  let count = 0;
  return {
    breaks,
    count: () => count,
    report: (found) => {
      count++;
      if (breaks.length < BREAKS_KEPT_MAX) breaks.push({ ...found, scope: found.scope.slice(0, SCOPE_CHARS_MAX) });
    },
  };
}
