import { unescapeHtml } from './open-console-session.ts';

export type Visit = { url: string; status: number; html: string; headers: Headers };

/** A browser without a screen: it keeps cookies by host, follows redirects and posts forms. */
export function openVisitor() {
  const cookies = new Map<string, Map<string, string>>();

  function jarOf(url: string): Map<string, string> {
    const { hostname } = new URL(url);
    const jar = cookies.get(hostname) ?? new Map<string, string>();
    cookies.set(hostname, jar);
    return jar;
  }

  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = jarOf(url);
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const isOver = /expires=Thu, 01 Jan 1970|max-age=0/i.test(line);
      if (isOver || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Requests an address, and follows redirects until one leads to an address that begins with `until`. */
  async function visit(url: string, options: { until?: string; init?: RequestInit } = {}): Promise<Visit> {
    let [here, init] = [url, options.init];
    for (;;) {
      const response = await send(here, init);
      const to = response.headers.get('location');
      const html = await response.text();
      if (to === null) return { url: here, status: response.status, html, headers: response.headers };
      here = new URL(to, here).href;
      init = undefined;
      if (options.until !== undefined && here.startsWith(options.until)) {
        return { url: here, status: response.status, html: '', headers: response.headers };
      }
    }
  }

  return {
    visit,
    cookies: (url: string) => jarOf(url),
    /** Posts a form of a page with these fields and its hidden ones: the one to `action`, or the first. */
    submit(
      page: Visit,
      fields: Record<string, string>,
      options: { until?: string; action?: string } = {},
    ): Promise<Visit> {
      const forms = [...page.html.matchAll(/<form[\s\S]*?<\/form>/g)].map(([text]) => text);
      const actionOf = (text: string): string => unescapeHtml(/ action="([^"]*)"/.exec(text)?.[1] ?? '');
      const form = forms.find((text) => options.action === undefined || actionOf(text) === options.action) ?? '';
      const action = actionOf(form);
      const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const body = new URLSearchParams();
      for (const [, name = '', value = ''] of hidden) body.set(name, unescapeHtml(value));
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      const init = { method: 'POST', body, headers: { origin: new URL(page.url).origin } };
      return visit(new URL(action, page.url).href, { ...options, init });
    },
  };
}

export type Visitor = ReturnType<typeof openVisitor>;
