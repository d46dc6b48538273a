import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { QUARANTINE_REASONS } from '../../../inbox/manage/purge-webhooks.ts';
import { countQuarantined } from '../../../inbox/manage/read-webhooks.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { purgeManyWebhooks } from '../../../operations/webhooks.ts';
import { describeCode } from '../../../texts/fill.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { EMPTY_VALUE, formatCount, formatDuration, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { WEBHOOK_REASON_WORDS } from '../parts/words.ts';

/** Younger ones may still be of use to somebody who looks for a cause. */
const OLDER_THAN_S = 3600;

/** The form that purges the quarantined webhooks of one reason. */
export function purgeWebhooksPages(context: Context): Router {
  return createRouter().post('/inbox/purge', requireRole(...purgeManyWebhooks.roles), async (request, response) => {
    const reason = readFormField(request, 'reason') ?? '';
    if (!QUARANTINE_REASONS.includes(reason)) throw refuse('form_outdated');
    const given = { reason, older_than: { text: `${OLDER_THAN_S} s`, ms: OLDER_THAN_S * 1000 } };
    await makeChange(context, purgeManyWebhooks, {
      ...{ given, by: { caller: getCaller(response), id: '', via: 'console' } },
    });
    response.redirect(303, '/inbox?state=quarantined&done=purged');
  });
}

/** How many webhooks are quarantined for each reason, with a button that purges them. */
export async function quarantineSection(context: Context, response: Response): Promise<Html | undefined> {
  const rows = await countQuarantined(limitStatementTime(context.db));
  if (rows.length === 0) return undefined;
  const purge = (reason: string): Html =>
    postForm(
      response,
      '/inbox/purge',
      html`<input type="hidden" name="reason" value="${reason}"><button class="secondary">${t('Esvaziar')}</button>`,
    );
  return html`<section><h2>${t('Por motivo')}</h2>${table({
    caption: 'Quarentena por motivo',
    rows,
    empty: '',
    columns: [
      {
        title: 'Motivo',
        cell: ({ reason }) =>
          reason === null
            ? EMPTY_VALUE
            : html`<a href="/inbox?state=quarantined&amp;reason=${reason}">${describeCode(WEBHOOK_REASON_WORDS, reason)}</a>`,
      },
      { title: 'Webhooks', cell: (row) => formatCount(row.count), align: 'end' },
      { title: 'Sem corpo', cell: (row) => formatCount(row.dropped), align: 'end' },
      { title: 'Primeiro', cell: (row) => moment(context.calendar, row.first_at) },
      { title: 'Último', cell: (row) => moment(context.calendar, row.last_at) },
      ...(hasRole(response, ...purgeManyWebhooks.roles)
        ? [
            {
              title: 'Ação' as const,
              cell: (row: (typeof rows)[number]) =>
                row.reason === null || row.count === row.dropped ? EMPTY_VALUE : purge(row.reason),
            },
          ]
        : []),
    ],
  })}${hasRole(response, ...purgeManyWebhooks.roles) && html`<p class="hint">${t('Esvaziar apaga os corpos e os itens dos que chegaram há mais de {age}. O hash fica: uma repetição ainda é reconhecida. Um webhook com um item aplicado nunca é apagado.', { age: formatDuration(OLDER_THAN_S) })}</p>`}</section>`;
}
