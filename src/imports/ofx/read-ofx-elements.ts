/**
 * Reads the elements of an OFX file: 1.x in SGML, where a value needs no end tag, and 2.x in XML.
 *
 * It takes what banks leave out where nothing else can be meant: the header, or a comment around it; the end of an aggregate
 * where the next one begins; a Ctrl-Z at the end; markup in a text. A file may hold several documents. Anything else is a fault,
 * by its line: text outside of an element, a document without its end, comments, DTDs and CDATA. Entities are decoded once and
 * none can be defined, so a small file stays small. It takes time in proportion to the file, and memory in proportion to
 * ELEMENTS_MAX.
 */
import { decodeXML } from 'entities';
import { createPauses } from '../../runtime/take-turns.ts';
import { decodeCharset } from '../../spreadsheet/decode-charset.ts';
import type { MessagesOf } from '../../texts/messages.ts';
import { AGGREGATES, ENDED_BY_NEXT, FOLLOWERS, TEXTS } from './known-elements.ts';

const MIB = 1024 * 1024;
/** Twenty thousand transactions take about 6 MiB. */
export const OFX_MIB_MAX = 8;
export const OFX_BYTES_MAX = OFX_MIB_MAX * MIB;
const ELEMENTS_MAX = 400_000;
const DEPTH_MAX = 32;

const OPENING_BYTES_MAX = 256;
/** The begin of an OFX, perhaps after the mark of UTF-8. */
const OPENING = /^(?:\u00ef\u00bb\u00bf)?\s*(?:<|OFXHEADER)/i;
const HEADERS = { sgml: /^OFXHEADER[ \t]*:[^<]*$/i, xml: /^(?:<\?[^<>]*\?>\s*)+$/ };
const COMMENT = ['<!--', '-->'] as const;
const TAG = /<(\/?)([A-Za-z][A-Za-z0-9._]{0,31})[ \t]*(\/?)>/y;
const OPENING_TAG = /<OFX>/gi;
/** End tags of values that a document of XML has in any case. */
const VALUE_END = /<\/(?:TRNAMT|BALAMT|ACCTID|CURDEF|CODE|SEVERITY)>/i;
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

type Source = { text: string; at: number; countedTo: number; line: number; isXml: boolean; elements: number };
type Pause = ReturnType<typeof createPauses>;
export type OfxFault = { line: number; kind: MessagesOf<'ofx'>; value?: string | number };

type Tag = { name: string; kind: 'open' | 'close' | 'empty' };

/** Whether a file begins as an OFX does, and no table: with its header, or a tag. */
export function isOfx(bytes: Uint8Array): boolean {
  return OPENING.test(Buffer.from(bytes.subarray(0, OPENING_BYTES_MAX)).toString('latin1'));
}

/** Returns the element OFX of each document of a file, which is read in turns with others. @throws MalformedOfx */
export async function readOfxElements(bytes: Uint8Array): Promise<OfxElement[]> {
  const text = decode(bytes);
  const source: Source = { text, at: 0, countedTo: 0, line: 1, isXml: false, elements: 0 };
  const hasValueEnds = VALUE_END.test(text);
  const documents: OfxElement[] = [];
  const pause = createPauses();
  do documents.push(await readDocument(source, hasValueEnds, pause));
  while (source.at < text.length);
  return documents;
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > OFX_BYTES_MAX) throw new MalformedOfx({ line: 1, kind: 'too_large', value: OFX_MIB_MAX });
  let { length } = bytes;
  while (length > 0 && FILL.has(bytes[length - 1] ?? 0)) length--;
  const own = bytes.subarray(0, length);
  if (own.includes(0)) throw new MalformedOfx({ line: 1, kind: 'not_text' });
  return decodeCharset(own);
}

const CTRL_Z = '\u001a';
/** Bytes that stand behind a file of old systems: NUL, blanks, ends of lines, Ctrl-Z. */
const FILL = new Set([0x00, 0x09, 0x0a, 0x0d, 0x1a, 0x20]);

async function readDocument(source: Source, hasValueEnds: boolean, pause: Pause): Promise<OfxElement> {
  const { text } = source;
  OPENING_TAG.lastIndex = source.at;
  const at = OPENING_TAG.exec(text)?.index ?? -1;
  const head = uncomment(text.slice(source.at, Math.max(at, source.at)).replaceAll(CTRL_Z, ' ').trim());
  const isXml = HEADERS.xml.test(head);
  if (at < 0 || !(isXml || head === '' || HEADERS.sgml.test(head)))
    throw new MalformedOfx({ line: lineOf(source), kind: source.at === 0 ? 'no_header' : 'no_tag' });
  source.at = at;
  // some banks write a header of XML above SGML
  source.isXml = isXml && hasValueEnds;
  return await readTree(source, pause);
}

/** A bank writes its header in a comment. */
function uncomment(head: string): string {
  const [begin, end] = COMMENT;
  return head.startsWith(begin) && head.endsWith(end) ? head.slice(begin.length, -end.length).trim() : head;
}

/** Reads a document, to its end and the blanks behind it. */
async function readTree(source: Source, pause: Pause): Promise<OfxElement> {
  const root: OfxElement = { name: '', line: 1, text: undefined, children: [] };
  const open = [root];
  do {
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
    if (++source.elements > ELEMENTS_MAX) throw new MalformedOfx({ line, kind: 'too_many', value: ELEMENTS_MAX });
    endBefore(source, open, tag.name);
    const element: OfxElement = { name: tag.name, line, text: tag.kind === 'empty' ? '' : undefined, children: [] };
    open.at(-1)?.children.push(element);
    if (tag.kind === 'open' && !readValue(source, element)) open.push(element);
    if (open.length > DEPTH_MAX) throw new MalformedOfx({ line, kind: 'too_deep', value: DEPTH_MAX });
  } while (open.length > 1);
  const unclosed = open.findLast(({ name }) => AGGREGATES.has(name)) ?? open[1];
  if (unclosed && unclosed !== root)
    throw new MalformedOfx({ line: lineOf(source), kind: 'unclosed', value: unclosed.name });
  skipBlanks(source);
  const [ofx] = root.children;
  if (ofx?.name !== 'OFX') throw new MalformedOfx({ line: 1, kind: 'missing', value: 'OFX' });
  return ofx;
}

/** Ends the open aggregates that the next one cannot stand in: `<STMTTRN>` within another one begins the next. */
function endBefore(source: Source, open: OfxElement[], name: string): void {
  const parent = AGGREGATES.get(name);
  if (source.isXml || parent === undefined) return;
  const index = open.findLastIndex((element) => element.name === parent);
  const within = open.slice(index + 1);
  if (index < 1 || !within.some((element) => ENDED_BY_NEXT.has(element.name))) return;
  endWithin(source, open, index);
}

/** Reads the value of an element and its end tag. @returns false where others follow in it, or nothing. */
function readValue(source: Source, element: OfxElement): boolean {
  const end = findValueEnd(source, element.name);
  const text = cleanText(source.text.slice(source.at, end));
  source.at = end;
  const isClosed = readEndTag(source, element.name);
  if (text === '' && !isClosed) return false;
  if (source.isXml && !isClosed) throw new MalformedOfx({ line: element.line, kind: 'unclosed', value: element.name });
  element.text = text;
  return true;
}

/** A text goes on behind a `<` on its line that no element of a transaction begins with, such as `<BR/>` or `< 100`. */
function findValueEnd({ text, at }: Source, name: string): number {
  let [from, next] = [at, indexOfOrEnd(text, '<', at)];
  if (!TEXTS.has(name)) return next;
  while (next < text.length && !LINE_END.test(text.slice(from, next)) && !endsText(text, next))
    [from, next] = [next, indexOfOrEnd(text, '<', next + 1)];
  return next;
}

const LINE_END = /[\r\n]/;

function endsText(text: string, at: number): boolean {
  TAG.lastIndex = at;
  const [, , name = ''] = TAG.exec(text) ?? [];
  return name.includes('.') || FOLLOWERS.has(name.toUpperCase());
}

function indexOfOrEnd(text: string, part: string, from: number): number {
  const found = text.indexOf(part, from);
  return found < 0 ? text.length : found;
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

/** Closes the innermost open element of this name. */
function closeElement(source: Source, open: OfxElement[], name: string, line: number): void {
  const index = open.findLastIndex((element, depth) => depth > 0 && element.name === name);
  if (index < 0) throw new MalformedOfx({ line, kind: 'unopened', value: name });
  endWithin(source, open, index);
  open.pop();
}

/**
 * Ends what is open within an element. In SGML, elements that are no aggregates are values without a text: what followed them
 * belongs to the element around them.
 */
function endWithin({ isXml }: Source, open: OfxElement[], index: number): void {
  while (open.length > index + 1) {
    const inner = open.pop();
    if (!inner) break;
    if (!isXml && ENDED_BY_NEXT.has(inner.name)) continue;
    if (isXml || AGGREGATES.has(inner.name))
      throw new MalformedOfx({ line: inner.line, kind: 'unclosed', value: inner.name });
    for (const child of inner.children) open.at(-1)?.children.push(child);
    inner.children = [];
    inner.text = '';
  }
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
