/** An alert as a channel gets it. */
export type AlertToSend = {
  seq: number;
  id: string;
  name: string;
  severity: string;
  scope: string;
  summary: string;
  mismatchId: string | null;
  transactionId: string | null;
  raisedAt: Date;
  /** Null while it fires. */
  endedAt: Date | null;
  /** Whether this channel has sent already that it fires: then this is the end, or a resend. */
  alreadySent: boolean;
};

/**
 * One channel of notifications. `send` gets each alert when it fires and again when it ends (`endedAt`). It resolves once the
 * receiver has accepted all of them; after a failure the same alerts are sent again.
 */
export type Channel = {
  name: string;
  /** How many alerts one `send` gets. */
  batchMax: number;
  /** The receiver forgets alerts that are not sent again: how often to resend, in ms. */
  resendEveryMs?: number;
  /** Filters alerts; without it the channel gets all. */
  accepts?: (alert: { name: string }) => boolean;
  send(alerts: AlertToSend[]): Promise<void>;
};

/** A channel did not accept alerts. The error holds neither an address nor the receiver's text. */
export class ChannelError extends Error {
  readonly code: string;
  /** The receiver refuses these alerts; the channel itself works. */
  readonly isRefusal: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, options: { isRefusal?: boolean; retryAfterMs?: number | undefined } = {}) {
    super(`a channel did not accept alerts: ${code}`);
    this.name = 'ChannelError';
    this.code = code;
    this.isRefusal = options.isRefusal ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}
