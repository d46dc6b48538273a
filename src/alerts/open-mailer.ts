import { createTransport } from 'nodemailer';
import type { Config } from '../config.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** However slowly the server drips: a mail that has not gone by then counts as failed. */
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
  /** Makes the Message-ID: the same for a repeat, so that a mailbox can tell. Letters, digits, `_`, `-` and `.`. */
  id: string;
};

export type Mailer = {
  /**
   * @returns how many of the addresses the server refused; it took the mail for the others.
   * @throws MailError when it took it for nobody.
   */
  send(mail: Mail): Promise<{ refused: number }>;
};

/** A mail did not go. Its text names neither an address nor the server's words, which quote them. */
export class MailError extends Error {
  readonly code: string;
  /** The server takes no mail for these addresses, now or later. */
  readonly isPermanent: boolean;

  constructor(code: string, isForGood = false) {
    super(`a mail did not go: ${code}`);
    this.name = 'MailError';
    this.code = code;
    this.isPermanent = isForGood;
  }
}

/**
 * The way out for every mail of Confere (alerts, merchants, reports); undefined without SMTP_URL. Each mail has a
 * connection of its own: they are rare, and a kept one would be found dead at the moment it is needed.
 */
export function openMailer(config: Pick<Config, 'SMTP_URL' | 'ALERT_EMAIL_FROM'>): Mailer | undefined {
  const { SMTP_URL: server, ALERT_EMAIL_FROM: from } = config;
  if (!server || !from) return undefined;
  const domain = from.address.split('@')[1];
  const transport = createTransport({
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
    // a text of ours is never a path or an address to fetch
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  return {
    async send({ to, subject, text, id }) {
      if (to.length === 0 || !to.every((address) => ADDRESS.test(address))) throw new MailError('BAD_ADDRESS', true);
      const sent = transport.sendMail({
        from,
        to: to.map((address) => ({ name: '', address })),
        subject: subject.replace(/\s+/g, ' ').slice(0, SUBJECT_CHARS_MAX),
        text,
        messageId: `<${id.replace(/[^\w.-]/g, '-')}@${domain}>`,
        // no out-of-office note is to answer a machine
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      const { rejected } = await inTime(sent);
      return { refused: rejected?.length ?? 0 };
    },
  };
}

async function inTime<T>(sent: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new MailError('TOO_SLOW')), MAIL_MS_MAX);
  });
  try {
    return await Promise.race([sent, late]);
  } catch (error) {
    if (error instanceof MailError) throw error;
    const { code, responseCode } = error as { code?: string; responseCode?: number };
    const isForGood = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
    throw new MailError([code ?? 'UNKNOWN', responseCode].filter(Boolean).join(' '), isForGood);
  } finally {
    clearTimeout(timer);
  }
}
