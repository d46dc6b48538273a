import type { DecidedRow } from '../../../imports/import-kind.ts';
import { DECISION_WORDS, DECISIONS_MAX } from '../../../imports/kinds/decisions.ts';
import { ALERT_TEXTS } from '../../../texts/alerts/describe-alert.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatCount, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';

/** The effect of each row of decisions. A file has few enough to show all. */
export function renderDecisions(rows: readonly DecidedRow[]): Html {
  return html`<section><h2>${t('O que muda em cada linha')}</h2>${table({
    caption: 'O que muda em cada linha',
    rows: rows.slice(0, DECISIONS_MAX),
    empty: '',
    columns: [
      { title: 'Linha', cell: ({ row }) => formatCount(row), align: 'end' },
      {
        title: 'Divergência',
        cell: ({ mismatch_id: id, kind }) => html`<a href="/mismatches/${id}">${titleOf(kind)}</a>`,
      },
      { title: 'Decisão', cell: ({ decision }) => DECISION_WORDS[decision][language()] },
      { title: 'Com qual', cell: ({ which }) => (which === null ? EMPTY_VALUE : linkPartner(which)) },
      { title: 'Efeito', cell: describeEffect },
    ],
  })}</section>`;
}

function titleOf(kind: string): string {
  return (ALERT_TEXTS[language()] as Record<string, { title: string }>)[kind]?.title ?? kind;
}

function linkPartner(id: string): Html {
  const list = id.startsWith('ep_') ? 'expected' : 'transactions';
  return html`<a href="/${list}/${encodeURIComponent(id)}">${shortId(id)}</a>`;
}

function describeEffect({ decision, changed }: DecidedRow): string {
  if (!changed) return t('nada muda: já está decidida assim');
  if (decision === 'match') return t('o pedido e o pagamento são casados; a divergência acaba em seguida');
  return decision === 'accept'
    ? t('a versão do provedor é aceita')
    : t('é resolvida com a observação; o razão não muda');
}
