import { ConfereError, type ErrorCode, type Message } from '../domain/errors.ts';
import { describeSaid } from '../texts/messages.ts';

export type ProviderErrorCode = Extract<ErrorCode, `provider_${string}`>;

/**
 * A failure of the provider's service or of the network. Its message never quotes a request or an answer: both can hold
 * names, documents and keys.
 */
export class ProviderError extends ConfereError {
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** The `error` number of a 422, where the provider gave one. */
  readonly providerCode: number | undefined;
  /** Names of the fields that a 422 reports. */
  readonly refusedFields: string[];
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ProviderErrorCode,
    said: Message,
    details: {
      status?: number | undefined;
      providerCode?: number | undefined;
      refusedFields?: string[];
      retryAfterMs?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(code, describeSaid([said]), { cause: details.cause, said: [said] });
    this.status = details.status;
    this.providerCode = details.providerCode;
    this.refusedFields = details.refusedFields ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }
}
