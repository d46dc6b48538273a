/** Parses a regular expression of JavaScript into a tree. Character sets stay source text: the engine itself evaluates them. */

/** `set`: one character that `source` matches. `around`: an assertion, behind or ahead. `edge`: an assertion without content. */
export type Node =
  | { kind: 'set'; source: string }
  | { kind: 'edge'; source: string }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; options: Node[] }
  | { kind: 'around'; isBehind: boolean; isNegative: boolean; body: Node }
  | { kind: 'repeat'; min: number; max: number; isLazy: boolean; body: Node };

/** @throws for back references, which no pattern of ours may have. */
export function parsePattern(source: string): Node {
  let at = 0;

  function readChoice(): Node {
    const options = [readSequence()];
    while (source[at] === '|') {
      at++;
      options.push(readSequence());
    }
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  function readSequence(): Node {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(readRepeated(readAtom()));
    return { kind: 'sequence', parts };
  }

  function readRepeated(body: Node): Node {
    const [whole, sign, min, comma, max] = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})/.exec(source.slice(at)) ?? [];
    if (whole === undefined) return body;
    at += whole.length;
    const isLazy = source[at] === '?';
    if (isLazy) at++;
    const [from, to] =
      sign === undefined
        ? [Number(min), comma === undefined ? Number(min) : max ? Number(max) : Number.POSITIVE_INFINITY]
        : [sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY];
    return { kind: 'repeat', min: from, max: to, isLazy, body };
  }

  function readAtom(): Node {
    const rest = source.slice(at);
    if (rest[0] === '(') return readGroup(rest);
    const edge = /^(?:[\^$]|\\[bB])/.exec(rest)?.[0];
    if (edge) {
      at += edge.length;
      return { kind: 'edge', source: edge };
    }
    if (/^\\(?:[1-9]|k<)/.test(rest)) throw new Error(`a back reference in ${source}`);
    const set =
      rest[0] === '['
        ? readClass(rest)
        : (/^\\(?:u\{[^}]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[pP]\{[^}]+\}|c[A-Za-z]|.)/su.exec(rest)?.[0] ??
          String.fromCodePoint(rest.codePointAt(0) ?? 0));
    at += set.length;
    return { kind: 'set', source: set };
  }

  function readGroup(rest: string): Node {
    const head = /^\((?:\?(?:[:=!]|<[=!]|<\w+>|[ims-]+:))?/.exec(rest)?.[0] ?? '(';
    at += head.length;
    const body = readChoice();
    if (source[at] !== ')') throw new Error(`a group without an end in ${source}`);
    at++;
    const around = /^\(\?(<?)([=!])$/.exec(head);
    return around ? { kind: 'around', isBehind: around[1] === '<', isNegative: around[2] === '!', body } : body;
  }

  const tree = readChoice();
  if (at !== source.length) throw new Error(`a text after the end of ${source}`);
  return tree;
}

function readClass(rest: string): string {
  let depth = 0;
  for (let at = 0; at < rest.length; at++) {
    if (rest[at] === '\\') at++;
    else if (rest[at] === '[') depth = 1;
    else if (rest[at] === ']' && depth === 1) return rest.slice(0, at + 1);
  }
  throw new Error(`a set without an end: ${rest}`);
}
