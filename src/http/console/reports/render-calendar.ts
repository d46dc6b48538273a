import { monthOf } from '../../../domain/calendar.ts';
import type { ReportDay } from '../../../reports/serve/list-report-days.ts';
import { t } from '../../../texts/translate.ts';
import { money } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { badge } from '../parts/page-components.ts';
import { DAY_STATE_WORDS } from './explain-day.ts';
import { nameMonth, nameWeekdays, weekdayOf } from './month.ts';

/**
 * A month as a list of days: seven columns where there is room, and one line a day on a phone. Each day links to its page
 * and shows its state and its closing balance.
 * @param query of the links to the days' pages.
 */
export function renderCalendar(days: ReportDay[], { today, query }: { today: string; query: string }): Html {
  const weekdays = nameWeekdays();
  return html`<div class="calendar"><ul class="weekdays" aria-hidden="true">${weekdays.map((name) => html`<li>${name}</li>`)}</ul>
<ol role="list">${days.map((day, index) => {
    const weekday = weekdayOf(day.day);
    const isEmpty = day.state === 'future' || day.state === 'before';
    const month = t('de {month}', { month: nameMonth(monthOf(day.day)) });
    const name = html`<span class="weekday">${weekdays[weekday]}, </span><b>${Number(day.day.slice(8, 10))}</b><span class="unseen"> ${month}</span>`;
    const isToday = day.day === today && html` aria-current="date"`;
    return html`<li class="on-${day.state}${index === 0 && ` from-${weekday}`}">${
      isEmpty ? name : html`<a href="/reports/${day.day}${query}"${isToday}>${name}</a>`
    } ${renderState(day, isEmpty)}</li>`;
  })}</ol></div>`;
}

function renderState(day: ReportDay, isEmpty: boolean): Part {
  if (isEmpty) return html`<span class="unseen">${DAY_STATE_WORDS[day.state]}</span>`;
  const newest = day.revisions[0]?.revision ?? 0;
  const title = t('Revisão {revision}', { revision: newest });
  const revision = newest > 1 && html` <span class="hint" title="${title}">${`r${newest}`}</span>`;
  return html`<span>${badge(DAY_STATE_WORDS, day.state)}${revision}</span> ${money(day.figures?.closing ?? day.ledger.closing)}`;
}
