/** One place where the books do not prove themselves. */
export type Break = {
  /** Where, in few words: it is what the mismatch is told apart by. */
  scope: string;
  /** What should be, and is not. */
  says: string;
  transactionId?: string;
};

export type ReportBreak = (found: Break) => void;

const KEPT_MAX = 200;
const SCOPE_CHARS_MAX = 150;

/** Collects breaks: all are counted, the first ones are kept. */
export function collectBreaks(): { tell: ReportBreak; breaks: Break[]; count: () => number } {
  const breaks: Break[] = [];
  let count = 0;
  return {
    breaks,
    count: () => count,
    tell: (found) => {
      count++;
      if (breaks.length < KEPT_MAX) breaks.push({ ...found, scope: found.scope.slice(0, SCOPE_CHARS_MAX) });
    },
  };
}
