/** Counts the steps of a backtracking engine, as V8 has one, for a pattern and a text: a measure that no busy machine changes. */
import { type Node, parsePattern } from './parse-pattern.ts';

type Code =
  | { op: 'set'; matches(char: string): boolean; isBack: boolean }
  | { op: 'edge'; matches(text: string, at: number): boolean }
  /** Continues at `first`, and at `second` once that fails. */
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'around'; body: number; isNegative: boolean; next: number }
  /** Ends a loop whose body took no character. */
  | { op: 'mark'; loop: number }
  | { op: 'advanced'; loop: number }
  | { op: 'match' };

export type Program = { code: Code[]; isSticky: boolean; isGlobal: boolean; startsOnly: boolean; hasUnicode: boolean };

/** A repetition of more is taken for one without end. */
const COPIES_MAX = 512;

export function compilePattern({ source, flags }: { source: string; flags: string }): Program {
  const code: Code[] = [];
  let loops = 0;
  const setFlags = flags.replace(/[gyd]/g, '');

  function emit(node: Node, isBack: boolean): void {
    if (node.kind === 'set') code.push({ op: 'set', matches: matchOne(node.source, setFlags), isBack });
    else if (node.kind === 'edge') code.push({ op: 'edge', matches: matchEdge(node.source, setFlags) });
    else if (node.kind === 'sequence')
      for (const one of isBack ? node.parts.toReversed() : node.parts) emit(one, isBack);
    else if (node.kind === 'choice') emitChoice(node.options, isBack);
    else if (node.kind === 'around') {
      const around: Code = { op: 'around', body: code.length + 1, isNegative: node.isNegative, next: 0 };
      code.push(around);
      emit(node.body, node.isBehind);
      code.push({ op: 'match' });
      around.next = code.length;
    } else emitRepeat(node, isBack);
  }

  function emitChoice(options: Node[], isBack: boolean): void {
    const jumps: Extract<Code, { op: 'jump' }>[] = [];
    for (const [index, option] of options.entries()) {
      const split: Code = { op: 'split', first: code.length + 1, second: 0 };
      if (index < options.length - 1) code.push(split);
      emit(option, isBack);
      const jump: Code = { op: 'jump', to: 0 };
      code.push(jump);
      jumps.push(jump);
      split.second = code.length;
    }
    for (const jump of jumps) jump.to = code.length;
  }

  function emitRepeat({ min, max, isLazy, body }: Extract<Node, { kind: 'repeat' }>, isBack: boolean): void {
    for (let copy = 0; copy < min; copy++) emit(body, isBack);
    const orderOf = (split: Extract<Code, { op: 'split' }>, inside: number, outside: number): void => {
      [split.first, split.second] = isLazy ? [outside, inside] : [inside, outside];
    };
    if (max <= COPIES_MAX) {
      const splits: { split: Extract<Code, { op: 'split' }>; inside: number }[] = [];
      for (let copy = min; copy < max; copy++) {
        const split: Extract<Code, { op: 'split' }> = { op: 'split', first: 0, second: 0 };
        code.push(split);
        splits.push({ split, inside: code.length });
        emit(body, isBack);
      }
      for (const { split, inside } of splits) orderOf(split, inside, code.length);
      return;
    }
    const loop = loops++;
    const start = code.length;
    const split: Extract<Code, { op: 'split' }> = { op: 'split', first: 0, second: 0 };
    code.push(split, { op: 'mark', loop });
    emit(body, isBack);
    code.push({ op: 'advanced', loop }, { op: 'jump', to: start });
    orderOf(split, start + 1, code.length);
  }

  emit(parsePattern(source), false);
  code.push({ op: 'match' });
  return {
    code,
    isSticky: flags.includes('y'),
    isGlobal: flags.includes('g'),
    startsOnly: startsWithEdge(parsePattern(source)) && !flags.includes('m'),
    hasUnicode: /[uv]/.test(flags),
  };
}

/** The steps that all matches of a text take; at most `stepsMax`. */
export function countSteps({ code, isSticky, isGlobal, startsOnly }: Program, text: string, stepsMax: number): number {
  let steps = 0;
  const marks: number[] = [];

  /** @returns where a match ends, -1 without one. */
  function run(begin: number, from: number): number {
    const waiting: number[] = [];
    let pc = begin;
    let at = from;
    for (;;) {
      if (++steps > stepsMax) return -1;
      const one = code[pc];
      let isFailed = false;
      if (one === undefined || one.op === 'match') return at;
      if (one.op === 'set') {
        const char = one.isBack ? charBefore(text, at) : charAt(text, at);
        if (char !== '' && one.matches(char)) {
          at += one.isBack ? -char.length : char.length;
          pc++;
        } else isFailed = true;
      } else if (one.op === 'edge') {
        if (one.matches(text, at)) pc++;
        else isFailed = true;
      } else if (one.op === 'split') {
        waiting.push(one.second, at);
        pc = one.first;
      } else if (one.op === 'jump') pc = one.to;
      else if (one.op === 'mark') {
        marks[one.loop] = at;
        pc++;
      } else if (one.op === 'advanced') {
        if (marks[one.loop] === at) isFailed = true;
        else pc++;
      } else if (run(one.body, at) >= 0 !== one.isNegative) pc = one.next;
      else isFailed = true;
      if (isFailed) {
        if (waiting.length === 0) return -1;
        at = waiting.pop() ?? 0;
        pc = waiting.pop() ?? 0;
      }
    }
  }

  for (let at = 0; at <= text.length && steps <= stepsMax; ) {
    const end = run(0, at);
    if (end < 0) {
      if (startsOnly || isSticky) break;
      at++;
    } else if (isGlobal || isSticky) at = Math.max(end, at + 1);
    else break;
  }
  return Math.min(steps, stepsMax);
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function charBefore(text: string, at: number): string {
  return at <= 0 ? '' : (text[at - 1] ?? '');
}

/** Whether each match begins at the start of the text. */
function startsWithEdge(node: Node): boolean {
  if (node.kind === 'edge') return node.source === '^';
  if (node.kind === 'choice') return node.options.every(startsWithEdge);
  return node.kind === 'sequence' && node.parts[0] !== undefined && startsWithEdge(node.parts[0]);
}

/** Whether a set matches one character, by the engine itself. */
export function matchOne(source: string, flags: string): (char: string) => boolean {
  const pattern = new RegExp(`^(?:${source})$`, flags.replace('m', ''));
  const known = new Map<string, boolean>();
  return (char) => {
    const cached = known.get(char) ?? pattern.test(char);
    known.set(char, cached);
    return cached;
  };
}

function matchEdge(source: string, flags: string): (text: string, at: number) => boolean {
  if (source === '^') return (text, at) => at === 0 || (flags.includes('m') && text[at - 1] === '\n');
  if (source === '$') return (text, at) => at === text.length || (flags.includes('m') && text[at] === '\n');
  const isWord = (char: string | undefined): boolean => char !== undefined && /\w/.test(char);
  return (text, at) => (isWord(text[at - 1]) !== isWord(text[at])) === (source === '\\b');
}
