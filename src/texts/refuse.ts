/**
 * Refusals by their names: `throw refuse('adjustment_reversed')`. The catalogue has the text of each in English, for the API,
 * the command line and the log, and in Portuguese, for the console. Pure.
 */
import { ConfereError, type ErrorCode, type FieldFault, groupFaults, type RefusalValues } from '../domain/errors.ts';
import type { Language } from '../domain/language/language.ts';
import { fill, type Values } from './fill.ts';
import { REFUSALS_EN } from './refusals-en.ts';
import { REFUSALS_PT_BR } from './refusals-pt-br.ts';

type Catalogue = typeof REFUSALS_EN;
type TextsOf<Group> = Group extends keyof Catalogue ? Catalogue[Group] : never;
type Merged<Texts> = { [Name in Texts extends unknown ? keyof Texts : never]: TextOf<Texts, Name> };
type TextOf<Texts, Name> = Texts extends unknown ? (Name extends keyof Texts ? Texts[Name] : never) : never;

type OfErrors = Merged<TextsOf<Exclude<keyof Catalogue, 'field'>>>;
type OfFields = Catalogue['field'];
/** Why a request is refused. */
export type Reason = keyof OfErrors;
/** A fault of a field, by name. */
export type FieldReason = keyof OfFields;

type Options = {
  cause?: unknown;
  fields?: Record<string, string[]>;
  retryAfterS?: number;
  members?: Record<string, unknown>;
};
/** The values that the text names, and options; a text without values takes options alone after an empty object. */
type Given<Text extends string> =
  Values<Text> extends [] ? [values?: object, options?: Options] : [...Values<Text>, options?: Options];

const BY_CODE = Object.entries(REFUSALS_EN).filter(([group]) => group !== 'field') as [
  ErrorCode,
  Record<string, string>,
][];
const ENGLISH = new Map<string, string>(Object.values(REFUSALS_EN).flatMap((texts) => Object.entries(texts)));
const CODES = new Map(BY_CODE.flatMap(([code, texts]) => Object.keys(texts).map((reason) => [reason, code] as const)));

/** All reasons of errors with their English texts, for the documents. */
export const REASONS: ReadonlyMap<string, string> = ENGLISH;

/** Creates the error of a refusal. */
export function refuse<R extends Reason>(reason: R, ...given: Given<OfErrors[R]>): ConfereError {
  return new ConfereError(...refusal(reason, ...given));
}

/** The arguments of the error of a refusal, for a class of its own. */
export function refusal<R extends Reason>(
  reason: R,
  ...[values = {}, options = {}]: Given<OfErrors[R]>
): ConstructorParameters<typeof ConfereError> {
  const named = values as RefusalValues;
  return [codeOf(reason), describe(reason, named), { ...options, reason, values: named }];
}

/** Creates the error of one field. */
export function refuseField<R extends FieldReason>(
  field: string,
  reason: R,
  ...values: Values<OfFields[R]>
): ConfereError {
  return refuseFields([faultOf(field, reason, ...values)]);
}

/** A fault of a field, for `refuseFields`. */
export function faultOf<R extends FieldReason>(field: string, reason: R, ...[values]: Values<OfFields[R]>): FieldFault {
  return { field, reason, values: values ?? {} };
}

/** Creates the error of several faults. Its reason is theirs where they have one, else `fields_invalid`. */
export function refuseFields(faults: FieldFault[], options: Pick<Options, 'cause'> = {}): ConfereError {
  const said = faults.map((fault) => [fault.field, describe(fault.reason, fault.values)] as const);
  const reasons = new Set(faults.map(({ reason }) => reason));
  const [reason = 'fields_invalid', ...others] = reasons;
  const message = said.map(([field, text]) => `${field} ${text}`).join('; ');
  return new ConfereError('invalid_request', message, {
    ...options,
    ...{ reason: others.length === 0 ? reason : 'fields_invalid', fieldFaults: faults, fields: groupFaults(said) },
  });
}

export function codeOf(reason: Reason): ErrorCode {
  return CODES.get(reason) ?? 'unexpected';
}

/** Whether the catalogue has a reason. */
export function isReason(reason: string): boolean {
  return ENGLISH.has(reason);
}

/** The text of a reason with its values: in Portuguese a sentence, in English without its first capital and full stop. */
export function describe(reason: string, values: RefusalValues, language: Language = 'en'): string {
  const text = language === 'en' ? ENGLISH.get(reason) : (REFUSALS_PT_BR as Record<string, string>)[reason];
  return fill(text ?? reason, values);
}
