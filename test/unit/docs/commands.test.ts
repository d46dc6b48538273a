/** Each `confere …` that the documents show is a command of this version, with options that it has. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { beforeAll, expect, test } from 'vitest';
import { createProgram } from '../../../src/commands/run-command-line.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const DOCUMENTS = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'deploy/README.md', 'ops/README.md'],
  ...readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** Programs of their own. */
const OTHERS = new Set(['demo', 'sandbox']);
const SHOWN_MIN = 150;

let program: Command;
beforeAll(async () => {
  program = await createProgram('');
});

/** Commands in blocks and spans of code: the words after `confere`, without comments and what a pipe follows. */
function listShown(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8').replace(/\\\n\s*/g, '');
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```$|^((?: {4}\S.*\n)+)/gm)].flatMap(([block]) =>
    block.split('\n'),
  );
  const spans = [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return [...blocks, ...spans].flatMap((code) => {
    // `-n confere` is a namespace of Kubernetes
    const [, shown] =
      /(?<!-n |[\w/.-])(?:\/opt\/confere\/bin\/|bin\/|npx )?confere ([a-z].*)/.exec(code.replace(/\s+/g, ' ')) ?? [];
    return shown === undefined ? [] : [shown.replace(/ [#|;&<].*$/, '')];
  });
}

/** @returns what is wrong with a shown command; undefined if nothing is. */
function findFault(shown: string): string | undefined {
  const words = shown.split(' ').map((word) => word.replaceAll(/[[\],…]|\\.*$/g, ''));
  if (OTHERS.has(words[0] ?? '')) return undefined;
  let command = program;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const next = command.commands.find((one) => one.name() === word);
    if (next) command = next;
    else {
      words.unshift(word);
      break;
    }
  }
  if (command === program) return 'no such command';
  if (command.commands.length > 0 && /^[a-z][a-z-]+$/.test(words[0] ?? '') && command.registeredArguments.length === 0)
    return `no command ${words[0]} of ${command.name()}`;
  const unknown = words
    .filter((word) => word.startsWith('--') && word !== '--')
    .filter((word) => !['--help', '--version'].includes(word))
    .find((word) => !command.options.some((option) => option.long === word.split('=')[0]));
  return unknown && `${command.name()} has no ${unknown}`;
}

test('every command that the documents show exists, with its options', () => {
  const shown = DOCUMENTS.flatMap((file) => listShown(file).map((one) => ({ file, one })));
  expect(shown.length).toBeGreaterThan(SHOWN_MIN);
  const wrong = shown.flatMap(({ file, one }) => {
    const fault = findFault(one);
    return fault === undefined ? [] : [`${file}: confere ${one}: ${fault}`];
  });
  expect(wrong).toEqual([]);
});

test.each(['merchant add', 'merchants ad', 'doctor --book', 'jobs run x --now'])(
  '`confere %s` would be found',
  (shown) => {
    expect(findFault(shown)).toBeDefined();
  },
);
