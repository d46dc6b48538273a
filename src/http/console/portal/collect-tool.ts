/**
 * The files of `confere-cli`: the commands for developers and what they import, with their types stripped, so that any Node runs
 * them. They import Node's own modules and commander, which comes with them.
 */
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { VERSION } from '../../../domain/version.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const MAIN = 'src/commands/developer/main.ts';
/** A statement, not its like in a comment. */
const IMPORT = /^((?:import|export|\})[^'\n]* from |import )'([^'\n]+)'/gm;
const TAR_BLOCK = 512;

/** By their paths within the package. @throws Error for an import that the package would lack. */
export function collectTool(): Map<string, string> {
  const files = new Map<string, string>([['package.json', describePackage()]]);
  const commander = path.dirname(createRequire(import.meta.url).resolve('commander'));
  const add = (file: string): string => {
    const isOurs = !file.startsWith(commander);
    const name = isOurs
      ? path.relative(ROOT, file).replace(/\.ts$/, '.js')
      : `commander/${path.relative(commander, file)}`;
    if (files.has(name)) return name;
    files.set(name, '');
    const text = readFileSync(file, 'utf8');
    const code = isOurs ? stripTypeScriptTypes(text, { mode: 'strip' }) : text;
    const find = (whole: string, before: string, target: string): string => {
      if (target.startsWith('node:')) return whole;
      if (target !== 'commander' && !target.startsWith('.')) throw new Error(`${name} imports ${target}`);
      const found =
        target === 'commander' ? path.join(commander, 'index.js') : path.resolve(path.dirname(file), target);
      const to = path.relative(path.dirname(name), add(found));
      return `${before}'${to.startsWith('.') ? to : `./${to}`}'`;
    };
    files.set(name, code.replace(IMPORT, find));
    return name;
  };
  add(path.join(ROOT, MAIN));
  files.set('commander/LICENSE', readFileSync(path.join(commander, 'LICENSE'), 'utf8'));
  files.set('LICENSE', readFileSync(path.join(ROOT, 'LICENSE'), 'utf8'));
  return files;
}

/** The package as `npm pack` writes it: `npx ./confere-cli.tgz`. The same files give the same bytes. */
export function packTool(): Buffer {
  const parts = [...collectTool()].flatMap(([name, text]) => {
    const bytes = Buffer.from(text);
    const rest = (TAR_BLOCK - (bytes.length % TAR_BLOCK)) % TAR_BLOCK;
    return [writeHeader(`package/${name}`, bytes.length), bytes, Buffer.alloc(rest)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * TAR_BLOCK)]));
}

function describePackage(): string {
  const bin = { 'confere-cli': MAIN.replace(/\.ts$/, '.js') };
  const about = {
    name: 'confere-cli',
    version: VERSION,
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20' },
    bin,
  };
  return `${JSON.stringify(about, null, 2)}\n`;
}

/** A header of the format ustar. */
function writeHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  header.write(name, 0, 100);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write('        0', 148);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return header;
}
