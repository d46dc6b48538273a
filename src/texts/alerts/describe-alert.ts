/**
 * The texts of alerts. An alert stores its facts, and its texts are made from them in the language in which they are read:
 * a channel's in REPORT_LOCALE, the console's in that of its reader. `summary`, for the log and the API, is the English text
 * with instants in UTC.
 */
import { type Calendar, isDay } from '../../domain/calendar.ts';
import { formatDay, formatWallTime, type Language } from '../../domain/language/language.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { formatAmount, formatMoney } from '../../domain/money.ts';
import type { AlertFacts, AlertText, Formats, Say } from './alert-facts.ts';
import type { AlertKind } from './alert-kinds.ts';
import { EN_SAY } from './say-en.ts';
import { PT_BR_SAY } from './say-pt-br.ts';
import { EN_TEXTS, EN_WORDS } from './texts-en.ts';
import { PT_BR_TEXTS, PT_BR_WORDS } from './texts-pt-br.ts';

export const ALERT_TEXTS: Record<Language, Record<AlertKind, AlertText>> = { 'pt-BR': PT_BR_TEXTS, en: EN_TEXTS };
const SAY = { 'pt-BR': PT_BR_SAY, en: EN_SAY };
export const ALERT_WORDS = { 'pt-BR': PT_BR_WORDS, en: EN_WORDS };

const SUMMARY_CHARS_MAX = 500;
const DAY_CHARS = '2026-11-20'.length;
const SUMMARY_FORMATS: Formats = {
  at: (iso) => iso ?? '',
  money: (cents) => `R$ ${formatAmount(BigInt(cents))}`,
  day: (day) => day,
};

/** The facts of an alert, with their summary. */
export function summarize(name: AlertKind, facts: AlertFacts): { facts: AlertFacts; summary: string } {
  return { facts, summary: `${name}: ${sayOf('en', name)(facts, SUMMARY_FORMATS)}`.slice(0, SUMMARY_CHARS_MAX) };
}

/** An alert for its reader: instants on the provider's clock, amounts as their language writes them. */
export type DescribedAlert = AlertText & {
  text: string;
  severity: string;
  since: string;
  until: string | undefined;
  /** Addresses on this service: what it is about, and what to do. */
  path: string;
  runbookPath: string;
};

type StoredAlert = {
  name: string;
  severity: string;
  summary: string;
  facts: AlertFacts | null;
  mismatchId: string | null;
  raisedAt: Date;
  endedAt: Date | null;
  /** The name that people gave to the platform that it concerns, as its reader may see it. */
  platformName?: string | undefined;
  /** The number of the order that it is about, as its reader may see it. */
  orderNumber?: string | undefined;
};

/** Describes an alert in a language. One of an earlier version has no facts: its text is the summary. */
export function describeAlert(calendar: Calendar, locale: Language, alert: StoredAlert): DescribedAlert {
  const at = (instant: Date): string => formatWallTime(calendar.toWallTime(instant), locale);
  const formats: Formats = {
    at: (iso) => (iso === undefined ? '' : at(new Date(iso))),
    money: (cents) => formatMoney(BigInt(cents), locale),
    day: (day) => formatDay(day, locale),
  };
  const { name, orderNumber } = alert;
  const facts = orderNumber === undefined || !alert.facts ? alert.facts : { ...alert.facts, expected: orderNumber };
  const { title = name, todo = '' } = (ALERT_TEXTS[locale] as Record<string, AlertText>)[name] ?? {};
  return {
    title,
    todo,
    text: toLine(facts ? sayOf(locale, name)(spellDay(spellPlatform(alert, facts), formats), formats) : alert.summary),
    severity: ALERT_WORDS[locale].severities[alert.severity] ?? alert.severity,
    since: at(alert.raisedAt),
    until: alert.endedAt ? at(alert.endedAt) : undefined,
    path: pathOf(alert),
    runbookPath: `/runbooks/${encodeURIComponent(name)}${locale === 'en' ? '?lang=en' : ''}`,
  };
}

/** A text in one line without what nobody sees: ids and numbers of others in it begin no line of a mail. */
function toLine(text: string): string {
  return showUnseen(text.replace(/[\t\r\n]+/g, ' '));
}

/** The platform that an alert concerns, by its id: the scope of some kinds of mismatches names it. */
export function findPlatform({ name, facts }: Pick<StoredAlert, 'name' | 'facts'>): string | undefined {
  const { platform, about } = facts ?? {};
  if (platform !== undefined || name === 'balance_differs') return platform ?? about;
  return name === 'list_unstable' ? about?.split(/ (.*)/s)[1] : undefined;
}

/** The facts with the platform as `Loja do Centro (6f9619ff-…)`. */
function spellPlatform(alert: StoredAlert, facts: AlertFacts): AlertFacts {
  const id = findPlatform(alert);
  if (id === undefined || alert.platformName === undefined) return facts;
  const spelt = `${alert.platformName} (${id})`;
  if (facts.platform !== undefined) return { ...facts, platform: spelt };
  return { ...facts, about: `${facts.about?.slice(0, -id.length)}${spelt}` };
}

/** The facts with the day that a scope begins with, as `list_unstable` has it, as its reader writes days. */
function spellDay(facts: AlertFacts, { day }: Formats): AlertFacts {
  const start = facts.about?.slice(0, DAY_CHARS);
  if (start === undefined || !isDay(start)) return facts;
  return { ...facts, about: `${day(start)}${facts.about?.slice(DAY_CHARS)}` };
}

export function parseFacts(text: string | null): AlertFacts | null {
  return text === null ? null : (JSON.parse(text) as AlertFacts);
}

function sayOf(locale: Language, name: string): Say {
  const say: Partial<Record<string, Say>> & { mismatches: Say } = SAY[locale];
  return say[name] ?? say.mismatches;
}

/** Pages of alerts about neither a mismatch, a run nor a merchant. */
const PAGES: Partial<Record<AlertKind, string>> = {
  baseline_mismatches: '/mismatches?baseline=true',
  callbacks_behind: '/callbacks?state=pending',
  clock_differs: '/system',
  database_read_only: '/system',
  disk_full: '/system',
  expected_behind: '/expected',
  inbound_silence: '/inbox',
  inbox_behind: '/inbox?state=pending',
  job_failed: '/system',
  job_overdue: '/system',
  no_complete_run: '/reconciliations',
  provider_failing: '/inbox?state=pending',
  quarantine_full: '/inbox?state=quarantined',
  report_differs: '/reports',
  report_missing: '/reports',
  restore_unconfirmed: '/callbacks?state=held',
  two_writers: '/system',
  webhook_loss_rate: '/mismatches?kind=webhook_lost',
  witness_away: '/system',
  witness_refused: '/system',
  worker_dead: '/system',
};

function pathOf({ name, mismatchId, facts, endedAt }: StoredAlert): string {
  // the first mismatch of a group may be resolved long before the others
  if (mismatchId && facts?.cause !== undefined && (facts.count ?? 1) > 1)
    return `/mismatches?${new URLSearchParams({ kind: name, cause: facts.cause, ...(endedAt ? { state: 'all' } : {}) }).toString()}`;
  if (mismatchId) return `/mismatches/${encodeURIComponent(mismatchId)}`;
  if (facts?.run) return `/reconciliations/${encodeURIComponent(facts.run)}`;
  if (facts?.merchant) return `/merchants/${encodeURIComponent(facts.merchant)}`;
  const [day, ...others] = facts?.days ?? [];
  const isOfReports = name === 'report_missing' || name === 'report_differs';
  if (isOfReports && day !== undefined && others.length === 0) return `/reports/${day}`;
  return PAGES[name as AlertKind] ?? '/alerts';
}
