import type { Request, Response } from 'express';
import type { Context } from '../../context.ts';
import { findMerchantByPullToken } from '../../merchants/pull-token.ts';
import type { MerchantRow } from '../../merchants/read-merchants.ts';
import { refuse } from '../../texts/refuse.ts';
import { markAuthenticated } from '../connections/mark-authenticated.ts';
import { readBearer } from './authorize.ts';
import type { AuthGuard } from './guard-auth-attempts.ts';
import { createMerchantLimit, MERCHANT_REQUESTS_PER_S_MAX } from './limit-merchant.ts';

/**
 * Returns a function that finds the merchant whose pull token a request has, and limits the requests of each.
 * @param onLimited called for a request that is refused for the limit.
 * @throws (the function) ConfereError `unauthorized`, `too_many_requests`.
 */
export function createPullAdmission(
  context: Context,
  guard: AuthGuard,
  onLimited?: () => void,
): (request: Request, response: Response) => Promise<MerchantRow> {
  const admitRead = createMerchantLimit(context);
  return async (request, response) => {
    const credential = readBearer(request);
    const attempt = { kind: 'pull', address: request.ip, credential: credential ?? '' } as const;
    const merchant = credential && (await guard.admit(attempt, () => findMerchantByPullToken(context, credential)));
    if (!merchant) {
      throw refuse('pull_token_missing');
    }
    markAuthenticated(response);
    if (admitRead(merchant.seq)) return merchant;
    onLimited?.();
    throw refuse('merchant_reads_limited', { n: MERCHANT_REQUESTS_PER_S_MAX }, { retryAfterS: 1 });
  };
}
