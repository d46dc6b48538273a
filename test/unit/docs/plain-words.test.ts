import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

/** Words of our own that the field has a term for: docs/glossary.md. */
const WORDS = [
  'look(?:s|ed|ing)?(?![ -]?up\\b)',
  'tells?|told|telling',
  'whoever|whatever|wherever',
  '(?:takes?|taken|took|taking) apart',
  'put(?:s|ting)? off|g(?:i|a)ve[sn]? back|hand(?:s|ed)? on|hands|made good',
  'weigh(?:s|ed|ing)?|judge[sd]?|judging|mend(?:s|ed|ing)?',
  'purses?|torn|stragglers?|bells?|rings?|ringing|rung|lives',
  'so (?:long|many|much)|of such',
  'worlds?|gates?|lanes?|isShort|desk',
].join('|');
const BANNED = new RegExp(`(?<![\\w-])(?:${WORDS})(?![\\w-])`, 'gi');
/** The same in names: `tellStory`, `listLooks`. */
const NAME = /\b[a-zA-Z][a-z]+(?:[A-Z][a-z]+)+\b/g;
const BANNED_PART =
  /^(?:look|looks|looked|tells?|told|judged?|weigh|mend|mended|mending|purse|torn|stragglers?|bells?|ring|rung|lives|whoever|world|gate|lane|desk)$/i;

/** Where such a word is part of a contract or of stored data. */
const EXCEPTIONS: { word: RegExp; file: RegExp; why: string }[] = [
  {
    word: /^looks$/,
    file: /^(src|test\/service|migrations)\/.*(inbox|webhook|quarantine|watch-conditions)|unit\/architecture|bench\/pages-load|docs\/indexes/,
    why: 'a column and a field of the API',
  },
  { word: /^told$/, file: /^migrations|tables\/mismatches|write-doubts|load-stored-tr/, why: 'a column' },
  {
    word: /^stragglers$/,
    file: /^(src|test\/service)\/(seal|proof)|-seal|tables\/seal|ledger-balances|docs\/check-chain|bench\/pages-load/,
    why: 'a table and a column',
  },
  {
    word: /^mend(ed)?$/,
    file: /correct(-stored)?-histories|migrate|baseline-mismatches/,
    why: 'a stored outcome and an audited action',
  },
  {
    word: /^world$/i,
    file: /bad-input|console-environment|check-credentials/,
    why: 'data of a test, and of a standard',
  },
  {
    word: /^torn$/,
    file: /spool|forget\.test|metrics\/metrics|doctor|backup\/copy-data-dir|src\/texts|docs\/(forget|metrics|receiver|runbooks)/,
    why: 'the suffix of damaged files of the spool, a metric label',
  },
  { word: /^look$/, file: /redact-forgotten/, why: 'the prefix of stored digests' },
  { word: /^lives$/, file: /sandbox|bench\/(soak-replicas|night-shift)/, why: 'a switch of the sandbox' },
];

const FOLDERS = [
  'src',
  'jobs',
  'demo',
  'sandbox',
  'embedded',
  'bench',
  'bin',
  'test',
  'docs',
  'migrations',
  'ops',
  'deploy',
];
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', '.env.example'];

function listFiles(): string[] {
  return execFileSync('git', ['ls-files', ...FOLDERS, ...PAGES], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(ts|md|css|js|example)$/.test(file) || file.startsWith('bin/'))
    .filter((file) => !file.startsWith('test/fixtures/') && existsSync(path.join(root, file)));
}

function findWords(line: string): string[] {
  const parts = [...line.matchAll(NAME)].flatMap(([name]) => name.split(/(?=[A-Z])/));
  return [...[...line.matchAll(BANNED)].map(([word]) => word), ...parts.filter((part) => BANNED_PART.test(part))];
}

it('no file uses a word that the glossary has a term for', () => {
  const files = listFiles().filter((file) => file !== path.relative(root, import.meta.filename));
  expect(files.length).toBeGreaterThan(500);
  const used = new Set<object>();
  const found = files.flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        findWords(line)
          .filter((word) => {
            const exception = EXCEPTIONS.find((one) => one.file.test(file) && one.word.test(word));
            if (exception) used.add(exception);
            return !exception;
          })
          .map((word) => `${file}:${index + 1}: ${word}`),
      ),
  );
  expect(found).toEqual([]);
  expect(EXCEPTIONS.filter((one) => !used.has(one))).toEqual([]);
});

/** A comment's first word that leaves out what it is about: `Of the pool` for `Counts the pool`. */
const HEADLESS = /^(?:What|Of|Who|That|Such|Those|The same)\b/;

it('every comment begins with its noun or verb', () => {
  const files = listFiles().filter((file) => /^(?:src|jobs|embedded)\/.*\.ts$/.test(file));
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    listComments(readFileSync(path.join(root, file), 'utf8'))
      .filter(({ text }) => HEADLESS.test(text))
      .map(({ line, text }) => `${file}:${line}: ${text}`),
  );
  expect(found).toEqual([]);
});

/** Lists where each comment begins; a paragraph of its own after a blank line of it begins again. */
function listComments(source: string): { line: number; text: string }[] {
  let before = '';
  return source.split('\n').flatMap((raw, index) => {
    const inner = /^\s*(?:\/\*\*?|\/\/|\*(?!\/))\s*(.*)/.exec(raw)?.[1] ?? '';
    const begins = inner !== '' && (before === '' || /^\s*\/\*/.test(raw));
    before = inner;
    return begins ? [{ line: index + 1, text: inner }] : [];
  });
}
