/**
 * docs/configuration.md has its sections and texts itself; the rows of its tables are made from the schema of the environment:
 * `npm test -- test/unit/docs -u` writes them.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Environment, environment } from '../../../src/config/environment.ts';
import { readDefault } from '../../../src/config/list-settings.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PAGE = path.join(ROOT, 'docs/configuration.md');
const names = Object.keys(environment.shape);
const EXAMPLES = 12;

/** Describes the value that a variable takes, in the words of the fault that a wrong value gets. */
function describeValue(name: keyof Environment): string {
  const schema = environment.shape[name];
  const inner = unwrap(schema);
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => `\`${String(option)}\``).join(', ');
  const fault = schema.safeParse('\u0000').error?.issues[0]?.message;
  if (fault === undefined) return 'a text';
  return fault
    .replace(/^must be (?:of )?/, '')
    .replace(/^is no /, 'an ')
    .replaceAll('|', '\\|');
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.unwrap());
  return schema;
}

function renderRow(name: string): string {
  const initial = readDefault(environment.shape[name as keyof Environment]);
  const shown = initial ? `\`${initial.replaceAll('|', '\\|')}\`` : '–';
  return `| \`${name}\` | ${shown} | ${describeValue(name as keyof Environment)} |`;
}

test('docs/configuration.md names each variable of the schema once, its default and what it takes', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const listed = [...page.matchAll(/^\| `([A-Z_]+)` \|.*$/gm)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual(names.toSorted());
  const rendered = page.replace(/^\| `([A-Z_]+)` \|.*$/gm, (_, name: string) => renderRow(name));
  await expect(rendered).toMatchFileSnapshot(PAGE);
});

test('.env.example has the settings of an installation, under names of the schema', () => {
  const example = Object.keys(parseEnv(readFileSync(path.join(ROOT, '.env.example'), 'utf8')));
  expect(example).toHaveLength(EXAMPLES);
  expect(names).toEqual(expect.arrayContaining(example));
});
