import type { Request, Response } from 'express';
import { html } from '../parts/html.ts';
import { BRAND, sendPage } from '../parts/send-page.ts';

/**
 * Answers with a page that opens another one. A redirect would not do: the browser would send no session cookie after a login,
 * because the issuer started the request, and would stop a posted form at the issuer's address.
 * @param to.address a path of ours, or an address of the issuer. @param to.link the text of the link to it.
 */
export function sendOnwards(
  request: Request,
  response: Response,
  to: { title: string; address: string; link: string },
): void {
  // without navigation: the session has just ended, or the browser does not send it yet
  delete response.locals.caller;
  const body = html`<div class="login"><p class="brand">${BRAND}</p>
<h1>${to.title}</h1>
<p><a href="${to.address}">${to.link}</a></p></div>`;
  sendPage(request, response, { title: to.title, body, onwardsTo: to.address, address: to.address });
}
