import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { createProviderClient, type ProviderClient } from './client.ts';
import { openTokenBucket } from './open-token-bucket.ts';

/** Opens the client of the configured provider, with PROVIDER_RATE shared by all replicas. @throws ConfereError when none is set. */
export function openClient(context: Context): ProviderClient {
  const { PROVIDER_RATE } = context.config;
  const { signal, timers } = context;
  const budget = PROVIDER_RATE === 'off' ? undefined : openTokenBucket(context, PROVIDER_RATE);
  const now = (): Date => context.clock.now();
  return createProviderClient({ ...requireProvider(context.config), signal, timers, now, tokenBucket: budget });
}

/** @throws ConfereError when no provider is configured. */
export function requireProvider({ PROVIDER }: Context['config']): NonNullable<Context['config']['PROVIDER']> {
  if (!PROVIDER) throw new ConfereError('config_invalid', 'PROVIDER_URL and PROVIDER_API_KEY are required');
  return PROVIDER;
}
