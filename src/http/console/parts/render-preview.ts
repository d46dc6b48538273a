import type { Context } from '../../../context.ts';
import type { Day } from '../../../domain/calendar.ts';
import type { ChangePreview, PreviewedEntry } from '../../../ledger/read/preview-change.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { describeCode } from '../../../texts/fill.ts';
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
 * Renders what a change would do: to the balances, which entries it posts, and which reports change.
 * @param effects shown in place of the effects of the preview's own entries.
 */
export async function renderPreview(context: Context, preview: ChangePreview, effects?: Html): Promise<Html> {
  if (preview.entries.length === 0 && preview.days.length === 0)
    return html`<p class="empty">${t('Nada é lançado: nenhum saldo muda, e nenhum dia já relatado.')}</p>`;
  const names = await readNamesInFull(context);
  return html`<section><h2>${t('Efeito no saldo')}</h2>${effects ?? renderEffects(names, await readEffects(context, preview.entries))}</section>
<section><h2>${t('Lançamentos')}</h2>${renderEntries(names, preview.entries)}</section>
<section><h2>${t('Relatórios')}</h2>${renderDays(preview.days)}</section>`;
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
