import type { Request, Router } from 'express';
import { type Day, isDay } from '../../../domain/calendar.ts';
import type { ManifestAwaited, ManifestDay } from '../../../manifests/list-manifest-days.ts';
import { findNextManifests } from '../../../manifests/read-manifests.ts';
import type { PortalContext } from '../../../portal/open-scope.ts';
import { refuseField } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { formatCount, formatDay, moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { facts, table } from '../parts/page-components.ts';
import { sendPage } from '../parts/send-page.ts';
import { DOCS, FEED } from './site.ts';

/** The page of the feed's cursor and of the day manifests, and the manifests themselves. */
export function feedPages({ calendar, clock, config }: PortalContext): Router {
  const router = createRouter();
  router.get(FEED.address, async (request, response) => {
    const scope = getScope(response);
    const { merchant } = scope;
    const isPushed = merchant.url !== null;
    const next = `GET ${config.PUBLIC_URL}/api/v1/events?after=${merchant.pulled_position}&limit=200${isPushed || merchant.pull_token_hash === null ? '&peek=true' : ''}`;
    const nextManifests = findNextManifests({ config, clock });
    const days = await scope.listManifests();
    const nextAt = nextManifests && moment(calendar, nextManifests);
    const body = html`<h1>${t(FEED.title)}</h1>
<section><h2>${t('O cursor')}</h2>${facts([
      ['Token de busca', merchant.pull_token_hash === null ? t('não há: peça um à operação') : t('emitido')],
      ['Vale até', merchant.pull_token_expires_at && moment(calendar, merchant.pull_token_expires_at)],
      [isPushed ? 'Lido até o cursor' : 'Confirmado até o cursor', showCursor(merchant.pulled_position)],
      ['Último cursor', showCursor(merchant.last_position)],
      ['Última busca', merchant.pulled_at ? moment(calendar, merchant.pulled_at) : t('nunca')],
      ['Próximo pedido', html`<code>${next}</code>`],
    ])}<p class="hint">${isPushed && t('Você tem endereço: um cursor não confirma nada.')} ${t('Só buscas com o token de busca, sem peek=true, contam aqui; com este token, peça com &peek=true. O último cursor é numerado a cada busca.')}</p></section>
<section><h2>${t('Manifestos dos últimos 14 dias')}</h2><p class="hint">${nextAt ? tHtml('O de um dia é feito depois que ele termina. Os próximos: {at}.', { at: nextAt }) : t('A operação desligou os manifestos.')}</p>${listAwaited(days, nextAt, calendar.dayOf(merchant.events_since))}${table(
      {
        caption: 'Manifestos dos últimos 14 dias',
        rows: days.flatMap(({ day, manifest }) => (manifest ? [{ day, manifest }] : [])),
        empty: 'Nenhum manifesto até agora.',
        columns: [
          { title: 'Dia', cell: ({ day }) => formatDay(day) },
          { title: 'Revisão', cell: ({ manifest }) => String(manifest.revision), align: 'end' },
          { title: 'Mensagens', cell: ({ manifest }) => formatCount(Number(manifest.messages)), align: 'end' },
          { title: 'Provado', cell: ({ manifest }) => (manifest.proven === true ? t('sim') : t('não')) },
          { title: 'Dia encerrado', cell: ({ manifest }) => (manifest.closed === true ? t('sim') : t('não')) },
          {
            title: 'Arquivos',
            cell: ({ day }) =>
              html`<a href="/portal/manifests/${day}" download="${day}.json">${t('Assinado')}</a> · <a href="/portal/manifests/${day}/ids" download="${day}.txt">${'webhook-ids'}</a>`,
          },
        ],
      },
    )}<p>${t('Para verificar um:')} <a href="${DOCS.address}/verify-day.mjs"><code>verify-day.mjs</code></a> · <a href="${DOCS.address}/verify-day.php"><code>verify-day.php</code></a> · <a href="${DOCS.address}/day-manifests">${t(DOCS.title)}</a></p></section>`;
    sendPage(request, response, { title: t(FEED.title), body });
  });
  router.get('/portal/manifests/:day', async (request: Request<{ day: string }>, response) => {
    response.json(await getScope(response).readManifest(dayOf(request)));
  });
  router.get('/portal/manifests/:day/ids', async (request: Request<{ day: string }>, response) => {
    response.type('text/plain').send(await getScope(response).readManifestIds(dayOf(request)));
  });
  return router;
}

/** Says of the days without a manifest what becomes of them: neighbours of one kind are one line. */
function listAwaited(days: ManifestDay[], next: Part, since: Day): Html {
  const groups: { awaited: ManifestAwaited; days: Day[] }[] = [];
  for (const [place, { day, awaited }] of days.entries()) {
    const last = groups.at(-1);
    if (last && awaited === last.awaited && days[place - 1]?.awaited === awaited) last.days.push(day);
    else if (awaited) groups.push({ awaited, days: [day] });
  }
  const nameOf = (own: Day[]) => [...new Set([own.at(-1), own[0]])].map((day = '') => formatDay(day)).join(' – ');
  return html`<ul class="hint">${groups.map((one) => html`<li>${nameOf(one.days)}: ${describeAwaited(one.awaited, next, since)}</li>`)}</ul>`;
}

function describeAwaited(awaited: ManifestAwaited, next: Part, since: Day): Part {
  if (awaited === 'before') return t('não há: você recebe eventos desde {day}', { day: formatDay(since) });
  if (awaited === 'no_messages') return t('não há: sem mensagens suas');
  if (next === undefined) return t('não é feito: a operação desligou os manifestos');
  if (awaited === 'backfill') return t('vem depois que o envio dos eventos anteriores terminar');
  return awaited === 'next'
    ? tHtml('vem em {at}', { at: next })
    : tHtml('vem em {at}, se houver mensagens suas; senão não há', { at: next });
}

/** A cursor as it is pasted: without a separator. */
function showCursor(position: number): Part {
  return position === 0 ? t('nenhum ainda') : html`<code>${String(position)}</code>`;
}

function dayOf({ params }: Request<{ day: string }>): string {
  if (isDay(params.day)) return params.day;
  throw refuseField('day', 'day_wrong');
}
