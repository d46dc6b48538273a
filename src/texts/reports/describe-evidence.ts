/**
 * The evidence of a mismatch in words, for the sheets and the console: `situação: pago`. A field or a code without a word
 * stands as it came, so nothing is hidden. Pure.
 */

import { isDay } from '../../domain/calendar.ts';
import { nameKind } from '../../domain/mismatch.ts';
import { describeCode } from '../fill.ts';
import { formatDay, formatLocalDecimal, formatMoment, type Texts } from './texts.ts';

/** Fields whose text is one of a few. */
const CODED = new Set(['shown_by', 'passes', 'books']);
const DECIMAL = /^-?\d+\.\d\d$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

/**
 * Describes a whole evidence in one line, as `valor: 10,00; operação: entrada`; null for no evidence.
 * @param platformNames by id: a platform with a name shows both.
 */
export function describeEvidence(
  value: unknown,
  texts: Texts,
  platformNames: ReadonlyMap<string, string> = new Map(),
): string | null {
  if (value === null || value === undefined) return null;
  const fields = Object.entries(listEvidence(value));
  const named = fields.map(([name, one]) => [name, name === 'platform' ? addName(one, platformNames) : one] as const);
  return named.map(([name, one]) => describeField(name, one, texts)).join('; ');
}

export type Evidence = { kind?: string; expected: unknown; actual: unknown };
type Side = 'expected' | 'actual';

/** Names whose a side of an evidence is, as `informado` or `no razão`; undefined where its kind says nothing of it. */
export function nameSide({ kind = '', expected }: Evidence, side: Side, texts: Texts): string | undefined {
  const sides = new Map<string, string>(Object.entries(texts.evidenceSides));
  return sides.get(`${nameKind({ kind, expected })}.${side}`);
}

/** Describes one side as `describeEvidence` does, after whose it is. */
export function describeSide(
  evidence: Evidence,
  side: Side,
  texts: Texts,
  platformNames?: ReadonlyMap<string, string>,
): string | null {
  const words = describeEvidence(evidence[side], texts, platformNames);
  const whose = nameSide(evidence, side, texts);
  return words === null || whose === undefined ? words : `${whose}: ${words}`;
}

function addName(platform: unknown, platformNames: ReadonlyMap<string, string>): unknown {
  if (typeof platform !== 'string') return platform;
  const name = platformNames.get(platform);
  return name === undefined ? platform : `${name} (${platform})`;
}

/** The fields of an evidence; a value that is no object has no name. */
export function listEvidence(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : { '': value };
}

export function nameEvidence(name: string, { evidence }: Texts): string {
  return describeCode(evidence, name);
}

/** Describes the value of one field. */
export function describeEvidenceValue(name: string, value: unknown, texts: Texts): string {
  if (value === null || value === undefined) return texts.evidence.none;
  if (Array.isArray(value))
    return value.map((one) => describeEvidenceValue(name, one, texts)).join(', ') || texts.evidence.none;
  if (typeof value === 'object') {
    const { status, at, ...rest } = value as Record<string, unknown>;
    const event = [status, at].flatMap((one) =>
      one === undefined ? [] : [describeEvidenceValue('status', one, texts)],
    );
    const fields = Object.entries(rest).map(([field, one]) => describeField(field, one, texts));
    return [event.join(' '), ...fields].filter(Boolean).join(' ');
  }
  if (typeof value === 'boolean') return value ? texts.evidence.yes : texts.evidence.no;
  return typeof value === 'string' ? describeText(name, value, texts) : JSON.stringify(value);
}

function describeField(name: string, value: unknown, texts: Texts): string {
  const words = describeEvidenceValue(name, value, texts);
  return name === '' ? words : `${nameEvidence(name, texts)}: ${words}`;
}

/** A text as the provider wrote it may resemble a code: only fields that hold codes are translated. */
function describeText(name: string, text: string, texts: Texts): string {
  if (name === 'status' || name === 'history' || name === 'operation') {
    const codes = name === 'operation' ? texts.operations : texts.statuses;
    if (Object.hasOwn(codes, text)) return describeCode(codes, text).toLowerCase();
  }
  if (name === 'state') return describeCode(texts.orderStates, text).toLowerCase();
  if (name === 'reason') return describeCode(texts.webhookReasons, text);
  if (CODED.has(name)) return describeCode(texts.evidenceCodes, text);
  if (name === 'reference' || name === 'extra' || name === 'platform') return text;
  if (DECIMAL.test(text)) return formatLocalDecimal(text, texts);
  if (isDay(text)) return formatDay(text);
  const [, day, time, offset] = INSTANT.exec(text) ?? [];
  // an offset is that of the provider's clock, as on every sheet
  return day && time ? `${formatMoment(`${day} ${time}`)}${offset === 'Z' ? ' UTC' : ''}` : text;
}
