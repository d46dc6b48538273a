import type { Role } from '../../src/access/roles.ts';
import { openSession } from '../../src/access/sessions.ts';
import type { Context } from '../../src/context.ts';

export type ConsoleAnswer = { status: number; html: string; text: string; to: string | null };

/** The console as a browser without script uses it: pages and posted forms, with the session of a role. */
export async function openConsoleSession(
  env: { context: Context; url: string; tokens: Record<Role, string> },
  role: Role,
) {
  const cookie = `confere_session=${await openSession(env.context, env.tokens[role])}`;
  const send = async (address: string, init: RequestInit = {}): Promise<ConsoleAnswer> => {
    const response = await fetch(`${env.url}${address}`, {
      redirect: 'manual',
      headers: { cookie, origin: env.url },
      ...init,
    });
    const html = await response.text();
    return { status: response.status, html, text: textOf(html), to: response.headers.get('location') };
  };
  const token = formTokenOf((await send('/')).html);
  const post = (address: string, fields: [string, string][] | Record<string, string>) => {
    const body = new URLSearchParams(asSent(fields));
    body.set('form_token', token);
    return send(address, { method: 'POST', body });
  };
  return {
    /** The session's `Cookie` header. */
    cookie,
    get: (address: string) => send(address),
    send,
    async download(address: string) {
      const response = await fetch(`${env.url}${address}`, { headers: { cookie } });
      const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? '';
      return { name, bytes: Buffer.from(await response.arrayBuffer()) };
    },
    post,
    /** Confirms a preview: sends the fields of its form. */
    confirm: (address: string, preview: ConsoleAnswer) =>
      post(address, { ...hiddenFields(preview.html), step: 'confirm' }),
  };
}

/** Logs in by the form. @returns the session's `Cookie` header. */
export async function logIn(url: string, token: string): Promise<string> {
  const response = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ token }),
  });
  await response.text();
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** Fields as a browser sends them: each line feed of a value is CRLF, also of a hidden one. */
export function asSent(fields: [string, string][] | Record<string, string>): [string, string][] {
  const entries = Array.isArray(fields) ? fields : Object.entries(fields);
  return entries.map(([name, value]) => [name, value.replaceAll(/\r?\n/g, '\r\n')]);
}

/** The token that a page's forms are sent with. */
export function formTokenOf(page: string): string {
  return hiddenFields(page).form_token ?? '';
}

/** The hidden fields of a page's forms. */
export function hiddenFields(page: string): Record<string, string> {
  const found = page.matchAll(/<input type="hidden" name="([a-z0-9_]+)" value="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name ?? '', unescapeHtml(value ?? '')]));
}

function textOf(page: string): string {
  return unescapeHtml(page.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ');
}

/** The text that `html` escaped. */
export function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
