import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { logOutOneUser, users } from '../../../operations/access/users.ts';
import { t } from '../../../texts/translate.ts';
import { requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { serveButton } from '../forms/serve-button.ts';
import { EMPTY_VALUE, moment } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { idText, table } from '../parts/page-components.ts';
import { sendList } from '../parts/send-list.ts';
import { postForm } from '../parts/send-page.ts';
import { ROLE_WORDS } from '../parts/words.ts';

/** The list of people who log in by the company's account, for admins, with a button that ends the sessions of each. */
export function userPages(context: Context): Router {
  const router = createRouter();
  router.get('/users', requireRole(...users.roles), async (request, response) => {
    const { rows, next } = await readListPage(context, users, request, response);
    const list = table({
      caption: 'Pessoas que entram com a conta da empresa, as mais novas primeiro',
      rows,
      empty: 'Ninguém entrou com a conta da empresa até agora.',
      columns: [
        {
          title: 'Quem',
          cell: (row) =>
            html`<a href="/audit?actor=${encodeURIComponent(row.id)}">${row.name ?? t('nome removido')}</a> ${idText(row.id)}`,
        },
        { title: 'Papel', cell: (row) => (row.role === null ? t('recusada') : ROLE_WORDS[row.role]) },
        { title: 'Último login', cell: (row) => moment(context.calendar, row.last_login_at) },
        { title: 'Sessões abertas', cell: (row) => row.sessions, align: 'end' },
        {
          title: 'Ações',
          cell: (row) =>
            row.sessions === 0
              ? EMPTY_VALUE
              : postForm(
                  response,
                  `/users/${row.id}/log-out`,
                  html`<button class="secondary">${t('Encerrar sessões')}</button>`,
                ),
        },
      ],
    });
    const hint = t(
      'O papel vale até o fim da sessão, no máximo doze horas; quem perdeu um grupo perde o papel no próximo login. Encerrar as sessões faz valer na hora.',
    );
    sendList(request, response, {
      title: t('Pessoas'),
      address: '/users',
      lead: html`<p class="hint">${hint}</p>`,
      rows: list,
      next,
    });
  });

  router.use(serveButton(context, logOutOneUser, { address: '/users/:id/log-out', to: '/users?done=logged_out' }));
  return router;
}
