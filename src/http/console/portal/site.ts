/** The frame of the portal's pages: the name in ALERT_EMAIL_FROM, and the logo in DATA_DIR. */
import { createHash } from 'node:crypto';
import type { Router } from 'express';
import type { PortalContext } from '../../../portal/open-scope.ts';
import type { Logo } from '../../../portal/read-logo.ts';
import { t } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { html } from '../parts/html.ts';
import { MARK, postForm, type Site } from '../parts/send-page.ts';
import { assetAddress } from '../parts/serve-assets.ts';

export const HOME = { address: '/portal', title: 'Visão geral' } as const;
export const CALLBACKS = { address: '/portal/callbacks', title: 'Callbacks' } as const;
export const RESEND_TESTS = '/portal/resend-tests';
export const ORDERS = { address: '/portal/orders', title: 'Pedidos' } as const;
export const MESSAGES = { address: '/portal/messages', title: 'Tipos de mensagem' } as const;
export const FEED = { address: '/portal/feed', title: 'Cursor e manifestos' } as const;
export const HISTORY = { address: '/portal/history', title: 'Mudanças' } as const;
export const DOCS = { address: '/portal/docs', title: 'Documentação' } as const;
const PAGES = [HOME, ORDERS, CALLBACKS, MESSAGES, FEED, HISTORY, DOCS];

const LOGO_PATH = '/portal/logo';

/** The site of the portal. Pages before the login have no scope, and so no header. */
export function createSite({ config }: Pick<PortalContext, 'config'>, logo: Logo | undefined): Site {
  const name = config.ALERT_EMAIL_FROM?.name || 'Confere';
  const address = logo && `${LOGO_PATH}?v=${createHash('sha256').update(logo.bytes).digest('hex').slice(0, 12)}`;
  const picture = address ? html`<img class="mark logo" src="${address}" alt="">` : name === 'Confere' && MARK;
  const brand = html`${picture}<span>${name}</span>`;
  return {
    name,
    brand,
    icon: address ?? assetAddress('icon.svg'),
    home: HOME.address,
    api: '/portal/openapi',
    frame(request, response) {
      if (!response.locals.scope) return undefined;
      const { merchant, actor, tokenName } = getScope(response);
      const isHere = (page: { address: string }): boolean =>
        page === HOME ? request.path === page.address : request.path.startsWith(page.address);
      return html`<header class="frame">
<a class="brand" href="${HOME.address}">${brand}</a>
<nav class="short" aria-label="${t('Principal')}"><ul>${PAGES.map(
        (page) =>
          html`<li><a href="${page.address}"${isHere(page) && html` aria-current="page"`}>${t(page.title)}</a></li>`,
      )}</ul></nav>
<div class="who"><p><span class="role">${merchant.name}</span> <span class="caller" title="${actor}">${tokenName}</span></p>
${postForm(response, '/portal/logout', html`<button class="quiet">${t('Sair')}</button>`)}</div>
</header>`;
    },
  };
}

/** Serves the logo, if there is one. Its address changes with its content. */
export function logoRoutes(logo: Logo | undefined): Router {
  const router = createRouter();
  if (logo) {
    router.get(LOGO_PATH, (_request, response) => {
      response.setHeader('cache-control', 'public, max-age=31536000, immutable');
      response.type(logo.type).send(logo.bytes);
    });
  }
  return router;
}
