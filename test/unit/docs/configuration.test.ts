/**
 * docs/configuration.md is made from the schema of the environment and from .env.example: `npm test -- test/unit/docs -u` writes
 * it. test/unit/config.test.ts compares the names and defaults of .env.example with the schema.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Environment, environment } from '../../../src/config/environment.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

const HEAD = `<!-- made by test/unit/docs/configuration.test.ts; run npm test -- test/unit/docs -u after a change -->
# Configuration

Confere reads its configuration from environment variables, once, at the start of each process.

- **\`.env\`.** \`bin/confere\`, \`npx confere\` and \`npm start\` read the file \`.env\` beside \`package.json\` if it is there. A variable that
  is set already wins, also if it is empty. \`ENV_FILE\` names another file, which must exist; an empty \`ENV_FILE\` reads none.
  Quote a value that contains \`#\`. The sandbox and the demo read no such file. Copy [.env.example](../.env.example) to begin, and keep the
  copy readable for its owner only.
- **Secrets in files.** Each name can end in \`_FILE\`: \`SECRET_KEY_FILE=/run/secrets/key\` reads the value from that file.
- **Faults.** A wrong or missing value ends the start with exit code 2; one message names all of them, and quotes none. An
  empty value counts as unset.
- **Unknown names.** A variable whose name is a letter or two from one of these, or begins with a word that two or more of these
  begin with (\`RETAIN_\`, \`JOB_\`, \`WEBHOOK_\`, …), is warned of in the log: \`unknown environment variable RETAIN_BODY: did you mean
  RETAIN_BODIES?\` Names of others are ignored: of OpenTelemetry (\`OTEL_\`), of jobs of Jenkins, Kubernetes and other CI systems (\`JOB_NAME\`, \`JOB_ID\`), of services in
  Kubernetes (\`WEBHOOK_SERVICE_HOST\`), and such as \`DATABASE_HOST\`, \`SMTP_USER\` and \`LOG_FILE\`, whose first word one of these alone has.

[Operating](operating.md) explains what they are for. Give every process of an installation the same values, but \`HOST\`, \`PORT\` and
\`POOL_CONNECTIONS\`.
`;

/** A paragraph of comments, and the names below it. */
type Group = { heading: string | undefined; says: string; names: { name: string; initial: string }[] };

function readGroups(): Group[] {
  // the first paragraph is about the file itself
  const [, ...paragraphs] = readFileSync(path.join(ROOT, '.env.example'), 'utf8').split(/\n\n+/);
  const groups: Group[] = [];
  for (const line of paragraphs.join('\n').split('\n').filter(Boolean)) {
    const isText = line.startsWith('#');
    let group = groups.at(-1);
    if (!group || line.startsWith('## ') || (isText && group.names.length > 0)) {
      group = { heading: line.startsWith('## ') ? line.slice(3) : undefined, says: '', names: [] };
      groups.push(group);
    }
    if (line.startsWith('# ')) group.says = `${group.says} ${line.slice(2)}`.trim();
    const [, name, initial = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name) group.names.push({ name, initial });
  }
  return groups;
}

/** What a variable takes, in the words of the fault that a wrong value gets. */
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
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return unwrap(schema.unwrap());
  return schema;
}

function render(): string {
  const sections = readGroups().map(({ heading, says, names }) => {
    const rows = names.map(({ name, initial }) => {
      const shown = initial === '' ? '–' : `\`${initial.replaceAll('|', '\\|')}\``;
      return `| \`${name}\` | ${shown} | ${describeValue(name as keyof Environment)} |`;
    });
    const title = heading === undefined ? [] : [`## ${heading}`];
    const text = says === '' ? [] : [says.replaceAll('<', '&lt;').replaceAll('*', '\\*')];
    return [...title, ...text, ['| name | default | value |', '| --- | --- | --- |', ...rows].join('\n')].join('\n\n');
  });
  return `${[HEAD.trim(), ...sections].join('\n\n')}\n`;
}

test('docs/configuration.md names each variable of the schema, its default and what it takes', async () => {
  const text = render();
  for (const name of Object.keys(environment.shape)) expect(text).toContain(`| \`${name}\` |`);
  await expect(text).toMatchFileSnapshot(path.join(ROOT, 'docs/configuration.md'));
});
