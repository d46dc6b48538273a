/**
 * Prints each regular expression of src as JSON, as a program of its own: the literals by a parser, and those that are composed as
 * they are made while all modules are loaded and the functions below run. Each place where one is composed must have made one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse, type Token } from 'acorn';

export type Listed = { place: string; source: string; flags: string };

/** The declaration of acorn leaves the value out. */
type Read = Token & { value?: unknown };

const src = path.resolve(import.meta.dirname, '../../../src');
/** Starts the command line. */
const ENTRY = 'main.ts';

function listFiles(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.d)\.ts$/.test(name));
}

/** @returns the literals of a file, and the places where it composes one. */
function readFile(name: string): { literals: Listed[]; composed: string[] } {
  const tokens: Token[] = [];
  // types become blanks: places stay the same
  const code = stripTypeScriptTypes(readFileSync(path.join(src, name), 'utf8'));
  parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true, onToken: tokens });
  const placeOf = (token: Token): string => `${name}:${token.loc?.start.line}`;
  const literals = tokens.flatMap((token): Listed[] => {
    if (token.type.label !== 'regexp') return [];
    const { pattern, flags } = (token as Read).value as { pattern: string; flags: string };
    return [{ place: placeOf(token), source: pattern, flags }];
  });
  const composed = tokens.flatMap((token) =>
    token.type.label === 'name' && (token as Read).value === 'RegExp' ? [placeOf(token)] : [],
  );
  return { literals, composed };
}

const made = new Map<string, Listed>();

/** Records each pattern that is composed in src, with its place. */
function watchConstructor(): void {
  const Original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, given, newTarget) {
      const pattern = Reflect.construct(target, given, newTarget) as RegExp;
      const frame = /\(?(file:[^\s)]+):(\d+):\d+\)?$/.exec(new Error().stack?.split('\n')[2] ?? '');
      const file = frame?.[1] ? path.relative(src, fileURLToPath(frame[1])) : '..';
      if (!file.startsWith('..')) {
        const { source, flags } = pattern;
        made.set(`${file} ${source} ${flags}`, { place: `${file}:${frame?.[2]}`, source, flags });
      }
      return pattern;
    },
  });
}

/** Runs what composes a pattern of a value. */
async function composeAll(): Promise<void> {
  const load = async (name: string) =>
    (await import(pathToFileURL(path.join(src, name)).href)) as Record<string, (...given: unknown[]) => unknown>;
  const { parseNumbered } = await load('ledger/bank/pick-match.ts');
  for (const prefix of ['bl', 'bm', 'bs']) parseNumbered?.(prefix, 'x');
  const { checkQuery } = await load('http/check-query.ts');
  const { API_OPERATIONS } = await load('http/openapi/operations.ts');
  checkQuery?.(API_OPERATIONS);
  const { maskText } = await load('domain/person/mask-person.ts');
  const party = { name: 'Maria da Silva', email: 'maria.silva@example.com', phone: '+55 11 91234-5678', pix_key: null };
  for (const document of ['52998224725', '11222333000181', 'AB1CDE2F000132', '1234567'])
    maskText?.('order 7', { ...party, document });
  const { createRedact } = await load('domain/person/redact-text.ts');
  const redact = createRedact?.({
    documents: ['52998224725'],
    ids: [],
    own: ['+55 11 91234-5678', 'maria.silva@example.com'],
    shared: ['Maria (da) Silva'],
  });
  (redact as (text: string, about: boolean) => unknown)('paid by maria.silva@example.com, 529.982.247-25', true);
}

const files = listFiles();
watchConstructor();
for (const name of files) if (name !== ENTRY) await import(pathToFileURL(path.join(src, name)).href);
await composeAll();
const read = files.map(readFile);
const composed = read.flatMap((one) => one.composed);
process.stdout.write(
  JSON.stringify({ literals: read.flatMap((one) => one.literals), composed, made: [...made.values()] }),
);
process.exit(0);
