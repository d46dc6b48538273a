import type { Router } from 'express';
import type { TokenRole } from '../../../access/roles.ts';
import type { Context } from '../../../context.ts';
import { revokeOneToken, tokens } from '../../../operations/access/tokens.ts';
import { t } from '../../../texts/translate.ts';
import { requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { serveButton } from '../forms/serve-button.ts';
import { EMPTY_VALUE, moment, shortId } from '../parts/format.ts';
import { html, type Part } from '../parts/html.ts';
import { badge, idText, table } from '../parts/page-components.ts';
import { sendList } from '../parts/send-list.ts';
import { postForm } from '../parts/send-page.ts';
import { ROLE_WORDS, TOKEN_STATE_WORDS } from '../parts/words.ts';

/** The list of tokens, for admins, with a button that revokes each. */
export function tokenPages(context: Context): Router {
  const router = createRouter();
  router.get('/tokens', requireRole(...tokens.roles), async (request, response) => {
    const { rows, next } = await readListPage(context, tokens, request, response);
    const list = table({
      caption: 'Tokens, os mais novos primeiro',
      rows,
      empty: 'Nenhum token: quem administra cria um com confere tokens create.',
      columns: [
        { title: 'Token', cell: (row) => html`${row.name} ${idText(row.id)}` },
        { title: 'Papel', cell: roleCell },
        { title: 'Origens de pedidos', cell: (row) => row.sources.join(' ') },
        { title: 'Estado', cell: (row) => badge(TOKEN_STATE_WORDS, row.state) },
        { title: 'Criado em', cell: (row) => moment(context.calendar, row.created_at) },
        { title: 'Expira em', cell: (row) => moment(context.calendar, row.expires_at) },
        { title: 'Último uso', cell: (row) => moment(context.calendar, row.last_used_at) },
        {
          title: 'Ações',
          cell: (row) =>
            row.state === 'revoked'
              ? EMPTY_VALUE
              : postForm(
                  response,
                  `/tokens/${row.id}/revoke`,
                  html`<button class="secondary">${t('Revogar')}</button>`,
                ),
        },
      ],
    });
    sendList(request, response, { title: 'Tokens', address: '/tokens', rows: list, next });
  });

  router.use(serveButton(context, revokeOneToken, { address: '/tokens/:id/revoke', to: '/tokens?done=revoked' }));
  return router;
}

/** The role; of a merchant's token, its merchant. */
function roleCell({ role, merchant }: { role: TokenRole; merchant: string | null }): Part {
  if (role !== 'merchant') return ROLE_WORDS[role];
  return html`${t('Lojista')}${merchant !== null && html` <a class="id" href="/merchants/${merchant}">${shortId(merchant)}</a>`}`;
}
