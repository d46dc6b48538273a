import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import type { Day } from '../../../domain/calendar.ts';
import { startOneRun } from '../../../operations/runs.ts';
import { t } from '../../../texts/translate.ts';
import { nameWhoMay } from '../access/name-actors.ts';
import { type Html, html } from '../parts/html.ts';
import { hasRole } from '../parts/send-page.ts';

/** Leads to the form of a run over these days; who may start none reads whom to ask, and the address to send. */
export async function askReading(context: Context, response: Response, days: { from: Day; to: Day }): Promise<Html> {
  const path = `/reconciliations?${new URLSearchParams({ from: days.from, to: days.to }).toString()}`;
  return html`<p class="act-hint">${
    hasRole(response, ...startOneRun.roles)
      ? html`<a href="${path}">${t('Iniciar essa conferência')}</a>`
      : html`${t('Envie este endereço a um operador:')} <code class="id">${context.config.PUBLIC_URL}${path}</code>${await nameWhoMay(context, response, startOneRun.roles)}`
  }</p>`;
}
