/**
 * Loops over rows whose length or texts others choose. One thread serves everybody: a loop runs in slices, and between two
 * slices all else that waits has its turn. Of several such loops one continues in a turn: thirty must not make it thirty
 * times as long.
 */

/** A longer slice is noticed by others; a shorter one spends its time on turns. */
const SLICE_MS = 10;

const waiting: (() => void)[] = [];

/** Resolves when everything that waits now has had its turn, and so have the loops that asked before. */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueOne);
  });
}

function continueOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueOne);
}

/**
 * Creates the pauses of one loop, which are awaited in each round.
 * @returns a function that waits for a turn at the loop's start and at the end of each slice, else returns undefined.
 */
export function createPauses(): () => Promise<void> | undefined {
  let endsAtMs = Number.NEGATIVE_INFINITY;
  const begin = async (): Promise<void> => {
    await takeTurn();
    endsAtMs = performance.now() + SLICE_MS;
  };
  return () => (performance.now() > endsAtMs ? begin() : undefined);
}

/** Maps each row, in order and in turns with others. @throws what `map` throws. */
export async function mapInTurns<Row, Result>(rows: Iterable<Row>, map: (row: Row) => Result): Promise<Result[]> {
  const results: Result[] = [];
  const pause = createPauses();
  for (const row of rows) {
    const paused = pause();
    if (paused) await paused;
    results.push(map(row));
  }
  return results;
}
