import type { Language } from '../../domain/language/language.ts';
import type { AlertFacts } from '../../texts/alerts/alert-facts.ts';
import type { ALERT_WORDS, DescribedAlert } from '../../texts/alerts/describe-alert.ts';

/** An alert as a channel gets it. */
export type AlertToSend = {
  seq: number;
  id: string;
  name: string;
  severity: string;
  scope: string;
  summary: string;
  /** Null in alerts of earlier versions. */
  facts: AlertFacts | null;
  mismatchId: string | null;
  transactionId: string | null;
  raisedAt: Date;
  /** Null while it fires. */
  endedAt: Date | null;
  /** The name of the platform that it concerns: masked, as no alert names a person. */
  platformName: string | undefined;
  /** The merchant's number of the order that it is about, with its id; masked likewise. */
  orderNumber?: string | undefined;
  /** Whether this channel has sent already that it fires: then this is the end, or a resend. */
  alreadySent: boolean;
};

/** The texts of an alert in REPORT_LOCALE, with whole addresses. */
export type WrittenAlert = DescribedAlert & { url: string; runbookUrl: string };

/** Writes alerts for a channel. */
export type AlertWriter = {
  publicUrl: string;
  words: (typeof ALERT_WORDS)[Language];
  write: (alert: AlertToSend) => WrittenAlert;
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
  /** Filters alerts; without it the channel gets all. `ended`: the alert ended as it was raised, so nobody can act on it. */
  accepts?: (alert: { name: string; ended: boolean }) => boolean;
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
