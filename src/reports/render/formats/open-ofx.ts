/**
 * OFX 1.02: SGML in windows-1252, one bank statement a platform. A movement is the transaction of its net amount, so the
 * transactions of a statement add up to what the balance moved. Its FITID is the number of its entry in the ledger: an
 * importer that met it before skips it. Movements that leave the balance as it is (a hold, a release) have no transaction.
 *
 * Dates are days: an importer converts a time of day to its own zone, and moves payments of the evening to the next day. The
 * time is in MEMO.
 */
import { createHash } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { Day } from '../../../domain/calendar.ts';
import { escapeMarkup } from '../../../domain/language/escape-markup.ts';
import { compareText } from '../../../domain/lists.ts';
import { formatAmount } from '../../../domain/money.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { NO_PLATFORM } from '../../../domain/platform.ts';
import { nameAccount, splitAccount } from '../../../ledger/journal/plan-entries.ts';
import { formatLocalAmount } from '../../../texts/reports/texts.ts';
import { type AnyPlan, spanOf } from '../../plan/report-plan.ts';
import { type RenderContext, showName } from '../columns.ts';
import { nameMovement } from '../name-movement.ts';
import { type Booking, bookEarlier, bookMovement } from './book-movement.ts';
import { fitWindows1252 } from './encode-windows-1252.ts';
import { openTextBuffer, openTextFile } from './open-text-file.ts';
import type { FormatWork, Output } from './output.ts';
import { LINE_END } from './write-csv.ts';

const CHARSET = 'windows-1252';
/** The limits of the format, in characters. */
const ACCOUNT_CHARS_MAX = 22;
const NAME_CHARS_MAX = 32;
const MEMO_CHARS_MAX = 255;
const TRNUID_CHARS_MAX = 36;
/** Dots of ASCII: who takes the charset for Latin-1 reads `…` as the end of a line. */
const CUT_MARK = '...';
/** Characters of a name longer than the limit that are kept; a part of its hash follows. */
const ACCOUNT_PREFIX_CHARS = 8;
/** Each statement's transactions are kept in a file of their own until the end; this is how many characters wait in memory. */
const BUFFER_CHARS_MAX = 16_384;

/** A platform's statement under construction. Balances are in cents. */
type Statement = { platform: string; file: string; text: string; closing: bigint; held: bigint };

export async function openOfx(work: FormatWork, path: string): Promise<Output> {
  const { rendering, tally, signal } = work;
  const statements = new Map<string, Statement>();
  const platformOf = memoizePlatform(work.plan.masked);
  const buffer = openTextBuffer(CHARSET);
  const span = spanOf(work.plan);

  function find(account: string): Statement {
    const platform = platformOf(account);
    const known = statements.get(platform);
    if (known) return known;
    const made = { platform, file: work.factory.scratch().file, text: '', closing: 0n, held: 0n };
    statements.set(platform, made);
    return made;
  }

  async function flush(statement: Statement): Promise<void> {
    buffer.add(statement.text);
    statement.text = '';
    await appendFile(statement.file, buffer.take());
  }

  function book(booking: Booking): void {
    const { netCents, postings, platform } = booking.movement;
    if (netCents !== 0n)
      find(postings[0]?.account ?? nameAccount('', platform)).text += renderTransaction(booking, rendering);
  }

  return {
    add: ({ movement }) => book(bookMovement(movement, rendering.texts)),
    addEarlier: (movement) => book(bookEarlier(movement, rendering.texts, span.from)),
    async drain() {
      for (const one of statements.values()) if (one.text.length > BUFFER_CHARS_MAX) await flush(one);
    },
    async end() {
      for (const [segment, { closing, held }] of tally.platforms) {
        const statement = find(`:${segment}`);
        statement.closing += closing;
        statement.held += held;
      }
      if (statements.size === 0) find(nameAccount('', NO_PLATFORM));
      const file = await openTextFile(path, signal, CHARSET);
      file.add(renderHead(work.plan));
      for (const one of [...statements.values()].sort((a, b) => compareText(a.platform, b.platform))) {
        await flush(one);
        file.add(renderStatementHead(one, span));
        await file.append(one.file);
        file.add(renderStatementEnd(one, span.to));
      }
      file.add(lines('</BANKMSGSRSV1>', '</OFX>'));
      await file.end();
    },
  };
}

/** Platforms that share a masked name share a statement, as they share an account in the journal. */
function memoizePlatform(isMasked: boolean): (account: string) => string {
  const names = new Map<string, string>();
  return (account) => {
    const known = names.get(account) ?? splitAccount(isMasked ? maskAccount(account) : account).platform;
    names.set(account, known);
    return known;
  };
}

function renderHead({ madeAt, locale }: AnyPlan): string {
  const made = `${madeAt.toISOString().slice(0, 19).replace(/\D/g, '')}[0:GMT]`;
  return lines(
    ...['OFXHEADER:100', 'DATA:OFXSGML', 'VERSION:102', 'SECURITY:NONE', 'ENCODING:USASCII', 'CHARSET:1252'],
    ...['COMPRESSION:NONE', 'OLDFILEUID:NONE', 'NEWFILEUID:NONE', ''],
    ...[
      '<OFX>',
      '<SIGNONMSGSRSV1>',
      '<SONRS>',
      ...STATUS,
      `<DTSERVER>${made}`,
      `<LANGUAGE>${locale === 'en' ? 'ENG' : 'POR'}`,
    ],
    ...['<FI>', '<ORG>Confere', '</FI>', '</SONRS>', '</SIGNONMSGSRSV1>', '<BANKMSGSRSV1>'],
  );
}

const STATUS = ['<STATUS>', '<CODE>0', '<SEVERITY>INFO', '</STATUS>'];

function renderStatementHead({ platform }: Statement, { from, to }: { from: Day; to: Day }): string {
  const account = nameOfxAccount(platform);
  return lines(
    ...['<STMTTRNRS>', `<TRNUID>${escapeMarkup(isPlain(platform, TRNUID_CHARS_MAX) ? platform : account)}`, ...STATUS],
    ...['<STMTRS>', '<CURDEF>BRL', '<BANKACCTFROM>', '<BANKID>CONFERE', `<ACCTID>${escapeMarkup(account)}`],
    ...['<ACCTTYPE>CHECKING', '</BANKACCTFROM>', '<BANKTRANLIST>'],
    ...[`<DTSTART>${formatDate(from)}`, `<DTEND>${formatDate(to)}`],
  );
}

function renderStatementEnd({ closing, held }: Statement, to: Day): string {
  const balance = (name: string, cents: bigint): string[] => [
    `<${name}>`,
    `<BALAMT>${formatAmount(cents)}`,
    `<DTASOF>${formatDate(to)}`,
    `</${name}>`,
  ];
  return lines(
    '</BANKTRANLIST>',
    ...balance('LEDGERBAL', closing),
    ...balance('AVAILBAL', closing - held),
    ...['</STMTRS>', '</STMTTRNRS>'],
  );
}

function renderTransaction(booking: Booking, rendering: RenderContext): string {
  const { movement, day } = booking;
  const { netCents, entrySeq } = movement;
  return `<STMTTRN>${LINE_END}<TRNTYPE>${netCents < 0n ? 'DEBIT' : 'CREDIT'}${LINE_END}<DTPOSTED>${formatDate(
    day,
  )}${LINE_END}<TRNAMT>${formatAmount(netCents)}${LINE_END}<FITID>${entrySeq}${LINE_END}<NAME>${
    limit(showName(movement, rendering) ?? '', NAME_CHARS_MAX) ||
    limit(nameMovement(movement, rendering.texts), NAME_CHARS_MAX)
  }${LINE_END}<MEMO>${limit(describe(booking, rendering), MEMO_CHARS_MAX)}${LINE_END}</STMTTRN>${LINE_END}`;
}

/** `Recebimento 15:00:00 - pedido-7 - Valor 100,00 - Tarifa 0,50 - <transaction>`. */
function describe({ movement, kind }: Booking, { texts }: RenderContext): string {
  const { atWall, reference, amountCents, commissionCents, transactionId } = movement;
  const amounts =
    commissionCents === 0n
      ? undefined
      : `${texts.columns.amount} ${formatLocalAmount(amountCents, texts)} - ${texts.columns.commission} ${formatLocalAmount(commissionCents, texts)}`;
  return [`${kind} ${atWall.slice(11)}`, reference, amounts, transactionId].filter(Boolean).join(' - ');
}

/** An account has at most 22 characters of the charset: any other id becomes its first eight and a part of its hash. */
function nameOfxAccount(platform: string): string {
  if (isPlain(platform, ACCOUNT_CHARS_MAX)) return platform;
  const hash = createHash('sha256').update(platform).digest('hex');
  return `${toPlain(platform).slice(0, ACCOUNT_PREFIX_CHARS)}-${hash}`.slice(0, ACCOUNT_CHARS_MAX);
}

/** `2026-11-20 …` as `20261120`. */
function formatDate(wall: string): string {
  return wall.slice(0, 4) + wall.slice(5, 7) + wall.slice(8, 10);
}

/** A text in one line; one of more characters is cut and ends in dots. Escaped last: characters that the charset lacks may become `<`. */
function limit(text: string, charsMax: number): string {
  const plain = toPlain(text);
  return escapeMarkup(plain.length > charsMax ? plain.slice(0, charsMax - CUT_MARK.length) + CUT_MARK : plain);
}

/** A text in one line, of the charset's characters. */
function toPlain(text: string): string {
  return fitWindows1252(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')).trim();
}

function isPlain(text: string, charsMax: number): boolean {
  return text.length <= charsMax && toPlain(text) === text;
}

function lines(...texts: string[]): string {
  return texts.map((text) => text + LINE_END).join('');
}
