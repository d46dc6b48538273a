/**
 * Reads the elements of an OFX file: 1.x in SGML, where a value needs no end tag, and 2.x in XML.
 *
 * It is strict: text outside of an element, an aggregate that is not closed, comments, DTDs and CDATA are faults, by their
 * line. Entities are decoded once and none can be defined, so a small file stays small. It takes time in proportion to the
 * file, and memory in proportion to ELEMENTS_MAX.
 */
import { decodeXML } from 'entities';
import { createPauses } from '../../runtime/take-turns.ts';
import { decodeCharset } from '../../spreadsheet/decode-charset.ts';
import type { OfxFault } from './ofx-faults.ts';

const MIB = 1024 * 1024;
/** Twenty thousand transactions take about 6 MiB. */
export const OFX_MIB_MAX = 8;
export const OFX_BYTES_MAX = OFX_MIB_MAX * MIB;
const ELEMENTS_MAX = 400_000;
const DEPTH_MAX = 32;

const OPENING_BYTES_MAX = 256;
/** Perhaps after the mark of UTF-8. */
const OPENING = /^(?:\u00ef\u00bb\u00bf)?\s*(?:<|OFXHEADER)/i;
const HEADERS = { sgml: /^OFXHEADER[ \t]*:[^<]*$/i, xml: /^(?:<\?[^<>]*\?>\s*)+$/ };
const TAG = /<(\/?)([A-Za-z][A-Za-z0-9._]{0,31})[ \t]*(\/?)>/y;
/** Elements that hold others. In SGML an element of another name that is not closed is an empty value. */
const AGGREGATES = new Set([
  ...['OFX', 'BANKMSGSRSV1', 'STMTTRNRS', 'STATUS', 'STMTRS', 'BANKACCTFROM', 'BANKTRANLIST', 'STMTTRN', 'LEDGERBAL'],
]);

/** An element. `text` is undefined for one that holds others; `line` is where it begins. */
export type OfxElement = { name: string; line: number; text: string | undefined; children: OfxElement[] };

/** The first fault of the file's form: nothing behind it can be read. */
export class MalformedOfx extends Error {
  readonly fault: OfxFault;

  constructor(fault: OfxFault) {
    super(fault.kind);
    this.fault = fault;
  }
}

type Source = { text: string; at: number; countedTo: number; line: number; isXml: boolean };
type Tag = { name: string; kind: 'open' | 'close' | 'empty' };

/** Whether a file begins as an OFX does, and no table: with its header, or a tag. */
export function isOfx(bytes: Uint8Array): boolean {
  return OPENING.test(Buffer.from(bytes.subarray(0, OPENING_BYTES_MAX)).toString('latin1'));
}

/** Returns the element OFX of a file, which is read in turns with others. @throws MalformedOfx */
export async function readOfxElements(bytes: Uint8Array): Promise<OfxElement> {
  const text = decode(bytes);
  const at = text.search(/<OFX>/i);
  const head = text.slice(0, Math.max(at, 0)).trim();
  const isXml = HEADERS.xml.test(head);
  if (!isXml && !HEADERS.sgml.test(head)) throw new MalformedOfx({ line: 1, kind: 'no_header' });
  return await readTree({ text, at, countedTo: 0, line: 1, isXml });
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > OFX_BYTES_MAX) throw new MalformedOfx({ line: 1, kind: 'too_large', value: OFX_MIB_MAX });
  if (bytes.includes(0)) throw new MalformedOfx({ line: 1, kind: 'not_text' });
  return decodeCharset(bytes);
}

async function readTree(source: Source): Promise<OfxElement> {
  const root: OfxElement = { name: '', line: 1, text: undefined, children: [] };
  const open = [root];
  let count = 0;
  const pause = createPauses();
  for (;;) {
    const paused = pause();
    if (paused) await paused;
    skipBlanks(source);
    if (source.at >= source.text.length) break;
    const line = lineOf(source);
    const tag = readTag(source);
    if (!tag) throw new MalformedOfx({ line, kind: 'no_tag' });
    if (tag.kind === 'close') {
      closeElement(source, open, tag.name, line);
      continue;
    }
    count++;
    if (count > ELEMENTS_MAX) throw new MalformedOfx({ line, kind: 'too_many', value: ELEMENTS_MAX });
    const element: OfxElement = { name: tag.name, line, text: tag.kind === 'empty' ? '' : undefined, children: [] };
    open.at(-1)?.children.push(element);
    if (tag.kind === 'open' && !readValue(source, element)) open.push(element);
    if (open.length > DEPTH_MAX) throw new MalformedOfx({ line, kind: 'too_deep', value: DEPTH_MAX });
  }
  const unclosed = open.findLast(({ name }) => AGGREGATES.has(name)) ?? open[1];
  if (unclosed) throw new MalformedOfx({ line: lineOf(source), kind: 'unclosed', value: unclosed.name });
  const [ofx, second] = root.children;
  if (ofx?.name !== 'OFX') throw new MalformedOfx({ line: 1, kind: 'missing', value: 'OFX' });
  if (second) throw new MalformedOfx({ line: second.line, kind: 'no_tag' });
  return ofx;
}

/** Reads the value of an element and its end tag. @returns false where others follow in it, or nothing. */
function readValue(source: Source, element: OfxElement): boolean {
  const next = source.text.indexOf('<', source.at);
  const end = next < 0 ? source.text.length : next;
  const text = cleanText(source.text.slice(source.at, end));
  source.at = end;
  const isClosed = readEndTag(source, element.name);
  if (text === '' && !isClosed) return false;
  if (source.isXml && !isClosed) throw new MalformedOfx({ line: element.line, kind: 'unclosed', value: element.name });
  element.text = text;
  return true;
}

/** Text on one line, without control characters. */
function cleanText(raw: string): string {
  const text = raw.includes('&') ? decodeXML(raw.replaceAll('&nbsp;', ' ')) : raw;
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

function readEndTag(source: Source, name: string): boolean {
  const { at } = source;
  const tag = readTag(source);
  if (tag?.kind === 'close' && tag.name === name) return true;
  source.at = at;
  return false;
}

/**
 * Closes the innermost open element of this name. In SGML, those within it that are not closed are values without a text: what
 * followed them belongs to the element around them.
 */
function closeElement({ isXml }: Source, open: OfxElement[], name: string, line: number): void {
  const index = open.findLastIndex((element, depth) => depth > 0 && element.name === name);
  if (index < 0) throw new MalformedOfx({ line, kind: 'unopened', value: name });
  while (open.length > index + 1) {
    const inner = open.pop();
    if (!inner) break;
    if (isXml || AGGREGATES.has(inner.name))
      throw new MalformedOfx({ line: inner.line, kind: 'unclosed', value: inner.name });
    for (const child of inner.children) open.at(-1)?.children.push(child);
    inner.children = [];
    inner.text = '';
  }
  open.pop();
}

function readTag(source: Source): Tag | undefined {
  TAG.lastIndex = source.at;
  const match = TAG.exec(source.text);
  const [whole, closes, name = '', empty] = match ?? [];
  if (whole === undefined || (empty !== '' && (closes !== '' || !source.isXml))) return undefined;
  source.at += whole.length;
  return { name: name.toUpperCase(), kind: closes === '' ? (empty === '' ? 'open' : 'empty') : 'close' };
}

const BLANKS = /\s*/y;

function skipBlanks(source: Source): void {
  BLANKS.lastIndex = source.at;
  source.at += BLANKS.exec(source.text)?.[0].length ?? 0;
}

/** The line of the current place, from 1. Lines end in LF, CR LF or CR. */
function lineOf(source: Source): number {
  const { text } = source;
  for (; source.countedTo < source.at; source.countedTo++) {
    const char = text[source.countedTo];
    if (char === '\n' || (char === '\r' && text[source.countedTo + 1] !== '\n')) source.line++;
  }
  return source.line;
}
