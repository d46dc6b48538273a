const met = new WeakSet<Error>();

/**
 * Keeps the process alive once nobody reads its output any more (`| head -1`, a log collector that restarts); by default Node
 * ends it. `serve` goes on, and a command finishes what it changes.
 */
export function surviveClosedOutput(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      met.add(error);
    });
  }
}

/** Whether an error only says that the reader of our output wanted no more: no fault of the command. */
export function isClosedOutput(error: unknown): boolean {
  return error instanceof Error && met.has(error);
}
