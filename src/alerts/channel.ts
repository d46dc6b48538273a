/** What a channel is told of an alert. */
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
  /** The channel knows already that it fires. */
  alreadySent: boolean;
};

/** One way to tell people. `send` resolves once the other side has taken all of them, and may be given one again. */
export type Channel = {
  name: string;
  /** How many are told at once. */
  batchMax: number;
  /** It forgets what is not sent again within a while. */
  resendEveryMs?: number;
  /** Which alerts concern it; all, where it does not say. */
  accepts?: (alert: { name: string }) => boolean;
  send(alerts: AlertToSend[]): Promise<void>;
};

/** A channel did not take what it was sent. Neither an address nor the other side's words stand in it. */
export class ChannelError extends Error {
  readonly code: string;
  /** What was sent is at fault, not the way there. */
  readonly isRefusal: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, options: { isRefusal?: boolean; retryAfterMs?: number | undefined } = {}) {
    super(`a channel of alerts did not take them: ${code}`);
    this.name = 'NotTaken';
    this.code = code;
    this.isRefusal = options.isRefusal ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}
