import type { Router } from 'express';
import type { TokenRole } from '../../../access/roles.ts';
import type { listTokens } from '../../../access/tokens.ts';
import type { Context } from '../../../context.ts';
import { revokeOneToken, tokens } from '../../../operations/access/tokens.ts';
import { t } from '../../../texts/translate.ts';
import { requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { serveButton } from '../forms/serve-button.ts';
import { EMPTY_VALUE, moment, shortId } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, idText, table } from '../parts/page-components.ts';
import { sendList } from '../parts/send-list.ts';
import { postForm } from '../parts/send-page.ts';
import { ROLE_WORDS, TOKEN_STATE_WORDS } from '../parts/words.ts';

type Token = Awaited<ReturnType<typeof listTokens>>[number];

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
              : html`<details><summary>${t('Revogar')}</summary>${explainRevoking(context, row)}${postForm(
                  response,
                  `/tokens/${row.id}/revoke`,
                  html`<button class="secondary">${t('Revogar agora')}</button>`,
                )}</details>`,
        },
      ],
    });
    sendList(request, response, { title: 'Tokens', address: '/tokens', rows: list, next });
  });

  router.use(serveButton(context, revokeOneToken, { address: '/tokens/:id/revoke', to: '/tokens?done=revoked' }));
  return router;
}

/** Explains what stops working once a token is revoked, and when it was last used. */
function explainRevoking({ calendar }: Context, row: Token): Html {
  const facts = { name: html`<b>${row.name}</b>`, role: roleCell(row) };
  const stops =
    row.state === 'expired'
      ? t('Já expirou: nada mais para.')
      : row.role === 'merchant'
        ? tHtml('Param na hora, para quem usa {name} ({role}): o portal, os eventos e os pedidos pela API.', facts)
        : tHtml('Param na hora, para quem usa {name} ({role}): o console e tudo o que chama a API com ele.', facts);
  const used = row.last_used_at
    ? tHtml('Último uso: {at}.', { at: moment(calendar, row.last_used_at) })
    : t('Nunca foi usado.');
  return html`<p>${stops} ${used} ${t('Não há volta: só um token novo.')} <a href="/audit?actor=${row.id}">${t('O que foi feito com ele')}</a></p>`;
}

/** The role; of a merchant's token, its merchant. */
function roleCell({ role, merchant }: { role: TokenRole; merchant: string | null }): Part {
  if (role !== 'merchant') return ROLE_WORDS[role];
  return html`${t('Lojista')}${merchant !== null && html` <a class="id" href="/merchants/${merchant}">${shortId(merchant)}</a>`}`;
}
