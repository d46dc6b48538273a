import type { Request, Response } from 'express';
import { t } from '../../../texts/translate.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { sendPage } from '../parts/send-page.ts';

const TABS = [
  ['/charts', 'Por dia'],
  ['/charts/hours', 'Por hora'],
  ['/charts/webhooks', 'Webhooks'],
  ['/charts/callbacks', 'Callbacks'],
] as const;

/** Answers with a page of charts: its form, and its charts unless the form has a fault. */
export function sendCharts(
  request: Request,
  response: Response,
  { form, charts }: { form: Html; charts: Part | undefined },
): void {
  const here = TABS.find(([address]) => address === request.path.replace(/\/$/, ''));
  const body = html`<h1>${t('Gráficos')}</h1>
<nav class="tabs" aria-label="${t('Gráficos')}">${TABS.map(
    (tab) => html`<a href="${tab[0]}"${tab === here && html` aria-current="page"`}>${t(tab[1])}</a>`,
  )}</nav>
${form}
${charts}`;
  sendPage(request, response, {
    title: here ? `${t('Gráficos')}: ${t(here[1])}` : t('Gráficos'),
    body,
    status: charts === undefined ? 422 : 200,
  });
}
