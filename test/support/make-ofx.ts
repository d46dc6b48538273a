/** Writes OFX files as banks do. Texts are written as they are, with `&`, `<` and `>` escaped. */
export type MadeLine = {
  day: string;
  amount: string;
  fitid: string;
  memo?: string;
  name?: string;
  checkNumber?: string;
  type?: string;
};
export type MadeStatement = {
  bank?: string;
  branch?: string;
  number?: string;
  lines: MadeLine[];
  balance?: { amount: string; day: string };
  from?: string;
  to?: string;
};

type Form = 'sgml' | 'closed' | 'xml';

/**
 * @param form `sgml`: 1.02 without end tags of values; `closed`: 1.02 with them, as most Brazilian banks write; `xml`: 2.11.
 */
export function makeOfx(statements: MadeStatement | MadeStatement[], form: Form = 'sgml', lineEnd = '\r\n'): string {
  const value = (name: string, text: string): string =>
    form === 'sgml' ? `<${name}>${escapeText(text)}` : `<${name}>${escapeText(text)}</${name}>`;
  const optional = (name: string, text: string | undefined): string[] =>
    text === undefined ? [] : [value(name, text)];
  const inner = [statements]
    .flat()
    .flatMap((one, index) => [
      ...['<STMTTRNRS>', value('TRNUID', String(index)), ...status(value), '<STMTRS>', value('CURDEF', 'BRL')],
      ...['<BANKACCTFROM>', value('BANKID', one.bank ?? '341'), ...optional('BRANCHID', one.branch)],
      ...[value('ACCTID', one.number ?? '56789-0'), value('ACCTTYPE', 'CHECKING'), '</BANKACCTFROM>'],
      '<BANKTRANLIST>',
      ...[value('DTSTART', compact(one.from ?? '2026-10-01')), value('DTEND', compact(one.to ?? lastDayOf(one)))],
      ...one.lines.flatMap((line) => [
        ...['<STMTTRN>', value('TRNTYPE', line.type ?? (line.amount.startsWith('-') ? 'DEBIT' : 'CREDIT'))],
        ...[value('DTPOSTED', `${compact(line.day)}100000[-3:BRT]`), value('TRNAMT', line.amount)],
        ...[value('FITID', line.fitid), ...optional('CHECKNUM', line.checkNumber)],
        ...[...optional('NAME', line.name), ...optional('MEMO', line.memo), '</STMTTRN>'],
      ]),
      '</BANKTRANLIST>',
      ...(one.balance
        ? [
            '<LEDGERBAL>',
            value('BALAMT', one.balance.amount),
            value('DTASOF', compact(one.balance.day)),
            '</LEDGERBAL>',
          ]
        : []),
      ...['</STMTRS>', '</STMTTRNRS>'],
    ]);
  const head =
    form === 'xml'
      ? ['<?xml version="1.0" encoding="UTF-8"?>', '<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE"?>']
      : ['OFXHEADER:100', 'DATA:OFXSGML', 'VERSION:102', 'ENCODING:USASCII', 'CHARSET:1252', ''];
  const signOn = [
    '<SIGNONMSGSRSV1>',
    '<SONRS>',
    ...status(value),
    value('LANGUAGE', 'POR'),
    '</SONRS>',
    '</SIGNONMSGSRSV1>',
  ];
  return [...head, '<OFX>', ...signOn, '<BANKMSGSRSV1>', ...inner, '</BANKMSGSRSV1>', '</OFX>', ''].join(lineEnd);
}

/** The last day of its lines and its balance, or of October. */
function lastDayOf({ lines, balance }: MadeStatement): string {
  return (
    [...lines, ...(balance ? [balance] : []), { day: '2026-10-31' }]
      .map(({ day }) => day)
      .sort()
      .at(-1) ?? ''
  );
}

function status(value: (name: string, text: string) => string): string[] {
  return ['<STATUS>', value('CODE', '0'), value('SEVERITY', 'INFO'), '</STATUS>'];
}

function compact(day: string): string {
  return day.replaceAll('-', '');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
