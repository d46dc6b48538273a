/** A database that was restored and is not confirmed: each page says so, and what was true of the lost machine is not shown as of now. */
import type { RequestHandler, Response } from 'express';
import type { Context } from '../../../context.ts';
import { findUnconfirmedRestore, type Restore } from '../../../database/restores.ts';
import { t } from '../../../texts/translate.ts';
import { moment } from './format.ts';
import { type Html, html, tHtml } from './html.ts';

/** Reads it for the handlers of the request. */
export function readRestored({ db, calendar }: Context): RequestHandler {
  return async (_request, response, next) => {
    const restore = await findUnconfirmedRestore(db);
    if (restore)
      Object.assign(response.locals, { restore, restoreNotice: renderNotice(moment(calendar, restore.gap_from)) });
    next();
  };
}

/** Since when the database is restored without a confirmation; undefined: it is not. */
export function restoredSince(response: Response): Date | undefined {
  return (response.locals.restore as Restore | undefined)?.restored_at;
}

/** The notice of each page. */
export function restoreNotice(response: Response): Html | undefined {
  return response.locals.restoreNotice as Html | undefined;
}

function renderNotice(at: Html): Html {
  return html`<p class="notice restored" role="status">${tHtml('<b>Banco de dados restaurado, e ainda não confirmado.</b> Tem tudo até {at}; o que veio depois está sendo lido de novo, e os callbacks estão retidos.', { at })} <a href="/runbooks/restore_unconfirmed">${t('O que fazer')}</a></p>`;
}
