/**
 * Runs `work` with a time limit. At the limit the promise rejects and the signal of `work` aborts; its later result or
 * error is ignored.
 * @throws the error of `work`, or of `timeoutError`.
 */
export async function withTimeLimit<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  timeoutError: () => Error = () => new Error(`timed out after ${ms} ms`),
): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = timeoutError();
      reject(error);
      controller.abort(error);
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
