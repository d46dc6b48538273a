/** Texts that a pattern may take long for, made of what the pattern itself matches. */
import { matchOne } from './count-steps.ts';
import { type Node, parsePattern } from './parse-pattern.ts';

/** A text is `prefix`, `pump` repeated, and `tail`. */
export type Hostile = { prefix: string; pump: string; tail: string };

const CANDIDATES = [...'aAzxlIoO0159 -./_:;,=*"\'<>()[]{}|&#@+?!%^$~\\\n\r\t\u0000é\u0301ª“•☃'];
const TAILS = ['', '\u0001'];
const SAMPLES_MAX = 3;
const PUMPS_MAX = 24;

export function listHostileTexts({ source, flags }: { source: string; flags: string }): Hostile[] {
  const setFlags = flags.replace(/[gyd]/g, '');
  const pumps = new Map<string, Set<string>>();
  const add = (prefix: string, pump: string): void => {
    if (pump === '') return;
    pumps.set(prefix, (pumps.get(prefix) ?? new Set()).add(pump));
  };
  const tree = parsePattern(source);
  const visit = (node: Node, prefix: string): void => {
    for (const text of samplesOf(node, setFlags)) {
      add('', text);
      if (node.kind === 'repeat') add(prefix, text);
    }
    if (node.kind === 'repeat') {
      for (const text of samplesOf(node.body, setFlags)) add(prefix, text);
      visit(node.body, prefix);
    } else if (node.kind === 'around') visit(node.body, prefix);
    else if (node.kind === 'choice') for (const one of node.options) visit(one, prefix);
    else if (node.kind === 'sequence') {
      let before = prefix;
      for (const one of node.parts) {
        visit(one, before);
        before += samplesOf(one, setFlags)[0] ?? '';
      }
    }
  };
  visit(tree, '');
  const texts = [...pumps].flatMap(([prefix, all]) => {
    const own = [...all].slice(0, PUMPS_MAX);
    const single = own.filter((one) => one.length === 1);
    const pairs = single.length <= 6 ? single.flatMap((one) => single.map((two) => (one < two ? one + two : ''))) : [];
    return [...own, ...pairs.filter(Boolean)].map((pump) => ({ prefix, pump }));
  });
  return texts.flatMap((one) => TAILS.map((tail) => ({ ...one, tail })));
}

export function buildText({ prefix, pump, tail }: Hostile, chars: number): string {
  return prefix + pump.repeat(Math.max(1, Math.floor((chars - prefix.length - tail.length) / pump.length))) + tail;
}

/** A few texts that a part of a pattern matches, without its assertions. */
function samplesOf(node: Node, flags: string): string[] {
  if (node.kind === 'edge' || node.kind === 'around') return [''];
  if (node.kind === 'set') {
    const matches = matchOne(node.source, flags);
    const literal = node.source.replaceAll('\\', '');
    return [...new Set([...CANDIDATES, ...literal])].filter(matches).slice(0, SAMPLES_MAX);
  }
  if (node.kind === 'choice') return node.options.flatMap((one) => samplesOf(one, flags)).slice(0, 12);
  if (node.kind === 'sequence') {
    const parts = node.parts.map((one) => samplesOf(one, flags));
    return Array.from({ length: SAMPLES_MAX }, (_, at) => parts.map((all) => all[at % all.length] ?? '').join(''));
  }
  const times = Math.max(node.min, Math.min(1, node.max));
  return samplesOf(node.body, flags).map((one) => one.repeat(times));
}
