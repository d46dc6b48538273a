import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { storeRefusedRows } from '../../../src/ledger/apply/store-refused-rows.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openInboxEnvironment } from '../../support/open-inbox-environment.ts';
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
const environment = closeAfterAll(await openInboxEnvironment());
beforeAll(async () => {
  await environment.context.db
    .insertInto('forgotten_people')
    .values({ document_hash: hashDocument(environment.context.keys, DOCUMENT), forgotten_at: new Date() })
    .execute();
});
beforeEach(() => {
  broken.on = true;
});

async function bodyOf(id: string): Promise<string> {
  const { seq } = await environment.webhook(id);
  const row = await environment.context.db
    .selectFrom('webhooks')
    .select('body')
    .where('seq', '=', seq)
    .executeTakeFirst();
  return String(row?.body);
}
const nest = (inner: string, levels: number) => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;

test('bodies made of brackets or of documents delay nothing once a person was forgotten', async () => {
  const deep = await environment.receive(nest('', 120_000));
  const personal = await environment.receive(nest(`"${DOCUMENT}"`, 120_000));
  const documents = Array.from({ length: 20_000 }, (_, n) => 10_000_000_000 + n);
  const many = await environment.receive({ nada: [...documents, Number(DOCUMENT)] });
  const next = await environment.receive({ nada: DOCUMENT });
  for (const { id } of [deep, personal]) {
    expect(await environment.waitForState(id, 'quarantined')).toMatchObject({ reason: 'too_deep' });
  }
  for (const { id } of [many, next])
    expect(await environment.waitForState(id, 'quarantined')).toMatchObject({ reason: 'no_key' });
  expect(await bodyOf(deep.id)).toBe(nest('', 120_000));
  expect(await bodyOf(personal.id)).toBe('[removido]');
  expect(await bodyOf(many.id)).toBe(JSON.stringify({ nada: [...documents, '[removido]'] }));
  expect(await bodyOf(next.id)).toBe('{"nada":"[removido]"}');
});

test('a webhook that can not be redacted is quarantined and raised, alone', async () => {
  const row = environment.provider.put(makeShownTransaction(['paid@1'], { id: randomUUID() }));
  const [bad, good] = await Promise.all([
    environment.receive({ transaction_id: row.id, status: 'paid', x: UNREADABLE, document: DOCUMENT }),
    environment.receive({ nada: DOCUMENT }),
  ]);
  await environment.waitForState(good.id, 'quarantined');
  expect(await bodyOf(good.id)).toBe('{"nada":"[removido]"}');
  // its item is verified all the same
  const held = await environment.waitForState(bad.id, 'quarantined');
  expect(held).toMatchObject({ reason: 'not_redacted' });
  expect(await bodyOf(bad.id)).toContain(DOCUMENT);
  const rows = await environment.context.db.selectFrom('mismatches').select('actual').execute();
  expect(rows.map((one) => one.actual)).toContain('{"reason":"not_redacted"}');
});

test("a provider's row that can't be redacted is raised, and not kept", async () => {
  const source = { kind: 'list', page: 1, run: { seq: 1, id: 'run_1' } } as const;
  await storeRefusedRows(environment.context, [
    { id: 'x', raw: `{"document":"${DOCUMENT} ${UNREADABLE}"}`, reason: 'amount', source },
  ]);
  const row = await environment.context.db.selectFrom('refused_rows').select('raw').executeTakeFirstOrThrow();
  expect(String(row.raw)).toBe('[removido]');
});
