/** The fields of the charts' forms: days, and a platform. A wrong field keeps the form and says what is wrong. */
import type { Request } from 'express';
import { addDays, type Day, isDay } from '../../../domain/calendar.ts';
import { checkDays } from '../../../ledger/read/read-money-series.ts';
import { t } from '../../../texts/translate.ts';
import { type Draft, inputField, noteRefusals } from '../parts/fields.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { filterForm } from '../parts/page-components.ts';
import { readQuery } from '../parts/parse-filters.ts';

const DAYS_SHOWN = 30;

export type Period = { from: Day; to: Day };

/** Starts a form with the values of the address, or these defaults. */
export function readDraft(request: Request, otherwise: Record<string, string>): Draft {
  const given = Object.entries(otherwise).map(([name, value]) => [name, readQuery(request, name) || value] as const);
  return { values: Object.fromEntries(given), faults: {} };
}

/** The last days up to today. */
export function recentPeriod(today: Day): Period {
  return { from: addDays(today, 1 - DAYS_SHOWN), to: today };
}

/** Reads the days of a form, at most SERIES_DAYS_MAX that have begun, and notes what is wrong with them. */
export function readPeriod(draft: Draft, today: Day): Period | undefined {
  const { from = '', to = '' } = draft.values;
  for (const name of ['from', 'to']) if (!isDay(draft.values[name] ?? '')) draft.faults[name] = t('Escolha um dia.');
  if (hasFaults(draft)) return undefined;
  if (to > today) draft.faults.to = t('Este dia ainda não começou.');
  else noteRefusals(draft, () => checkDays(from, to));
  return hasFaults(draft) ? undefined : { from, to };
}

/** Reads one day that has begun, and notes what is wrong with it. */
export function readOneDay(draft: Draft, today: Day): Day | undefined {
  const { day = '' } = draft.values;
  if (!isDay(day)) draft.faults.day = t('Escolha um dia.');
  else if (day > today) draft.faults.day = t('Este dia ainda não começou.');
  return hasFaults(draft) ? undefined : day;
}

/** Reads the platform of a form; undefined for all. An unknown one is a fault: it must not show all instead. */
export function readPlatform(draft: Draft, platforms: Record<string, string>): string | undefined {
  const { platform = '' } = draft.values;
  if (platform === '') return undefined;
  if (!Object.hasOwn(platforms, platform))
    draft.faults.platform = t('Não há lançamento desta plataforma. Escolha uma da lista.');
  return platform;
}

export function hasFaults({ faults }: Draft): boolean {
  return Object.keys(faults).length > 0;
}

/** A form by GET, so that a chart has an address. */
export function chartForm(request: Request, fields: Part): Html {
  return filterForm(request.path, fields, Object.keys(request.query).length > 0);
}

export function periodFields(draft: Draft, today: Day): Html {
  const max = html` type="date" max="${today}"`;
  return html`${inputField(draft, { name: 'from', label: t('De') }, max)}${inputField(draft, { name: 'to', label: t('Até') }, max)}`;
}
