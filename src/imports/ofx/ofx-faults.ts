/** The faults of an OFX file, in words; `{value}` is the fault's value. It never quotes what the file holds. */
export const OFX_FAULTS = {
  too_large: 'the file is larger than {value} MiB',
  not_text: 'the file is not a text in UTF-8 or windows-1252',
  no_header: 'the file does not begin with a header of OFX 1.x or 2.x',
  no_tag: 'a tag must be here, with nothing before it',
  unopened: '</{value}> has no <{value}> before it',
  unclosed: '<{value}> is not closed',
  too_deep: 'elements are nested deeper than {value} levels',
  too_many: 'the file has more than {value} elements',
  too_many_lines: 'the file has more than {value} transactions: export fewer days at once',
  no_statement: 'the file has no bank statement (STMTRS)',
  credit_card: 'it is the statement of a credit card: Confere reads those of bank accounts (STMTRS)',
  bank_error: 'the bank answered with an error instead of a statement (STATUS)',
  own_file: 'Confere wrote this file: import the one of your bank',
  missing: '{value} is missing',
  twice: '{value} is there twice',
  too_long: '{value} is longer than the limit',
  no_account: '{value} may hold letters, digits, blanks, points, hyphens and slashes',
  no_amount: '{value} must be an amount with at most two decimals and without grouping',
  no_day: '{value} must be a date: YYYYMMDD, perhaps with a time',
  no_brl: '{value} must be BRL',
  stray: 'a transaction (STMTTRN) stands outside of the list of a statement (BANKTRANLIST)',
  corrects: 'CORRECTFITID: a transaction that replaces an earlier one is not supported',
} as const;

export type OfxFault = { line: number; kind: keyof typeof OFX_FAULTS; value?: string | number };

/** A fault in words: `line 12: TRNAMT is missing`. */
export function describeOfxFault({ line, kind, value = '' }: OfxFault): string {
  return `line ${line}: ${OFX_FAULTS[kind].replaceAll('{value}', () => String(value))}`;
}
