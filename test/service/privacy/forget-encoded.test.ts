import { beforeAll, expect, test } from 'vitest';
import { REMOVED } from '../../../src/domain/person/redact-text.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { cpfOf, digitsFrom, punctuate } from '../../support/spell-documents.ts';
import { findValues } from './find-values.ts';

const PLAIN = cpfOf('314159265');
const DOTTED = punctuate(PLAIN);
const SAID = `CPF ${DOTTED}, Zuzimara Quixabeira Conceição`;
const base64 = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('base64');
const entities = (text: string) => Array.from(text, (one) => `&#${one.codePointAt(0)};`).join('');
const wide = (text: string) => Buffer.from(text, 'utf16le');

/** Bodies that nobody reads as they are, and what each is to become while the person's name is known. */
const BODIES: [string, string | Buffer, string][] = [
  ['base64', JSON.stringify({ dados: base64(SAID), n: 1 }), `{"dados":"${REMOVED}","n":1}`],
  ['base64url', `{"t":"x.${Buffer.from(`{"cpf":"${PLAIN}"}`).toString('base64url')}.y"}`, `{"t":"${REMOVED}"}`],
  ['base64 of UTF-16', JSON.stringify({ dados: base64(PLAIN, 'utf16le'), n: 3 }), `{"dados":"${REMOVED}","n":3}`],
  [
    'base64 of UTF-16 of the other order',
    JSON.stringify({ dados: wide(PLAIN).swap16().toString('base64'), n: 4 }),
    `{"dados":"${REMOVED}","n":4}`,
  ],
  ['digits of Arabic', JSON.stringify({ obs: digitsFrom(0x0660, PLAIN), n: 5 }), `{"obs":"${REMOVED}","n":5}`],
  ['digits of Devanagari', JSON.stringify({ cpf: digitsFrom(0x0966, DOTTED), n: 6 }), `{"cpf":"${REMOVED}","n":6}`],
  ['digits of full width', `{"cpf":"${digitsFrom(0xff10, PLAIN)}"}`, `{"cpf":"${REMOVED}"}`],
  ['entities', JSON.stringify({ html: `<b>${entities(DOTTED)}</b>` }), `{"html":"${REMOVED}"}`],
  ['names of entities', `<p>Zuzimara Quixabeira Concei&ccedil;&atilde;o, ${entities(PLAIN)}</p>`, REMOVED],
  ['UTF-16', wide(JSON.stringify({ nada: 'x', cpf: PLAIN })), `{"nada":"x","cpf":"${REMOVED}"}`],
  ['UTF-16 with a mark', wide(`\uFEFF${SAID}`), `CPF ${REMOVED}, ${REMOVED}`],
  ['UTF-16 of the other order', wide(SAID).swap16(), `CPF ${REMOVED}, ${REMOVED}`],
];
/** A document that nobody forgets stays as it came. */
const KEPT = JSON.stringify({ dados: base64('CPF 529.982.247-25'), n: 2 });

const environment = closeAfterAll(await openConsoleEnvironment());
const mention: ShownTransaction = {
  ...{ id: '0f0e0d0c-0000-4000-8000-00000000aaaa', operation: 'cashin', status: 'pending', amount: '1.00' },
  ...{
    date_created: '2026-03-05 10:00:00',
    events: [],
    document: '52998224725',
    extra: `v1.${base64(`cpf=${PLAIN}`)}`,
  },
};
const theirs: ShownTransaction = {
  ...{ ...mention, id: '0f0e0d0c-0000-4000-8000-00000000bbbb', document: PLAIN, name: 'Zuzimara Quixabeira Conceição' },
  ...{ extra: entities('Zuzimara Quixabeira Conceição'), reference: `2026${PLAIN}` },
};

beforeAll(async () => {
  for (const one of [mention, theirs]) {
    await applyObservations(environment.context, [observe(one, environment.context.clock.now())]);
  }
  await sendAll();
});

async function send(body: string | Buffer): Promise<string> {
  return (await environment.webhook(body)).json.id as string;
}

async function sendAll(tail = ''): Promise<void> {
  for (const body of [...BODIES.map(([, one]) => one), KEPT]) {
    await send(typeof body === 'string' ? `${body}${tail}` : Buffer.concat([body, Buffer.from(tail, 'utf16le')]));
  }
  while ((await splitWebhooks(environment.context, 0)).more);
}

async function readBodies(after: number): Promise<string[]> {
  const rows = await environment.context.db
    .selectFrom('webhooks')
    .select('body')
    .where('seq', '>', after)
    .orderBy('seq')
    .execute();
  return rows.map((row) => row.body.toString());
}

async function countWebhooks(): Promise<number> {
  const row = await environment.context.db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.max<number>('seq').as('seq'))
    .executeTakeFirstOrThrow();
  return row.seq;
}

const forget = async () => {
  const { DATABASE_URL = '', SECRET_KEY = '', DATA_DIR = '' } = environment.env;
  const env = { DATABASE_URL, SECRET_KEY, DATA_DIR };
  const { out } = await advanceUntilDone(
    environment,
    runCommandInProcess(['forget', '--document', PLAIN, '--json'], env, environment.timers),
  );
  return JSON.parse(out) as { finished: boolean; erased: Record<string, number> };
};

test('a person who is forgotten goes from bodies in base64, in entities and in UTF-16, and from others’ extras', async () => {
  const first = (await countWebhooks()) - BODIES.length - 1;
  expect(await readBodies(first)).toHaveLength(BODIES.length + 1);
  expect(await forget()).toMatchObject({ finished: true, erased: { webhooks: BODIES.length } });
  expect(await readBodies(first)).toEqual([...BODIES.map(([, , left]) => left), KEPT]);
  const extras = await environment.context.db
    .selectFrom('transactions')
    .select(['id', 'extra'])
    .where('id', 'in', [mention.id, theirs.id])
    .orderBy('id')
    .execute();
  expect(extras).toEqual([
    { id: mention.id, extra: null },
    { id: theirs.id, extra: null },
  ]);
  const values = [DOTTED, 'Zuzimara', base64(SAID), base64(`cpf=${PLAIN}`), entities(PLAIN), entities('314.')];
  expect(await findValues(environment.context.db, [], values)).toEqual([]);
});

test('a forgotten document is removed from later texts too', async () => {
  const before = await countWebhooks();
  await sendAll(' ');
  const left = await readBodies(before);
  // nobody knows the name any more: what is no JSON goes whole
  const whole = BODIES.map(([, , one]) => (one.startsWith('{') ? one : REMOVED));
  expect(left.map((one) => one.trim())).toEqual([...whole, KEPT]);
  expect((await forget()).erased.webhooks).toBe(0);
});

test('a reference that holds a document stays, and a viewer does not see it', async () => {
  const read = async (role: 'viewer' | 'operator') =>
    (await environment.api(role, 'GET', `/transactions/${theirs.id}`)).json;
  expect(await read('viewer')).toMatchObject({ reference: '***', name: null, document: null });
  expect(await read('operator')).toMatchObject({ reference: theirs.reference, name: null, document: null });
});
