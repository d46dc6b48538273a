/** How far a wait of the schedule is drawn around it. */
export const JITTER = 0.2;
/** Upper bound on a merchant's Retry-After: a wrong one must not delay a payment for a year. */
export const RETRY_AFTER_MS_MAX = 3_600_000;

/** The result of one HTTP attempt. */
export type AttemptResult = {
  status: number | null;
  errorClass: ErrorClass | null;
  retryAfterMs: number | undefined;
};

export type ErrorClass =
  | 'http_status'
  | 'redirect'
  | 'gone'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'forbidden_address'
  | 'connection_lost'
  | 'bad_response'
  | 'headers_too_large'
  | 'not_renderable'
  /** The merchant's format has no body for it: nothing was sent. */
  | 'no_provider_body';

export type AttemptedCallback = {
  isTest: boolean;
  /** Sent as a probe of a failing merchant: it uses up no step of the schedule. */
  isProbe: boolean;
  step: number;
  firstFailedAt: Date | null;
};

export type Outcome =
  | { state: 'delivered' }
  | { state: 'pending'; step: number; delayMs: number }
  | { state: 'held'; step: number }
  | { state: 'failed' };

/** A 2xx is delivered; all else is not. */
export function isDelivered(result: AttemptResult): boolean {
  return result.status !== null && result.status >= 200 && result.status < 300;
}

/** Whether an attempt says something of the merchant's address: it got no 2xx. */
export function isFailure(result: AttemptResult): boolean {
  return !isDelivered(result) && result.errorClass !== 'no_provider_body';
}

/**
 * Decides the next state of a callback after an attempt. Pure.
 * @param merchant as it is after this attempt: whether its callbacks are held, and since when none has succeeded.
 */
export function decideOutcome(
  callback: AttemptedCallback,
  result: AttemptResult,
  merchant: { holdsBack: boolean; failingSince: Date | null },
  options: { schedule: number[]; random: number; now: Date },
): Outcome {
  if (isDelivered(result)) return { state: 'delivered' };
  if (callback.isTest || result.errorClass === 'no_provider_body') return { state: 'failed' };
  if (callback.isProbe) return { state: 'held', step: callback.step };
  const { retryAfterMs } = result;
  const delayMs = nextDelayMs(options.schedule, callback.step, { random: options.random, retryAfterMs });
  const step = callback.step + 1;
  if (delayMs !== undefined) return merchant.holdsBack ? { state: 'held', step } : { state: 'pending', step, delayMs };
  // the schedule is used up: failed only if another callback succeeded meanwhile; otherwise the merchant was down
  const firstFailedAt = callback.firstFailedAt ?? options.now;
  const noneSucceeded = merchant.failingSince !== null && merchant.failingSince <= firstFailedAt;
  return merchant.holdsBack || noneSucceeded ? { state: 'held', step } : { state: 'failed' };
}

/**
 * How long to wait after a failed attempt: the schedule's step ±20 %, and at least the merchant's Retry-After.
 * @param step how many steps of the schedule were used before this failure.
 * @param random from 0 to 1.
 * @returns undefined when the schedule is used up.
 */
export function nextDelayMs(
  schedule: number[],
  step: number,
  options: { random: number; retryAfterMs: number | undefined },
): number | undefined {
  const base = schedule[step];
  if (base === undefined) return undefined;
  const jittered = Math.round(base * (1 - JITTER + 2 * JITTER * options.random));
  return Math.max(jittered, Math.min(options.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX));
}

/** Whether a response asks for fewer parallel requests. */
export function signalsOverload(result: AttemptResult): boolean {
  return (
    result.status === 429 ||
    result.status === 502 ||
    result.status === 504 ||
    result.errorClass === 'timeout' ||
    result.errorClass === 'connect'
  );
}
