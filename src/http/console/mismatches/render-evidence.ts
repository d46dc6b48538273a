/**
 * Renders the evidence of a mismatch: one row a fact, as expected and as found, and the difference. Amounts are in R$, times
 * on the provider's clock, transactions are links. Pure.
 */
import { type Calendar, isDay } from '../../../domain/calendar.ts';
import { parseSum } from '../../../domain/money.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import type { Said } from '../../../texts/messages.ts';
import { type Evidence, nameEvidence, nameSide } from '../../../texts/reports/describe-evidence.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { type Translated, t, untranslated, words } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatCount, formatDuration, formatWallTime, moment, money } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { dayLink, say, table, transactionLink } from '../parts/page-components.ts';
import { type PlatformNames, spellPlatform } from '../parts/read-platform-names.ts';
import { OPERATION_WORDS, ORDER_STATE_WORDS, STATUS_WORDS, WEBHOOK_REASON_WORDS } from '../parts/words.ts';

/** Names that stand for one fact on each side. */
const SAME_FACT = new Map<string, string>([
  ['ledger', 'balance'],
  ['e2e_minute', 'at'],
]);

/** Where a sheet's name does not fit: the page writes a duration. */
const NAMES: Record<string, string> = words({
  final_within_s: 'Prazo para a situação final',
  value: 'Valor',
});

const TEXTS: Record<string, string> = words({
  'one clean, or two alike': 'uma limpa, ou duas iguais',
  'that prove themselves': 'que se provam',
  list: 'lista',
  show: 'consulta',
});

const AMOUNTS = new Set(['amount', 'commission', 'balance']);
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;
const WALL = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

type Fields = Record<string, unknown>;
/** Names and formats for the values of evidence. */
type Shown = { calendar: Calendar; names: PlatformNames; last?: Said | undefined };

/** A table of what was expected and what was found. @param last what the last pass of an unstable list said. */
export function renderEvidence(
  calendar: Calendar,
  mismatch: Evidence,
  names: PlatformNames = new Map(),
  last?: Said,
): Html {
  const shown = { calendar, names, last };
  const [before, after] = [toFields(mismatch.expected), toFields(mismatch.actual)];
  // found with the difference: it has a column of its own
  const facts = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => name !== 'difference');
  return table({
    caption: 'Esperado e encontrado',
    rows: facts,
    empty: 'Nada além do tipo: veja os fatos abaixo.',
    columns: [
      { title: 'O quê', cell: nameFact },
      { title: titleOf(mismatch, 'expected', 'Esperado'), cell: (name) => describeFact(shown, name, before) },
      { title: titleOf(mismatch, 'actual', 'Encontrado'), cell: (name) => describeFact(shown, name, after) },
      { title: 'Diferença', cell: (name) => describeDifference(name, before, after) },
    ],
  });
}

function nameFact(name: string): string {
  return capitalize(NAMES[name] ?? nameEvidence(name, textsOf(language())));
}

function titleOf(mismatch: Evidence, side: 'expected' | 'actual', otherwise: 'Esperado' | 'Encontrado'): Translated {
  const whose = nameSide(mismatch, side, textsOf(language()));
  return whose === undefined ? t(otherwise) : untranslated(capitalize(whose));
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function toFields(value: unknown): Fields {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return { value };
  const renamed = Object.entries(value).map(([name, one]) => [SAME_FACT.get(name) ?? name, one]);
  // one row for the count that was expected and the ids that were found
  const fields = Object.fromEntries(renamed) as Fields;
  return 'transactions' in fields ? { ids: fields.transactions } : fields;
}

function describeFact(shown: Shown, name: string, fields: Fields): Part {
  if (!(name in fields)) return EMPTY_VALUE;
  const value = fields[name];
  if (value === null) return t('não informado');
  if (name === 'ids' && typeof value === 'number') return value === 1 ? t('uma só') : formatCount(value);
  return describeValue(shown, name, value);
}

function describeValue(shown: Shown, name: string, value: unknown): Part {
  if (Array.isArray(value)) return describeList(shown, name, value);
  if (typeof value === 'boolean') return value ? t('sim') : t('não');
  if (typeof value === 'number') return name.endsWith('_s') ? formatDuration(value) : formatCount(value);
  if (typeof value === 'object' && value !== null) return describeParts(shown, value as Fields);
  const text = String(value);
  const cents = AMOUNTS.has(name) ? parseSum(text) : undefined;
  if (cents !== undefined) return money(cents);
  if (name === 'status' || name === 'history') return describeCode(STATUS_WORDS, text);
  if (name === 'state') return describeCode(ORDER_STATE_WORDS, text);
  if (name === 'operation') return describeCode(OPERATION_WORDS, text);
  if (name === 'reason') return describeCode(WEBHOOK_REASON_WORDS, text);
  if (name === 'ids') return transactionLink(text);
  if (name === 'platform') return spellPlatform(shown.names, text);
  if (INSTANT.test(text)) return moment(shown.calendar, text);
  if (WALL.test(text)) return formatWallTime(text);
  if (isDay(text)) return dayLink(text);
  return html`<span class="id">${TEXTS[text] ?? (name === 'last' ? say(shown.last ?? text) : text)}</span>`;
}

/** `Pago, 21/11/2026 08:00:00`: the values of an event, in their order. */
function describeParts(shown: Shown, { sequence: _, ...fields }: Fields): Html {
  const parts = Object.entries(fields).map(([name, value]) => describeValue(shown, name, value));
  return html`${parts.map((part, index) => html`${index > 0 && ', '}${part}`)}`;
}

function describeList(shown: Shown, name: string, values: unknown[]): Part {
  if (values.length === 0) return t('nenhum');
  const parts = values.map((value) => describeValue(shown, name, value));
  if (name === 'history' && typeof values[0] === 'string')
    return html`${parts.map((part, index) => html`${index > 0 && ' → '}${part}`)}`;
  return html`<ul class="plain">${parts.map((part) => html`<li>${part}</li>`)}</ul>`;
}

function describeDifference(name: string, before: Fields, after: Fields): Part {
  if (!(name in before && name in after)) return EMPTY_VALUE;
  const [one, other] = [before[name], after[name]];
  if (name === 'ids' && Array.isArray(other)) return t('{n} a mais', { n: formatCount(other.length - 1) });
  // stated − ledger, as Saldos and the API have it
  const stored = name === 'balance' && typeof after.difference === 'string' ? parseSum(after.difference) : undefined;
  if (stored !== undefined) return sameOr(stored === 0n, () => signed(stored));
  if (AMOUNTS.has(name)) {
    const [from, to] = [one, other].map((value) =>
      value === null ? 0n : typeof value === 'string' ? parseSum(value) : undefined,
    );
    return from === undefined || to === undefined ? EMPTY_VALUE : sameOr(from === to, () => signed(to - from));
  }
  const [from, to] = [one, other].map((value) =>
    INSTANT.test(String(value)) ? Date.parse(String(value)) : Number.NaN,
  );
  if (from !== undefined && to !== undefined && !Number.isNaN(from - to))
    return sameOr(from === to, () => {
      const duration = formatDuration(Math.round(Math.abs(to - from) / 1000));
      return to > from ? t('{duration} depois', { duration }) : t('{duration} antes', { duration });
    });
  return sameOr(JSON.stringify(one) === JSON.stringify(other), () => t('outra'));
}

function sameOr(isSame: boolean, describe: () => Part): Part {
  return isSame ? t('nenhuma') : describe();
}

function signed(cents: bigint): Html {
  return html`<b>${cents > 0n && '+'}${money(cents)}</b>`;
}
