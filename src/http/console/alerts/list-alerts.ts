import type { Response, Router } from 'express';
import { z } from 'zod';
import { ALERT_STATES, type ListedAlert } from '../../../alerts/read/read-alerts.ts';
import type { Context } from '../../../context.ts';
import { alerts } from '../../../operations/alerts.ts';
import { ALERT_KINDS } from '../../../texts/alerts/alert-kinds.ts';
import { ALERT_TEXTS, type DescribedAlert, describeAlert, findPlatform } from '../../../texts/alerts/describe-alert.ts';
import { language } from '../../../texts/language.ts';
import { type Label, t, words } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { readOrderNumbers } from '../mismatches/list-mismatches.ts';
import { filterField } from '../parts/fields.ts';
import { EMPTY_VALUE, formatAge, moment, money } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { filterChoice, readFilters } from '../parts/parse-filters.ts';
import { type PlatformNames, readPlatformNames } from '../parts/read-platform-names.ts';
import { restoredSince } from '../parts/restored.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { ALERT_STATE_WORDS, SEVERITY_WORDS } from '../parts/words.ts';

const query = z.object({
  state: filterChoice(ALERT_STATES),
  kind: filterChoice(ALERT_KINDS),
  severity: filterChoice(['medium', 'high', 'critical']),
});
const LIST = { title: 'Alertas', address: '/alerts' } as const;

/** The names by kind, in the order of their language. */
function titles(): Record<string, string> {
  const names = ALERT_KINDS.map((kind) => [kind, ALERT_TEXTS[language()][kind].title] as const);
  return Object.fromEntries(names.toSorted(([, a], [, b]) => a.localeCompare(b, language())));
}

/** The list of alerts. Without a filter it has those that fire. */
export function alertListPages(context: Context): Router {
  return createRouter().get('/alerts', async (request, response) => {
    const isFiltered = ['state', 'kind', 'severity'].some((name) => request.query[name] !== undefined);
    const { filters, draft } = readFilters(isFiltered ? request.query : { state: 'firing' }, query);
    const fields = [
      filterField(draft, { name: 'state', label: 'Estado', words: ALERT_STATE_WORDS, any: 'Todos' }),
      filterField(draft, { name: 'kind', label: 'Tipo', words: titles(), any: 'Todos' }),
      filterField(draft, { name: 'severity', label: 'Gravidade', words: SEVERITY_WORDS, any: 'Todas' }),
    ];
    if (filters === undefined) {
      sendWrongFilters(request, response, { ...LIST, filters: { fields, areSet: true } });
      return;
    }
    const { rows, next } = await readListPage(context, alerts, request, response, { filter: filters });
    const described = await explainAlerts(context, response, await readPlatformNames(context, response), rows);
    const empty = isFiltered ? 'Nenhum alerta com estes filtros: tire um deles.' : 'Nenhum alerta ativo.';
    sendList(request, response, {
      ...LIST,
      filters: { fields, areSet: isFiltered },
      lead: html`<p class="lead">${tHtml('Cada causa envia um alerta, e outro quando acaba. <a href="/alerts?state=ended">Ver os encerrados</a>; <a href="/runbooks">todos os guias</a>.')}</p>`,
      rows: alertTable(context, response, described, empty),
      next,
    });
  });
}

/** An alert and its texts. `code`: its severity, which has its word in `severity`. */
type ExplainedAlert = Omit<ListedAlert, keyof DescribedAlert> & DescribedAlert & { code: string };

/** The texts of alerts in the language of the request. @param names of platforms; orders by their numbers: as the caller may see them. */
export async function explainAlerts(
  context: Context,
  response: Response,
  names: PlatformNames,
  alerts: ListedAlert[],
): Promise<ExplainedAlert[]> {
  const ids = alerts.map(({ facts }) => ({ expected_payment_id: facts?.expected ?? null }));
  const orders = await readOrderNumbers(context, response, ids);
  return alerts.map((alert) => {
    const platformName = names.get(findPlatform(alert) ?? '');
    const orderNumber = orders.get(alert.facts?.expected ?? '')?.number;
    const described = describeAlert(context.calendar, language(), { ...alert, platformName, orderNumber });
    return { ...alert, ...described, code: alert.severity };
  });
}

function alertTable(context: Context, response: Response, rows: ExplainedAlert[], empty: Label): Html {
  const restored = restoredSince(response);
  return table({
    caption: 'Alertas, os mais novos primeiro',
    rows,
    empty,
    columns: [
      {
        title: 'Alerta',
        cell: ({ title, text, path }) => html`<a href="${path}"><b>${title}</b></a><p class="long">${text}</p>`,
      },
      {
        title: 'Gravidade',
        cell: ({ code, raisedAt, endedAt }) =>
          html`${badge(SEVERITY_WORDS, code)}${
            endedAt
              ? html` ${badge(ALERT_STATE_WORDS, 'ended')}`
              : restored && raisedAt < restored && html` ${badge({ held: t('De antes da restauração') }, 'held')}`
          }`,
      },
      {
        title: 'Desde',
        cell: ({ raisedAt, endedAt }) =>
          html`${moment(context.calendar, raisedAt)}<br><span class="hint">${
            endedAt
              ? tHtml('até {at}', { at: moment(context.calendar, endedAt) })
              : formatAge(raisedAt, context.clock.now())
          }</span>`,
      },
      {
        title: 'Em jogo',
        cell: ({ facts }) => (facts?.cents && facts.cents !== '0' ? money(BigInt(facts.cents)) : EMPTY_VALUE),
        align: 'end',
      },
      { title: 'Canais', cell: ({ sends }) => channelList(context, sends) },
      {
        title: 'O que fazer',
        cell: ({ todo, runbookPath }) => html`${todo} <a href="${runbookPath}">${t('Guia')}</a>`,
      },
    ],
  });
}

/** Other channels are called by their products' names. */
const CHANNEL_WORDS: Record<string, string> = words({ email: 'e-mail', merchant_email: 'e-mail do lojista' });
const PRODUCTS = new Map<string, string>([
  ['slack', 'Slack'],
  ['pagerduty', 'PagerDuty'],
  ['alertmanager', 'Alertmanager'],
]);

/** Each channel, with when it was notified, or why not yet. */
function channelList(context: Context, sends: ListedAlert['sends']): Part {
  if (sends.length === 0) return html`<span class="hint">${t('ainda nenhum')}</span>`;
  const time = (at: Date): string => context.calendar.toWallTime(at).slice(11, 16);
  return html`<ul class="plain">${sends.map(({ channel, error, sent_at, end_sent_at }) => {
    const at = end_sent_at ?? sent_at;
    const outcome = error
      ? html`<span class="fault">${t('não aceitou: {error}', { error })}</span>`
      : at
        ? html`<span class="hint">${t('às {time}', { time: time(at) })}</span>`
        : html`<span class="hint">${t('na fila')}</span>`;
    return html`<li>${CHANNEL_WORDS[channel] ?? PRODUCTS.get(channel) ?? channel} ${outcome}</li>`;
  })}</ul>`;
}
