import type { Context } from '../context.ts';
import { failure, message } from '../texts/messages.ts';
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
  if (!PROVIDER) throw failure('config_invalid', message('provider.settings_missing'));
  return PROVIDER;
}
