import type { Config } from '../../config.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Time limit of one mail, however slowly the server answers. */
export const MAIL_MS_MAX = 45_000;
const SUBJECT_CHARS_MAX = 150;
/** One address and nothing that a header or an envelope could take for more. */
const ADDRESS = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/;

export type Mail = {
  /** Bare addresses. */
  to: string[];
  subject: string;
  /** Plain text. No name, document, key, e-mail, phone or free text of a transaction. */
  text: string;
  /** For the Message-ID: the same for a repeat, so that mailboxes detect it. Letters, digits, `_`, `-` and `.`. */
  id: string;
};

export type Mailer = {
  /**
   * @returns how many addresses the server refused; it accepted the mail for the others.
   * @throws MailError if it accepted the mail for none.
   */
  send(mail: Mail): Promise<{ refused: number }>;
};

/** A mail was not sent. Its text has neither an address nor the server's text, which may quote one. */
export class MailError extends Error {
  readonly code: string;
  /** The server refuses these addresses permanently. */
  readonly isPermanent: boolean;

  constructor(code: string, isPermanent = false) {
    super(`a mail was not sent: ${code}`);
    this.name = 'MailError';
    this.code = code;
    this.isPermanent = isPermanent;
  }
}

/**
 * Opens the sender of all mails of Confere (alerts, merchants, reports); undefined without SMTP_URL. Each mail has its own
 * connection: mails are rare, and an idle connection would often be closed when it is needed.
 */
export function openMailer(config: Pick<Config, 'SMTP_URL' | 'ALERT_EMAIL_FROM'>): Mailer | undefined {
  const { SMTP_URL: server, ALERT_EMAIL_FROM: from } = config;
  if (!server || !from) return undefined;
  const domain = from.address.split('@')[1];
  const options = {
    host: server.host,
    port: server.port,
    secure: server.tls === 'at once',
    requireTLS: server.tls === 'starttls',
    ignoreTLS: server.tls === 'off',
    ...(server.auth ? { auth: server.auth } : {}),
    ...(server.ca ? { tls: { ca: server.ca } } : {}),
    ...{
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      dnsTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
    },
    // a text of ours is never a path or URL to read
    ...{ disableFileAccess: true, disableUrlAccess: true },
  };
  return {
    async send({ to, subject, text, id }) {
      if (to.length === 0 || !to.every((address) => ADDRESS.test(address))) throw new MailError('BAD_ADDRESS', true);
      // loaded with the first mail
      const { createTransport } = await import('nodemailer');
      const sent = createTransport(options).sendMail({
        from,
        to: to.map((address) => ({ name: '', address })),
        subject: subject.replace(/\s+/g, ' ').slice(0, SUBJECT_CHARS_MAX),
        text,
        messageId: `<${id.replace(/[^\w.-]/g, '-')}@${domain}>`,
        // prevents out-of-office replies
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      const { rejected } = await sendInTime(sent);
      return { refused: rejected?.length ?? 0 };
    },
  };
}

/** @throws MailError `TOO_SLOW` after MAIL_MS_MAX, or with the code of the mail server's error. */
async function sendInTime<T>(sent: Promise<T>): Promise<T> {
  try {
    return await withTimeLimit(
      MAIL_MS_MAX,
      () => sent,
      () => new MailError('TOO_SLOW'),
    );
  } catch (error) {
    if (error instanceof MailError) throw error;
    const { code, responseCode } = error as { code?: string; responseCode?: number };
    const isPermanent = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
    throw new MailError([code ?? 'UNKNOWN', responseCode].filter(Boolean).join(' '), isPermanent);
  }
}
