import { execFileSync } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callbackBodySchema } from '../../../src/callbacks/event-schema.ts';
import { sign } from '../../../src/callbacks/sign.ts';

const docs = path.resolve(import.meta.dirname, '../../../docs');
const page = readFileSync(path.join(docs, 'callbacks.md'), 'utf8');

function snippet(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1];
  if (!found) throw new Error(`docs/callbacks.md has no ${language}`);
  return found;
}

// written anew by: vitest run --project unit test/unit/callbacks/docs.test.ts -u
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

test('the message that the page shows is one of ours', () => {
  const body = JSON.parse(snippet('http').split('\n\n')[1] ?? '') as unknown;
  expect(callbackBodySchema.parse(body)).toEqual(body);
});

test('the Python snippet takes our signatures, during a rotation too, and no others', () => {
  const [secret, other] = [randomBytes(32), randomBytes(32)];
  const body = '{"type":"confere.test","n":"é"}';
  const timestamp = Math.floor(Date.now() / 1000);
  const keys = [other, secret].map((key) => createSecretKey(key));
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(keys, { id: 'msg_1', timestamp, body }),
  };
  const cases = [
    [secret, headers],
    [other, headers],
    [randomBytes(32), headers],
    [secret, { ...headers, 'webhook-id': 'msg_2' }],
    [secret, { ...headers, 'webhook-timestamp': String(timestamp - 600) }],
  ].map(([key, given]) => [`whsec_${(key as Buffer).toString('base64')}`, given, body]);
  const program = `${snippet('python')}
import json, sys
print(json.dumps([verify(s, h, b.encode()) for s, h, b in json.load(sys.stdin)]))`;
  const said = execFileSync('python3', ['-c', program], { input: JSON.stringify(cases), encoding: 'utf8' });
  expect(JSON.parse(said)).toEqual([true, true, false, false, false]);
});
