import type { Response } from 'express';
import type { AlertCounts, ListedAlert } from '../../../alerts/read/read-alerts.ts';
import type { LiveProcess } from '../../../runtime/read-processes.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t, words } from '../../../texts/translate.ts';
import { formatAge, formatCount } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { SEVERITY_WORDS } from '../parts/words.ts';
import type { Action, Reason, Verdict } from './decide-verdict.ts';

const TITLES = words({ wrong: 'Não confere', unknown: 'Ainda não sabemos', good: 'Confere' });

/** Renders the heading of the overview: the verdict, and each reason with what answers it. */
export function renderVerdict(response: Response, { state, wrong, unknown, notices, decided }: Verdict): Html {
  const list = (title: string, reasons: Reason[]): Part =>
    reasons.length > 0 &&
    html`${state === 'wrong' && html`<h2>${title}</h2>`}<ul class="reasons">${reasons.map(
      ({ text, action }) => html`<li><span class="long">${text}.</span> ${renderAction(response, action)}</li>`,
    )}</ul>`;
  return html`<div class="verdict is-${state}"><h1>${TITLES[state]}</h1>${
    state === 'good' &&
    html`<p>${t('Uma conferência completa de hoje começou há menos de dez minutos, todos os dias terminados estão provados, os saldos informados batem e nenhum alerta diz que algo está errado.')}</p>`
  }${list(t('O que está errado'), wrong)}${list(t('O que ainda não sabemos'), unknown)}${[
    ...notices,
    ...(decided ? [decided] : []),
  ].map(({ text, action }) => html`<p class="decided">${text}. ${renderAction(response, action)}</p>`)}</div>`;
}

function renderAction(response: Response, action: Action): Part {
  if (action.kind === 'link') return html`<a class="todo" href="${action.path}">${action.text}</a>`;
  if (!hasRole(response, 'operator'))
    return html`<a class="todo" href="/reconciliations">${t('Ver as conferências')}</a>`;
  const days = html`<input type="hidden" name="from" value="${action.from}"><input type="hidden" name="to" value="${action.to}">`;
  return postForm(response, '/reconciliations', html`${days}<button class="secondary">${action.text}</button>`);
}

/** One line for the alerts that fire: how many of each severity, and the channels that do not accept them. */
export function renderAlertStrip(alerts: ListedAlert[], counts: AlertCounts, count: number): Part {
  if (count === 0) return undefined;
  const severities = ['critical', 'high', 'medium'].flatMap((severity) => {
    const found = counts.get(severity) ?? 0;
    return found === 0
      ? []
      : [
          t('{n} de gravidade {severity}', {
            n: formatCount(found),
            severity: describeCode(SEVERITY_WORDS, severity).toLowerCase(),
          }),
        ];
  });
  const failing = [
    ...new Set(
      alerts.flatMap(({ sends }) => sends.filter(({ error }) => error !== null).map(({ channel }) => channel)),
    ),
  ];
  return html`<p class="strip"><a href="/alerts"><b>${plural(count, '{n} alerta ativo', '{n} alertas ativos')}</b></a>: ${severities.join(', ')}.${
    failing.length > 0 &&
    html` <span class="fault">${t('Sem conseguir avisar: {channels}.', { channels: failing.join(', ') })}</span>`
  }</p>`;
}

/** One line for the processes that fell silent: the others do their work. */
export function renderLost(lost: LiveProcess[], now: Date): Part {
  if (lost.length === 0) return undefined;
  const named = lost.map(({ holder, host, seen_at }) => `${host} ${holder} (${formatAge(seen_at, now)})`);
  return html`<p class="strip"><a href="/system"><b>${plural(lost.length, '{n} processo em silêncio', '{n} processos em silêncio')}</b></a>: <span class="fault">${named.join(', ')}</span>.</p>`;
}
