import { createToken } from '../../src/access/tokens.ts';
import type { Context } from '../../src/context.ts';
import { issuePullToken } from '../../src/merchants/pull-token.ts';

/** Issues both tokens of the first merchant: the one that pulls its events, and the one of its portal. */
export async function issueMerchantTokens(context: Context): Promise<{ pullToken: string; portalToken: string }> {
  const merchant = await context.db.selectFrom('merchants').select('id').executeTakeFirstOrThrow();
  const pullToken = await issuePullToken(context, merchant.id);
  const { token } = await createToken(context, { name: 'portal', role: 'merchant', merchant: merchant.id });
  return { pullToken, portalToken: token };
}
