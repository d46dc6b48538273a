import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { storeRefusedRows } from '../../../src/ledger/apply/store-refused-rows.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';

const UNREADABLE = 'cannot be redacted';
const broken = vi.hoisted(() => ({ on: true }));
vi.mock('../../../src/domain/person/redact-text.ts', async (original) => {
  const real = await original<typeof import('../../../src/domain/person/redact-text.ts')>();
  const listCandidates: typeof real.listCandidates = (text) => {
    if (broken.on && text.includes(UNREADABLE)) throw new RangeError('Maximum call stack size exceeded');
    return real.listCandidates(text);
  };
  return { ...real, listCandidates };
});

const DOCUMENT = '12345678909';
let world: InboxEnvironment;
beforeAll(async () => {
  world = await openInboxEnvironment();
  await world.context.db
    .insertInto('forgotten_people')
    .values({ document_hash: hashDocument(world.context.keys, DOCUMENT), forgotten_at: new Date() })
    .execute();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  broken.on = true;
});

async function bodyOf(id: string): Promise<string> {
  const { seq } = await world.webhook(id);
  const row = await world.context.db.selectFrom('webhooks').select('body').where('seq', '=', seq).executeTakeFirst();
  return String(row?.body);
}
const nest = (inner: string, levels: number) => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;

test('bodies made of brackets or of documents delay nothing once a person was forgotten', async () => {
  const deep = await world.receive(nest('', 120_000));
  const personal = await world.receive(nest(`"${DOCUMENT}"`, 120_000));
  const documents = Array.from({ length: 20_000 }, (_, n) => 10_000_000_000 + n);
  const many = await world.receive({ nada: [...documents, Number(DOCUMENT)] });
  const next = await world.receive({ nada: DOCUMENT });
  for (const { id } of [deep, personal]) {
    expect(await world.waitForState(id, 'quarantined')).toMatchObject({ reason: 'too_deep' });
  }
  for (const { id } of [many, next])
    expect(await world.waitForState(id, 'quarantined')).toMatchObject({ reason: 'no_key' });
  expect(await bodyOf(deep.id)).toBe(nest('', 120_000));
  expect(await bodyOf(personal.id)).toBe('[removido]');
  expect(await bodyOf(many.id)).toBe(JSON.stringify({ nada: [...documents, '[removido]'] }));
  expect(await bodyOf(next.id)).toBe('{"nada":"[removido]"}');
});

test('a webhook that can not be redacted is quarantined and raised, alone', async () => {
  const row = world.provider.put(makeShownTransaction(['paid@1'], { id: randomUUID() }));
  const [bad, good] = await Promise.all([
    world.receive({ transaction_id: row.id, status: 'paid', x: UNREADABLE, document: DOCUMENT }),
    world.receive({ nada: DOCUMENT }),
  ]);
  await world.waitForState(good.id, 'quarantined');
  expect(await bodyOf(good.id)).toBe('{"nada":"[removido]"}');
  // its item is verified all the same
  const held = await world.waitForState(bad.id, 'quarantined');
  expect(held).toMatchObject({ reason: 'not_redacted' });
  expect(await bodyOf(bad.id)).toContain(DOCUMENT);
  const rows = await world.context.db.selectFrom('mismatches').select('actual').execute();
  expect(rows.map((one) => one.actual)).toContain('{"reason":"not_redacted"}');
});

test("a provider's row that can't be redacted is raised, and not kept", async () => {
  const source = { kind: 'list', page: 1, run: { seq: 1, id: 'run_1' } } as const;
  await storeRefusedRows(world.context, [
    { id: 'x', raw: `{"document":"${DOCUMENT} ${UNREADABLE}"}`, reason: 'amount', source },
  ]);
  const row = await world.context.db.selectFrom('refused_rows').select('raw').executeTakeFirstOrThrow();
  expect(String(row.raw)).toBe('[removido]');
});
