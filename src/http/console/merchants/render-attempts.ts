import type { presentAttempt } from '../../../callbacks/manage/present-callback.ts';
import type { Context } from '../../../context.ts';
import { t } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatCount, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { describeOutcome } from './render-delivery.ts';

/** The attempts of a callback. @param withBody whether the merchant's answers are shown. @param addresses of the attempts: undefined where unknown, null where nothing was sent; without any, none is shown. */
export function renderAttempts(
  context: Pick<Context, 'calendar'>,
  attempts: ReturnType<typeof presentAttempt>[],
  withBody: boolean,
  addresses: readonly (string | null | undefined)[] = [],
): Html {
  return table({
    caption: 'Tentativas, a mais antiga primeiro',
    rows: attempts,
    empty: 'Nenhuma tentativa até agora.',
    columns: [
      { title: 'Nº', cell: (row) => row.number },
      { title: 'Em', cell: (row) => moment(context.calendar, row.at) },
      { title: 'Duração', cell: (row) => `${formatCount(row.duration_ms)} ms`, align: 'end' },
      {
        title: 'Resultado',
        cell: (row) => {
          const known = addresses[attempts.indexOf(row)];
          const unknown =
            known === undefined &&
            addresses.length > 0 &&
            t('o endereço mudou depois, e o de então não está mais guardado');
          const to = known ?? row.request_headers.host ?? unknown;
          return html`${describeOutcome(row.response_status, row.error_class)}${to && html` <span class="hint long">${to}</span>`}`;
        },
      },
      ...(withBody
        ? [
            {
              title: 'Cabeçalhos da requisição' as const,
              cell: (row: (typeof attempts)[number]) => renderHeaders(row.request_headers),
            },
            {
              title: 'Resposta' as const,
              cell: (row: (typeof attempts)[number]) =>
                row.response_body ? html`<pre>${row.response_body}</pre>` : EMPTY_VALUE,
            },
          ]
        : []),
    ],
  });
}

function renderHeaders(headers: Record<string, string>): Html {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return html`<details><summary>${t('Ver')}</summary><pre>${lines.join('\n')}</pre></details>`;
}
