import type { Context } from '../../../context.ts';
import { type Day, monthOf } from '../../../domain/calendar.ts';
import type { ChangePreview, PreviewedEntry } from '../../../ledger/read/preview-change.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { listClosesInForce, readMonthChanges } from '../../../seal/read-month-closes.ts';
import { ALERT_TEXTS } from '../../../texts/alerts/describe-alert.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import { formatMonth } from '../../../texts/reports/texts.ts';
import { t } from '../../../texts/translate.ts';
import { formatCount, formatWallTime, money } from './format.ts';
import { type Html, html, tHtml } from './html.ts';
import { dayLink, table } from './page-components.ts';
import { readPlatformBalances, sumByPlatform } from './read-platform-balances.ts';
import { type PlatformNames, readNamesInFull, showPlatform } from './read-platform-names.ts';
import { renderPostings } from './render-postings.ts';
import { ENTRY_KIND_WORDS } from './words.ts';

const ENTRIES_SHOWN = 10;
const DAYS_SHOWN = 31;

type Effect = { platform: string; before: bigint; change: bigint };

/**
 * Renders what a change would do: to the balances, which entries it posts, which reports change, and which alerts it raises.
 * @param effects shown in place of the effects of the preview's own entries.
 */
export async function renderPreview(context: Context, preview: ChangePreview, effects?: Html): Promise<Html> {
  if (preview.entries.length + preview.days.length + preview.opened.length === 0)
    return html`<p class="empty">${t('Nada é lançado: nenhum saldo muda, e nenhum dia já relatado.')}</p>`;
  const names = await readNamesInFull(context);
  const months = new Set(preview.entries.map(({ atWall }) => monthOf(atWall)));
  const closes = listClosesInForce(await readMonthChanges(context.db)).filter(({ month }) => months.has(month));
  const closed = closes.map(({ month }) => formatMonth(month));
  return html`<section><h2>${t('Efeito no saldo')}</h2>${effects ?? renderEffects(names, await readEffects(context, preview.entries))}</section>
<section><h2>${t('Lançamentos')}</h2>${renderEntries(names, preview.entries)}</section>
<section><h2>${t('Relatórios')}</h2>${renderDays(preview.days)}${closed.length > 0 && html`<p class="explain open">${t('Mês fechado, cujas cifras não mudam: {list}. O que muda nele aparece na planilha do mês seguinte, em Ajustes de meses anteriores.', { list: closed.join(', ') })}</p>`}</section>
${renderAlerts(preview, effects === undefined)}`;
}

/** Renders the alerts that the change itself raises. @param isWhole whether a preview without one says so. */
function renderAlerts({ opened }: ChangePreview, isWhole: boolean): Html {
  const kinds = [...new Set(opened.map(({ kind }) => kind))];
  const said = kinds.map((kind) => {
    const { title, todo } = ALERT_TEXTS[language()][kind];
    return html`<p class="explain open">${t('Ao confirmar, você causa o alerta “{title}”.', { title })} ${todo} <a href="/runbooks/${kind}">${t('Guia')}</a></p>`;
  });
  return html`<section><h2>${t('Alertas')}</h2>${kinds.length > 0 ? said : isWhole && html`<p class="empty">${t('Nenhum alerta novo.')}</p>`}</section>`;
}

/** Reads the balance now of each platform whose balance changes. */
async function readEffects(context: Context, entries: PreviewedEntry[]): Promise<Effect[]> {
  const now = new Map((await readPlatformBalances(context, endOfNow(context))).map((one) => [one.platform, one]));
  const changes = sumByPlatform(entries.flatMap(({ postings }) => postings));
  return changes.map(({ platform, availableCents, heldCents }) => {
    const { availableCents: available = 0n, heldCents: held = 0n } = now.get(platform) ?? {};
    return { platform, before: available + held, change: availableCents + heldCents };
  });
}

/** The balances before and after a change. */
export function renderEffects(names: PlatformNames, effects: Effect[]): Html {
  return table({
    caption: 'Saldo antes e depois',
    rows: effects,
    empty: 'Nenhum saldo muda.',
    columns: [
      { title: 'Plataforma', cell: (row) => showPlatform(names, row.platform) },
      { title: 'Saldo agora', cell: (row) => money(row.before), align: 'end' },
      { title: 'Efeito', cell: (row) => money(row.change), align: 'end' },
      { title: 'Saldo depois', cell: (row) => html`<b>${money(row.before + row.change)}</b>`, align: 'end' },
    ],
  });
}

function renderEntries(names: PlatformNames, entries: PreviewedEntry[]): Html {
  if (entries.length === 0) return html`<p class="empty">${t('Nada é lançado.')}</p>`;
  const left = entries.length - ENTRIES_SHOWN;
  return html`${entries.slice(0, ENTRIES_SHOWN).map((entry, index) => {
    const title = describeCode(ENTRY_KIND_WORDS, entry.kind);
    return html`<div class="entry"><p><b>${title}</b> <span class="hint">${t('com data de {at}', { at: formatWallTime(entry.atWall) })}</span></p>
${renderPostings(names, t('Partidas do lançamento {n}', { n: index + 1 }), entry.postings)}</div>`;
  })}${left > 0 && html`<p class="hint">${t('E mais {n} lançamentos.', { n: formatCount(left) })}</p>`}`;
}

function renderDays(days: Day[]): Html {
  if (days.length === 0) return html`<p class="empty">${t('Nenhum dia já relatado muda.')}</p>`;
  const left = days.length - DAYS_SHOWN;
  const list = html`${days
    .slice(0, DAYS_SHOWN)
    .map(
      (day, index) => html`${index > 0 && ', '}${dayLink(day)}`,
    )}${left > 0 && ` ${t('e mais {n}', { n: formatCount(left) })}`}`;
  const count = formatCount(days.length);
  return html`<p>${
    days.length === 1
      ? tHtml('Um dia já relatado ganha uma nova revisão: {list}.', { list })
      : tHtml('{count} dias já relatados ganham uma nova revisão: {list}.', { count, list })
  } ${t('A agenda a faz na próxima vez que fizer relatórios; antes dela, o botão na página do dia.')}</p>`;
}
