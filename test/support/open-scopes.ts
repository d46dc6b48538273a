import { createToken } from '../../src/access/tokens.ts';
import type { Context } from '../../src/context.ts';
import { findScopeByToken, type MerchantScope } from '../../src/portal/open-scope.ts';

/** A token of a merchant's portal. @param merchant its id. */
export async function createMerchantToken(context: Context, merchant: string, name = 'engineer'): Promise<string> {
  return (await createToken(context, { name, role: 'merchant', merchant })).token;
}

/** The scope of a merchant, as a request of now has it. */
export async function openScopeOf(context: Context, token: string): Promise<MerchantScope> {
  const scope = await findScopeByToken(context, token);
  if (!scope) throw new Error('the token opens nothing');
  return scope;
}
