export const BREAKER_FAILURES = 10;
export const BREAKER_WINDOW_MS = 5 * 60_000;
export const PROBE_EVERY_MS = 5 * 60_000;
export const DISABLE_AFTER_MS = 5 * 24 * 3_600_000;

/**
 * Health of a merchant's endpoint. A success resets it. 10 failures in a row over at least 5 minutes open the breaker: its
 * callbacks are held, and one is sent as a probe every 5 minutes, until a success closes the breaker. LIMITS.callbackAlertMs
 * without a success is reported to ops and to the merchant; 5 days disable the merchant.
 */
export type MerchantHealth = {
  failures: number;
  failingSince: Date | null;
  breakerOpenedAt: Date | null;
  probeAt: Date | null;
};

export const NO_FAILURES: MerchantHealth = { failures: 0, failingSince: null, breakerOpenedAt: null, probeAt: null };

export function afterFailure(health: MerchantHealth, now: Date): MerchantHealth {
  const failures = health.failures + 1;
  const failingSince = health.failingSince ?? now;
  const opens = failures >= BREAKER_FAILURES && now.getTime() - failingSince.getTime() >= BREAKER_WINDOW_MS;
  const breakerOpenedAt = health.breakerOpenedAt ?? (opens ? now : null);
  const probeAt = health.probeAt ?? (breakerOpenedAt ? new Date(now.getTime() + PROBE_EVERY_MS) : null);
  return { failures, failingSince, breakerOpenedAt, probeAt };
}

/** Whether a merchant has failed for long enough to be disabled: evaluated after each failure. */
export function shouldDisable(health: MerchantHealth, now: Date): boolean {
  return health.failingSince !== null && now.getTime() - health.failingSince.getTime() >= DISABLE_AFTER_MS;
}

/** Whether a merchant's callbacks are held: no attempt is made, and no step of the schedule is used. */
export function holdsBack(merchant: {
  state: string;
  deleted_at: Date | null;
  breaker_opened_at: Date | null;
}): boolean {
  return merchant.state !== 'enabled' || merchant.deleted_at !== null || merchant.breaker_opened_at !== null;
}

/** Whether no attempt has succeeded for as long as opens the breaker: only then is it for operators to act. */
export function isFailing(failingSince: Date | string | null, now: Date): boolean {
  return failingSince !== null && now.getTime() - new Date(failingSince).getTime() >= BREAKER_WINDOW_MS;
}
