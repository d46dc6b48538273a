import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mailer, openMailer } from '../../../src/alerts/channels/open-mailer.ts';
import { readConfig } from '../../../src/config.ts';
import { openMailSink } from '../../support/open-mail-sink.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const MAIL = { to: ['ops@example.com'], subject: 'One alert', text: 'Ação às 10:00: 1,00 = 100%\n', id: 'al_1' };
const home = temporaryDirectory();
afterAll(() => home[Symbol.dispose]());
let tls: { key: Buffer; cert: Buffer };
const certFile = path.join(home.path, 'cert.pem');

beforeAll(() => {
  const keyFile = path.join(home.path, 'key.pem');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' });
  tls = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
});

function open(url: string, from = 'Confere <alerts@pay.example>'): Mailer {
  const mailer = openMailer(readConfig({ SMTP_URL: url, ALERT_EMAIL_FROM: from }));
  if (!mailer) throw new Error('no mailer');
  return mailer;
}

describe('a mail', () => {
  it('arrives whole, from whom and to whom it should, with an id that a repeat keeps', async () => {
    await using sink = await openMailSink();
    const mailer = open(`smtp://127.0.0.1:${sink.port}`);
    await mailer.send(MAIL);
    await mailer.send(MAIL);
    const [first, second] = sink.mails;
    expect(first).toMatchObject({ from: 'alerts@pay.example', to: ['ops@example.com'] });
    expect(first?.text.trim()).toBe(MAIL.text.trim());
    expect(first?.header('subject')).toBe('One alert');
    expect(first?.header('auto-submitted')).toBe('auto-generated');
    expect(first?.header('message-id')).toBe('<al_1@pay.example>');
    expect(second?.header('message-id')).toBe(first?.header('message-id'));
  });

  it('takes no header and no recipient from what stands in its subject or an address', async () => {
    await using sink = await openMailSink();
    const mailer = open(`smtp://127.0.0.1:${sink.port}`);
    await mailer.send({ ...MAIL, subject: 'a\r\nBcc: thief@example.com\r\n\r\nbody', id: 'x\r\nX-Evil: 1' });
    expect(sink.mails[0]?.to).toEqual(['ops@example.com']);
    expect(sink.mails[0]?.header('bcc') ?? '').toBe('');
    expect(sink.mails[0]?.header('x-evil') ?? '').toBe('');
    const bad = [
      'a@b.example\r\nRCPT TO:<thief@example.com>',
      'a@b.example, thief@example.com',
      'Me <a@b.example>',
      'ab',
      '',
    ];
    for (const address of bad) {
      await expect(mailer.send({ ...MAIL, to: [address] })).rejects.toThrow('BAD_ADDRESS');
    }
    await expect(mailer.send({ ...MAIL, to: [] })).rejects.toThrow('BAD_ADDRESS');
    expect(sink.mails).toHaveLength(1);
  });

  it('counts whom the server refused, and fails when that is all', async () => {
    await using sink = await openMailSink({
      onRcptTo: ({ address }, _session, callback) =>
        callback(address.startsWith('gone') ? new Error('no such mailbox') : null),
    });
    const mailer = open(`smtp://127.0.0.1:${sink.port}`);
    expect(await mailer.send({ ...MAIL, to: ['ops@example.com', 'gone@example.com'] })).toEqual({ refused: 1 });
    const failure = await mailer.send({ ...MAIL, to: ['gone@example.com'] }).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/EENVELOPE/);
    expect(String(failure)).not.toContain('gone@');
  });
});

describe('the way to the server', () => {
  it('is TLS at once with smtps, verified: a certificate of nobody we know is refused, before any password', async () => {
    const logins: string[] = [];
    await using sink = await openMailSink({
      ...{ ...tls, secure: true, authOptional: false },
      onAuth: ({ username, password }, _session, callback) => {
        logins.push(`${username} ${password}`);
        callback(null, { user: username });
      },
    });
    const url = `smtps://ops%40pay.example:p%3Ass@localhost:${sink.port}`;
    await expect(open(url).send(MAIL)).rejects.toThrow(/ESOCKET|ETLS/);
    expect(logins).toEqual([]);
    await open(`${url}?ca=${certFile}`).send(MAIL);
    expect(logins).toEqual(['ops@pay.example p:ss']);
    expect(sink.mails).toHaveLength(1);
  });

  it('is STARTTLS elsewhere, and nothing where the server has none', () => {
    const { SMTP_URL } = readConfig({ SMTP_URL: 'smtp://u:p@mail.example', ALERT_EMAIL_FROM: 'a@b.example' });
    expect(SMTP_URL).toEqual({ host: 'mail.example', port: 587, tls: 'starttls', auth: { user: 'u', pass: 'p' } });
    const plain = readConfig({ SMTP_URL: 'smtp://mail.example:25?tls=off', ALERT_EMAIL_FROM: 'a@b.example' });
    expect(plain.SMTP_URL).toMatchObject({ port: 25, tls: 'off' });
  });

  it('that leads nowhere, or to a server that says nothing sensible, is an error', async () => {
    await expect(open('smtp://127.0.0.1:1').send(MAIL)).rejects.toThrow(/ESOCKET|ECONN/);
    const server = net.createServer((socket) =>
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(open(`smtp://127.0.0.1:${port}`).send(MAIL)).rejects.toThrow(/EPROTOCOL|ECONN|ESOCKET/);
    server.close();
  });
});

describe('the settings of mail', () => {
  const faultOf = (env: Record<string, string>): string => {
    try {
      readConfig(env);
      return '';
    } catch (error) {
      return String(error);
    }
  };

  it('that can’t work are reported at the start, without the password', () => {
    expect(faultOf({ SMTP_URL: 'mail.example' })).toContain('SMTP_URL');
    expect(faultOf({ SMTP_URL: 'http://u:hunter2@mail.example', ALERT_EMAIL_FROM: 'a@b.example' })).toMatch(/SMTP_URL/);
    expect(faultOf({ SMTP_URL: 'http://u:hunter2@mail.example' })).not.toContain('hunter2');
    expect(faultOf({ SMTP_URL: 'smtp://mail.example' })).toContain('ALERT_EMAIL_FROM');
    expect(faultOf({ ALERT_EMAIL_TO: 'a@b.example' })).toContain('SMTP_URL');
    expect(faultOf({ SMTP_URL: 'smtp://mail.example', ALERT_EMAIL_FROM: 'a\r\nBcc: b@c.example' })).toContain(
      'ALERT_EMAIL_FROM',
    );
    expect(faultOf({ SMTP_URL: 'smtp://mail.example?ca=/none', ALERT_EMAIL_FROM: 'a@b.example' })).toContain('ca file');
    expect(faultOf({ SMTP_URL: 'smtp://u%:p@mail.example', ALERT_EMAIL_FROM: 'a@b.example' })).toContain('SMTP_URL');
  });
});
