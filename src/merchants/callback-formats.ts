/** `standard`: our body, by Standard Webhooks. `provider`: the flat body and the bearer token that the provider posts. */
export const CALLBACK_FORMATS = ['standard', 'provider'] as const;
export type CallbackFormat = (typeof CALLBACK_FORMATS)[number];
