import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callbackBodySchema } from '../../../src/callbacks/render/event-schema.ts';

const docs = path.resolve(import.meta.dirname, '../../../docs');
const read = (name: string): string => readFileSync(path.join(docs, name), 'utf8');
const page = read('callbacks.md');

function snippet(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1];
  if (!found) throw new Error(`docs/callbacks.md has no ${language}`);
  return found;
}

// written anew by: vitest run --project unit test/unit/callbacks/event-schema.test.ts -u
test('the JSON Schema for merchants is that of the bodies we render', async () => {
  const schema = z.toJSONSchema(callbackBodySchema, {
    // a reader takes fields that came later
    io: 'input',
    override: ({ jsonSchema }) => {
      // the format says it; zod's pattern of it is a page long
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(path.join(docs, 'callbacks.schema.json'));
});

test('the messages that the pages show are ours', () => {
  const order = /```json\n(\{\n {2}"type": "pix\.expected\.[^`]*)```/.exec(read('callback-types.md'))?.[1];
  for (const text of [snippet('http').split('\n\n')[1], order]) {
    const body = JSON.parse(text ?? '') as unknown;
    expect(callbackBodySchema.parse(body)).toEqual(body);
  }
});
