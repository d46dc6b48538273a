import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { END_OF_TIME } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { PLATFORM_NAME_CHARS_MAX } from '../../../ledger/stated/platform-names.ts';
import { namePlatform, platforms } from '../../../operations/books/platforms.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { refuseField } from '../../../texts/refuse.ts';
import { sayFaults, sayRefusal } from '../../../texts/say-refusal.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { choiceField, type Draft, inputField } from '../parts/fields.ts';
import { moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { idText, table } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { readPlatformBalances } from '../parts/read-platform-balances.ts';
import { labelPlatform, readNamesInFull } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';

const ADDRESS = '/balances/platforms';

/** The names of platforms: the list, and the form that gives one. */
export function platformNamePages(context: Context): Router {
  const router = createRouter();
  router.get(ADDRESS, async (request, response) => {
    sendPage(request, response, { title: t('Plataformas'), body: await render(context, response, EMPTY) });
  });

  router.post(ADDRESS, requireRole(...namePlatform.roles), async (request, response) => {
    const platform = readFormField(request, 'platform') ?? '';
    const name = readFormField(request, 'name') ?? null;
    try {
      if (platform === '') throw refuseField('platform', 'platform_unknown', { platform });
      const by = { caller: getCaller(response), id: '', via: 'console' } as const;
      await makeChange(context, namePlatform, { given: { platform, name }, by });
      response.redirect(303, `${ADDRESS}?done=named`);
    } catch (error) {
      if (!(error instanceof ConfereError)) throw error;
      const said = sayFaults(error).map(({ field, text }) => [field, text] as const);
      const faults =
        error.reason === 'platform_name_taken'
          ? { name: sayRefusal(error, context.calendar) ?? '' }
          : Object.fromEntries(said);
      if (Object.keys(faults).length === 0) throw error;
      const body = await render(context, response, { values: { platform, name: name ?? '' }, faults });
      sendPage(request, response, { title: t('Plataformas'), status: 422, body });
    }
  });
  return router;
}

const EMPTY: Draft = { values: {}, faults: {} };

async function render(context: Context, response: Response, draft: Draft): Promise<Html> {
  const { platforms: rows } = await platforms.read(context, { caller: getCaller(response), id: '' });
  return html`<p class="crumb"><a href="/balances">${t('Saldos')}</a></p><h1>${t('Plataformas')}</h1>
<p class="lead">${t('O nome aparece nas planilhas e no console; o id continua a valer em todo o resto.')}</p>
${hasRole(response, ...namePlatform.roles) && (await nameForm(context, response, draft))}
${table({
  caption: 'Plataformas com nome',
  rows,
  empty: 'Nenhuma plataforma tem nome até agora.',
  columns: [
    { title: 'Nome', cell: (row) => html`<b>${row.name}</b>` },
    { title: 'Id', cell: (row) => idText(row.platform) },
    { title: 'Desde', cell: (row) => moment(context.calendar, row.named_at) },
  ],
})}`;
}

async function nameForm(context: Context, response: Response, draft: Draft): Promise<Html> {
  const known = (await readPlatformBalances(context, END_OF_TIME)).map(({ platform }) => platform);
  const names = await readNamesInFull(context);
  const words = Object.fromEntries(known.map((platform) => [platform, labelPlatform(names, platform)]));
  const field = { name: 'name', label: 'Nome', hint: 'Vazio retira o nome.' } as const;
  return html`<section class="act"><h2>${t('Dar um nome')}</h2>${postForm(
    response,
    ADDRESS,
    html`<div class="fields">${choiceField(draft, { name: 'platform', label: 'Plataforma', words, any: 'Escolha' })}
${inputField(draft, field, html` maxlength="${PLATFORM_NAME_CHARS_MAX}"`)}<div class="actions"><button>${t('Salvar')}</button></div></div>`,
  )}</section>`;
}
