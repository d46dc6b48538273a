import { type Calendar, isDay } from '../domain/calendar.ts';
import type { ConfereError, FieldFault, RefusalValues } from '../domain/errors.ts';
import { formatDay, formatWallTime } from '../domain/language/language.ts';
import { language } from './language.ts';
import { describeSaid, saidOfRule } from './messages.ts';
import { describe, isReason } from './refuse.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

type SaidFault = { field: string; text: string };

/**
 * The text of a refusal as a sentence in the language of the request, its instants on the wall clock of a calendar.
 * @returns undefined for an error that the catalogue lacks.
 */
export function sayRefusal({ reason, values, fieldFaults }: ConfereError, calendar?: Calendar): string | undefined {
  return isReason(reason) && fieldFaults.length === 0 ? say(reason, values, calendar) : undefined;
}

/** The faults of fields as sentences in the language of the request; those that have an English text alone, and are no rule, stay in it. */
export function sayFaults({ fields = {}, fieldFaults }: ConfereError): SaidFault[] {
  if (fieldFaults.length > 0) return fieldFaults.map((fault) => ({ field: fault.field, text: sayFault(fault) }));
  return Object.entries(fields).flatMap(([field, texts]) =>
    texts.map((text) => ({ field, text: describeSaid(saidOfRule(text), language()) })),
  );
}

/** A fault of a field as a sentence in the language of the request. */
export function sayFault({ reason, values }: FieldFault): string {
  return say(reason, values);
}

function say(reason: string, values: RefusalValues, calendar?: Calendar): string {
  const entries = Object.entries(values).map(([name, value]) => [name, sayValue(value, calendar)] as const);
  const text = describe(reason, Object.fromEntries(entries), language());
  return language() === 'en' ? `${text.charAt(0).toUpperCase()}${text.slice(1)}.` : text;
}

function sayValue(value: RefusalValues[string], calendar?: Calendar) {
  if (calendar && typeof value === 'string' && INSTANT.test(value))
    return formatWallTime(calendar.toWallTime(new Date(value)), language());
  return typeof value === 'string' && isDay(value) ? formatDay(value, language()) : value;
}
