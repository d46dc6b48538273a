import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { ADJUSTED } from '../../../reports/read/create-tally.ts';
import { FIGURE_LINES, type Figures } from '../../../reports/read/report-figures.ts';
import type { ChangeRow } from '../../../reports/render/columns.ts';
import { COMPARE_LIMITS, type RevisionComparison } from '../../../reports/serve/compare-revisions.ts';
import type { DayRevision } from '../../../reports/serve/decide-day.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { type Label, t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { choiceField } from '../parts/fields.ts';
import { EMPTY_VALUE, formatCount, moment, money, shortId } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { table, transactionLink } from '../parts/page-components.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { sayNoFigures } from './explain-day.ts';

export type Chosen = { from: number; to: number };

/** The form that chooses two revisions of a day; at first the newest two. */
export function compareForm(
  day: string,
  revisions: DayRevision[],
  { chosen, platform, fault }: { chosen: Chosen; platform: string | undefined; fault: string | undefined },
): Html {
  const words = Object.fromEntries(
    revisions.map(({ revision }) => [String(revision), t('Revisão {revision}', { revision })]),
  );
  const draft = { values: { from: String(chosen.from), to: String(chosen.to) }, faults: {} };
  const field = (name: 'from' | 'to', label: Label): Html => choiceField(draft, { name, label, words });
  return html`<form method="get" action="/reports/${day}#changes"><div class="fields">${field('from', t('Da'))}${field('to', t('Para a'))}
${platform !== undefined && html`<input type="hidden" name="platform" value="${platform}">`}<div class="actions"><button>${t('Comparar')}</button></div></div>${
    fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`
  }</form>`;
}

/** Renders the changes between two revisions: figures of Resumo, then rows, each with its reason. */
export function renderComparison(
  context: Context,
  response: Response,
  { from, to }: Chosen,
  comparison: RevisionComparison,
  names: PlatformNames,
): Html {
  const { before, after, rows, hasMore, afterPartial } = comparison;
  return html`<h3>${t('Números de Resumo')}</h3>${
    before && after ? renderFigures(before, after) : html`<p class="hint">${sayNoFigures()}</p>`
  }
<h3>${t('Linhas')}</h3>${afterPartial && html`<p class="hint">${t('A revisão {revision} foi feita com o dia em curso: o que veio depois é novo, e não está listado.', { revision: from })}</p>`}
${rows === undefined ? html`<p class="fault">${t('As linhas não foram comparadas: leva mais de {n} s. A aba Alterações da revisão {revision} tem todas desde a anterior.', { n: COMPARE_LIMITS.msMax / 1000, revision: to })}</p>` : renderRows(context, response, rows, names)}
${hasMore && html`<p class="hint">${tHtml('Aqui estão as primeiras {count}. A aba <i>Alterações</i> da revisão {revision} tem todas desde a anterior.', { count: formatCount(rows?.length ?? 0), revision: to })}</p>`}`;
}

type Compared = { name: string; before: Part; after: Part; difference: Part };

function renderFigures(before: Figures, after: Figures): Html {
  const { summary } = textsOf(language());
  const lines = [...FIGURE_LINES, ...ADJUSTED].flatMap((line): Compared[] => {
    const [was, is] = [before[line], after[line]];
    if (was === undefined || is === undefined || was === is) return [];
    return [{ name: summary[line], before: money(was), after: money(is), difference: signed(is - was) }];
  });
  const [was, is] = [before.openMismatches, after.openMismatches];
  const counts = { name: summary.openMismatches, before: formatCount(was), after: formatCount(is) };
  const difference = `${is > was ? '+' : '-'}${formatCount(Math.abs(is - was))}`;
  return table<Compared>({
    caption: 'Números de Resumo que mudaram',
    rows: was === is ? lines : [...lines, { ...counts, difference }],
    empty: 'Nenhum número mudou.',
    columns: [
      { title: 'Linha', cell: ({ name }) => name },
      { title: 'Antes', cell: (row) => row.before, align: 'end' },
      { title: 'Depois', cell: (row) => row.after, align: 'end' },
      { title: 'Diferença', cell: (row) => html`<b>${row.difference}</b>`, align: 'end' },
    ],
  });
}

function renderRows(context: Context, response: Response, rows: ChangeRow[], names: PlatformNames): Html {
  return table({
    caption: 'Linhas que mudaram, na ordem em que o Confere as conheceu',
    rows,
    empty: 'Nenhuma linha mudou.',
    columns: [
      {
        title: 'O que mudou',
        cell: (row) =>
          html`<b>${row.what}</b>${row.id !== null && html` ${transactionLink(row.id)}`}${
            row.reference && html`<br><span class="hint long">${row.reference}</span>`
          }${platformHint(response, row, names)}`,
      },
      { title: 'Antes', cell: (row) => textOr(row.before) },
      { title: 'Depois', cell: (row) => textOr(row.after) },
      { title: 'Efeito no saldo', cell: effectCell, align: 'end' },
      {
        title: 'Por quê',
        cell: (row) =>
          html`<span class="long">${row.why}</span><br><span class="hint">${linkSource(row.source)} ${moment(context.calendar, row.recordedAt)}</span>`,
      },
    ],
  });
}

function platformHint(response: Response, row: ChangeRow, names: PlatformNames): Part {
  if (row.platform === null) return undefined;
  const { platform } = presentPlatform(getCaller(response), { platform: row.platform });
  return html`<br><span class="hint">${showPlatform(names, platform)}</span>`;
}

function textOr(text: string): Part {
  return text === '' ? EMPTY_VALUE : html`<span class="long">${text}</span>`;
}

function effectCell({ effectBefore, effectAfter }: ChangeRow): Part {
  if (effectBefore === null && effectAfter === null) return EMPTY_VALUE;
  const [before, after] = [effectBefore ?? 0n, effectAfter ?? 0n];
  if (before === after) return money(after);
  return html`${money(before)} → ${money(after)}<br><b>${signed(after - before)}</b>`;
}

function signed(cents: bigint): Html {
  return html`${cents > 0n && '+'}${money(cents)}`;
}

/** `Lista run_… p. 3`: ids of runs and webhooks as links. */
function linkSource(source: string): Part {
  return source.split(' ').map((word) => {
    if (word.startsWith('wh_')) return html`<a href="/inbox/${word}">${shortId(word)}</a> `;
    if (word.startsWith('run_')) return html`<a href="/reconciliations/${word}">${shortId(word)}</a> `;
    return html`${word} `;
  });
}
