/**
 * Reads the XML of a part by the events of a parser, one chunk at a time. Between two chunks other work has its turn. Names are
 * returned without their prefix: some programs write `x:row`.
 */
import { SaxesParser } from 'saxes';
import { takeTurn } from '../runtime/take-turns.ts';
import type { Zip } from './open-zip.ts';
import { UnreadableFileError } from './row.ts';

/** `parent`: the element around it, '' for the outermost; `around`: the one around that. `attributes`: by their full names. */
export type XmlEvent =
  | { kind: 'open'; name: string; parent: string; attributes: Readonly<Record<string, string>> }
  | { kind: 'text'; text: string; parent: string; around: string }
  | { kind: 'close'; name: string; parent: string };

/** An element of a sheet is at most 8 deep, and has up to 20 attributes. */
const DEPTH_MAX = 64;
const ATTRIBUTES_MAX = 128;

/** @param bytesMax of this part, unpacked. @returns the events of each chunk. @throws UnreadableFileError for other text than XML, or beyond the limits. */
export async function* readXml(
  zip: Pick<Zip, 'open'>,
  part: string,
  bytesMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<XmlEvent[], void, undefined> {
  const parser = new SaxesParser();
  const names: string[] = [];
  let events: XmlEvent[] = [];
  let attributes = 0;
  parser.on('doctype', () => {
    throw new UnreadableFileError(`the part ${part} has a document type`);
  });
  parser.on('opentagstart', () => {
    attributes = 0;
    if (names.length === DEPTH_MAX) throw new UnreadableFileError(`the part ${part} is nested too deeply`);
  });
  parser.on('attribute', () => {
    if (++attributes > ATTRIBUTES_MAX) throw new UnreadableFileError(`the part ${part} has too many attributes`);
  });
  parser.on('opentag', (tag) => {
    const name = localName(tag.name);
    events.push({ kind: 'open', name, parent: names.at(-1) ?? '', attributes: tag.attributes });
    names.push(name);
  });
  const addText = (text: string): void => {
    events.push({ kind: 'text', text, parent: names.at(-1) ?? '', around: names.at(-2) ?? '' });
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const name = names.pop() ?? '';
    events.push({ kind: 'close', name, parent: names.at(-1) ?? '' });
  });
  try {
    for await (const chunk of decodeText(limit(zip.open(part), part, bytesMax))) {
      parser.write(chunk);
      yield events;
      events = [];
      await takeTurn();
    }
    parser.close();
    yield events;
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    // the parser's message may quote a text of the file
    throw new UnreadableFileError(`the part ${part} cannot be read`, { cause: error });
  }
}

async function* limit(chunks: AsyncIterable<Uint8Array>, part: string, bytesMax: number) {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new UnreadableFileError(`the part ${part} has more than ${bytesMax} bytes`);
    yield chunk;
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Decodes UTF-8, also where a letter stands across two chunks. @throws UnreadableFileError for other bytes. */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') yield text;
    }
    decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new UnreadableFileError('it is not encoded as UTF-8', { cause: error });
    throw error;
  }
}
