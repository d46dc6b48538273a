const WAIT_MS_MAX = 50_000;
const POLL_MS = 10;

type Ask<T> = () => T | Promise<T>;

/**
 * Polls until the answer is neither false nor undefined. Tests poll with this function only.
 * @throws Error that names `what`, after WAIT_MS_MAX.
 */
export async function eventually<T>(
  ...[first, second]: [ask: Ask<T>] | [what: string, ask: Ask<T>]
): Promise<Exclude<NonNullable<T>, false>> {
  const [what, ask] = typeof first === 'string' ? [first, second as Ask<T>] : ['the condition', first];
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<NonNullable<T>, false>;
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${WAIT_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
