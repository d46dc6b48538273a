import type { Context } from '../../../context.ts';
import { FIGURE_LINES, type Figures } from '../../../reports/read/report-figures.ts';
import type { ReportDay } from '../../../reports/serve/list-report-days.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { plural, t } from '../../../texts/translate.ts';
import { moment, money } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { dayLink, table } from '../parts/page-components.ts';

type Revision = ReportDay['revisions'][number];
/** A revision that somebody may have; `next`: the newest one, undefined where the ledger alone knows more. */
type Outdated = { day: ReportDay; revision: Revision; next: Revision | undefined };

const SECTION = 'outdated';

/** Says of sums how many of their days changed after a report of them was made, with a link to these; nothing where none did. */
export function sayOutdated(days: ReportDay[]): Html | undefined {
  const outdated = days.filter((day) => listOutdated(day).length > 0);
  if (outdated.length === 0) return undefined;
  const lacking = outdated.filter(({ state }) => state === 'changed').length;
  const said = plural(
    outdated.length,
    'Um destes dias mudou depois de um relatório dele.',
    '{n} destes dias mudaram depois de um relatório deles.',
  );
  return html`<span class="hint"><a href="#${SECTION}">${said}</a> ${
    lacking === 0
      ? t('A soma tem a revisão mais nova de cada um.')
      : plural(lacking, 'De um, a soma ainda não tem a mudança.', 'De {n}, a soma ainda não tem a mudança.')
  }</span>`;
}

/** Lists the files of whole days that are no longer what is known, and what changed since. */
export function renderOutdated(context: Context, days: ReportDay[], query: string): Part {
  const rows = days.flatMap(listOutdated);
  if (rows.length === 0) return undefined;
  return html`<section id="${SECTION}"><h2>${t('Arquivos que mudaram depois de feitos')}</h2><p class="hint">${t('Quem recebeu um destes tem números antigos: entregue a revisão mais nova.')}</p>${table<Outdated>(
    {
      caption: 'Arquivos que mudaram depois de feitos',
      rows,
      empty: 'Nenhuma.',
      columns: [
        { title: 'Dia', cell: ({ day }) => dayLink(day.day, query) },
        { title: 'Revisão', cell: ({ revision }) => html`<b>${revision.revision}</b>` },
        { title: 'Feita em', cell: ({ revision }) => moment(context.calendar, revision.madeAt) },
        { title: 'O que mudou', cell: describeChange },
      ],
    },
  )}</section>`;
}

function listOutdated(day: ReportDay): Outdated[] {
  const [newest, ...older] = day.revisions.filter(({ state }) => state !== 'partial');
  if (!newest) return [];
  const replaced = older.filter(({ digest }) => digest !== newest.digest);
  return [
    ...(day.state === 'changed' ? [{ day, revision: newest, next: undefined }] : []),
    ...replaced.map((revision) => ({ day, revision, next: newest })),
  ];
}

function describeChange({ day, revision, next }: Outdated): Html {
  if (!next) {
    const change = day.ledger.closing - (revision.figures?.closing ?? day.ledger.closing);
    return html`${change === 0n ? t('Linhas, e não o saldo final') : changeOf('closing', change)}; ${t('ainda sem nova revisão')}`;
  }
  const address = `/reports/${day.day}?from=${revision.revision}&to=${next.revision}#changes`;
  const changes = revision.figures && next.figures ? listChanges(revision.figures, next.figures) : [];
  const text = changes.length === 0 ? [t('Linhas, e não as somas')] : changes;
  return html`${text.map((one, index) => html`${index > 0 && ', '}${one}`)} <a href="${address}">${t('Comparar')}</a>`;
}

function listChanges(before: Figures, after: Figures): Html[] {
  return FIGURE_LINES.flatMap((line) =>
    before[line] === after[line] ? [] : [changeOf(line, after[line] - before[line])],
  );
}

function changeOf(line: (typeof FIGURE_LINES)[number], cents: bigint): Html {
  return html`${textsOf(language()).summary[line]}: ${cents > 0n && '+'}${money(cents)}`;
}
