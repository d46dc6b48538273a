import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
/** Folders without documents of ours. */
const SKIPPED = new Set(['node_modules', 'var', 'coverage', '.git', 'fixtures']);
const LINKS_MIN = 80;

type Link = { file: string; target: string };

function listDocuments(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listDocuments(file);
    return entry.name.endsWith('.md') ? [file] : [];
  });
}

/** Returns the text without code, because code can contain the syntax of links and headings. */
function withoutBlocks(text: string): string {
  return text.replace(/^(```+)[^\n]*\n[\s\S]*?^\1\s*$/gm, '');
}

function listLinks(file: string): Link[] {
  const text = withoutBlocks(readFileSync(file, 'utf8')).replace(/`[^`\n]*`/g, 'code');
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => ({ file, target }));
}

/** Names of a document's headings as GitHub makes them: the second of two equal ones ends in `-1`. */
function listAnchors(file: string): Set<string> {
  const counts = new Map<string, number>();
  const headings = withoutBlocks(readFileSync(file, 'utf8')).matchAll(/^#{1,6} +(.+?) *#*$/gm);
  const anchors = [...headings].map(([, heading = '']) => {
    const words = heading.replace(/\]\([^)]*\)/g, '').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '').replaceAll(' ', '-');
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(anchors);
}

function resolves({ file, target }: Link): boolean {
  const [name = '', anchor] = target.split('#');
  const linked = name === '' ? file : path.resolve(path.dirname(file), decodeURIComponent(name));
  if (!existsSync(linked)) return false;
  if (anchor === undefined) return true;
  return statSync(linked).isFile() && linked.endsWith('.md') && listAnchors(linked).has(decodeURIComponent(anchor));
}

test('relative links of the documents lead to files and headings that exist', () => {
  const links = listDocuments(root)
    .flatMap(listLinks)
    .filter(({ target }) => !/^[a-z]+:/.test(target));
  expect(links.length).toBeGreaterThan(LINKS_MIN);
  const broken = links.filter((link) => !resolves(link));
  expect(broken.map(({ file, target }) => `${path.relative(root, file)}: ${target}`)).toEqual([]);
});

/** Paths in code spans: from the root of the repository, or the name of a file alone. */
function listPaths(file: string): string[] {
  const spans = [...withoutBlocks(readFileSync(file, 'utf8')).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return spans.filter((span) =>
    /^(src|jobs|test|demo|sandbox|embedded|bench|migrations|docs|bin)\/[\w./-]+$|^[a-z-]+\.ts$/.test(span),
  );
}

test('every file that the guides name exists', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
  const names = new Set(tracked.map((file) => path.basename(file)));
  const guides = ['CONTRIBUTING.md', 'README.md', 'docs/architecture.md', 'test/README.md'];
  const found = guides.flatMap((guide) => listPaths(path.join(root, guide)).map((named) => ({ guide, named })));
  expect(found.length).toBeGreaterThan(60);
  const missing = found.filter(({ named }) =>
    named.includes('/') ? !existsSync(path.join(root, named)) : !names.has(named),
  );
  expect(missing).toEqual([]);
});

/** The files that a part of docs/architecture.md names. @param from the sentence that begins it; the next one ends it. */
function listWalk(from: RegExp, to: RegExp): Set<string> {
  const text = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
  const [start, end] = [text.search(from), text.search(to)];
  expect(start, String(from)).toBeGreaterThan(0);
  expect(end, String(to)).toBeGreaterThan(start);
  const files = text.slice(start, end).matchAll(/`([\w./-]+\.ts)`/g);
  return new Set([...files].map(([, file = '']) => path.basename(file)));
}

test('the walks through the code name as many files as they say, and no more than a reader follows', () => {
  const webhook = listWalk(/^32 files, in the order/m, /^Seven files stand beside this path/m);
  const page = listWalk(/^From there, 15 files up to the ledger/m, /^Five more prove the day/m);
  expect([webhook.size, page.size]).toEqual([32, 15]);
  expect(listWalk(/^Seven files stand beside/m, /^## A list page/m).size).toBe(7);
  expect(listWalk(/^Five more prove the day/m, /^Two stand before this path/m).size).toBe(5);
});
