const WAIT_MS_MAX = 50_000;
/** The pause after each ask: at first short, then a tenth of the time that has passed, so that a long wait costs little. */
const [POLL_MS_MIN, POLL_MS_MAX] = [10, 100];

type Ask<T> = () => T | Promise<T>;

/**
 * Polls until the answer is neither false nor undefined. Tests poll with this function only.
 * @throws Error that names `what`, after WAIT_MS_MAX.
 */
export async function eventually<T>(
  ...[first, second]: [ask: Ask<T>] | [what: string, ask: Ask<T>]
): Promise<Exclude<NonNullable<T>, false>> {
  const [what, ask] = typeof first === 'string' ? [first, second as Ask<T>] : ['the condition', first];
  const beganMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<NonNullable<T>, false>;
    const passedMs = performance.now() - beganMs;
    if (passedMs > WAIT_MS_MAX) throw new Error(`${what} did not come true within ${WAIT_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(passedMs / 10, POLL_MS_MIN), POLL_MS_MAX)));
  }
}
