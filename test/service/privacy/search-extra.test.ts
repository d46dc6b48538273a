import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { VIEWER_DOCUMENTS_AN_HOUR_MAX } from '../../../src/operations/authorize-search.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';
import { readRows } from '../../support/read-rows.ts';
import { listCpfsLike, punctuate } from '../../support/spell-documents.ts';

const PLACES = ['/api/v1/transactions', '/api/v1/webhooks', '/transactions', '/inbox'];
const environment = closeAfterAll(await openConsoleEnvironment());

it('does not let a viewer try documents by the extra that repeats them', async () => {
  const viewer = await arrive('viewer');
  const tries = Array.from({ length: VIEWER_DOCUMENTS_AN_HOUR_MAX }, (_, n) => `${100 + n}.456.789-09`);
  for (const [n, extra] of tries.entries()) expect(await viewer.find(PLACES[n % PLACES.length] ?? '', extra)).toBe(200);
  for (const place of PLACES) {
    expect([place, await viewer.find(place, '12345678909')]).toEqual([place, 429]);
    expect([place, await viewer.find(place, 'pedido-1042')]).toEqual([place, 200]);
  }
  expect(await viewer.listAudit()).toHaveLength(VIEWER_DOCUMENTS_AN_HOUR_MAX);
});

it('does not let a viewer try documents by a reference, or an id, that holds them within a longer number', async () => {
  const viewer = await arrive('viewer');
  const tried = listCpfsLike('12345678909').slice(0, VIEWER_DOCUMENTS_AN_HOUR_MAX + 3);
  const spell = [
    (cpf: string) => `55${cpf}`,
    (cpf: string) => `0${cpf}`,
    (cpf: string) => `2026${cpf}`,
    (cpf: string) => `pedido ${punctuate(cpf)}`,
  ];
  const last = tried.splice(VIEWER_DOCUMENTS_AN_HOUR_MAX);
  for (const [n, cpf] of tried.entries()) {
    expect(await viewer.find(PLACES[n % 4] ?? '', spell[(n >> 2) % 4]?.(cpf) ?? '', 'reference')).toBe(200);
  }
  for (const [place, name] of [
    ...PLACES.flatMap((place) => [
      [place, 'reference'],
      [place, 'extra'],
    ]),
    ...['/api/v1/webhooks', '/inbox'].map((place) => [place, 'transaction_id']),
  ]) {
    expect([place, name, await viewer.find(place ?? '', `2026${last[0]}`, name)]).toEqual([place, name, 429]);
    expect(await viewer.find(place ?? '', 'pedido-1042', name)).toBe(200);
  }
  expect(new Set(await viewer.listAudit()).size).toBe(VIEWER_DOCUMENTS_AN_HOUR_MAX);
});

it('does not let a viewer try the parts of a document that are as good as the whole', async () => {
  const viewer = await arrive('viewer');
  const spell = [
    (cpf: string) => cpf.slice(0, 9),
    (cpf: string) => `cliente ${cpf.slice(0, 3)}-${cpf.slice(3, 6)}`,
    (cpf: string) => `${cpf.slice(0, 3)}.***.***-${cpf.slice(-2)}`,
    (cpf: string) => `cpf ${cpf.slice(0, 3)}`,
    (cpf: string) => `A${cpf.slice(0, 3)}B${cpf.slice(3, 6)}C${cpf.slice(6, 9)}`,
  ];
  const tried = listCpfsLike('12345678909').slice(0, VIEWER_DOCUMENTS_AN_HOUR_MAX);
  for (const [n, cpf] of tried.entries()) {
    expect(await viewer.find(PLACES[n % 4] ?? '', spell[(n >> 2) % spell.length]?.(cpf) ?? '', 'reference')).toBe(200);
  }
  expect(await viewer.listAudit()).toHaveLength(VIEWER_DOCUMENTS_AN_HOUR_MAX);
  const names = [
    ...PLACES.flatMap((place) => ['reference', 'extra'].map((name) => ({ place, name }))),
    ...['/api/v1/webhooks', '/inbox'].map((place) => ({ place, name: 'transaction_id' })),
    ...['/api/v1/transactions', '/transactions'].map((place) => ({ place, name: 'e2e_id' })),
  ];
  for (const { place, name } of names) {
    for (const one of spell) expect([place, name, await viewer.find(place, one('99945678909'), name)]).toContain(429);
    // a random id is none
    expect(await viewer.find(place, '0f0e0d0c-1234-4567-8901-123456789012', name)).toBe(200);
  }
  expect(await viewer.find('/api/v1/transactions', 'E12345678202611201234abcdef12345', 'e2e_id')).toBe(200);
});

it('writes down a viewer’s search that finds what is withheld, by however few digits, and answers it', async () => {
  const shown = { ...environment.paid, id: '0f0e0d0c-0000-4000-8000-0000000000ee', document: '12345678909' };
  await applyObservations(environment.context, [
    observe({ ...shown, reference: 'mesa-8909' }, environment.context.clock.now()),
  ]);
  const viewer = await arrive('viewer');
  const operator = await arrive('operator');
  for (const place of ['/api/v1/transactions', '/transactions']) {
    expect(await viewer.find(place, 'mesa-8909', 'reference')).toBe(200);
    expect(await viewer.find(place, 'mesa-8908', 'reference')).toBe(200);
    expect(await operator.find(place, 'mesa-8909', 'reference')).toBe(200);
    expect(await operator.find(place, '123456789', 'reference')).toBe(200);
  }
  expect(await viewer.listAudit()).toHaveLength(2);
  await environment.webhook({ transaction_id: shown.id, transaction_reference: 'mesa-8909', status: 'paid' });
  await splitWebhooks(environment.context, 0);
  for (const place of ['/api/v1/webhooks', '/inbox']) {
    expect(await viewer.find(place, 'mesa-8909', 'reference')).toBe(200);
    expect(await viewer.find(place, 'mesa-8908', 'reference')).toBe(200);
    expect(await operator.find(place, 'mesa-8909', 'reference')).toBe(200);
  }
  expect(await viewer.listAudit()).toHaveLength(4);
  expect(await operator.listAudit()).toEqual([]);
});

it.each([
  '12345678909',
  'cpf 123.456.789-09, loja 2',
  '{"cpf":12345678909,"loja":2}',
  'loja=2&cpf=123%2E456%2E789%2D09',
  '5512345678909',
  '012345678909',
  '2026123.456.789-0901',
  'MTIzNDU2Nzg5MDk=',
  '1 - 2 - 3 - 4 - 5 - 6 - 7 - 8 - 9 - 0 - 9',
])('writes down who searched for a document by the extra %s, under the hash of the document', async (extra) => {
  for (const role of ['viewer', 'operator'] as const) {
    const caller = await arrive(role);
    await caller.find('/api/v1/transactions', extra);
    await caller.find('/api/v1/transactions', '12345678909', 'document');
    const [byExtra, byDocument, ...more] = await caller.listAudit();
    expect(byExtra).toMatch(/^document:[0-9a-f]{16}$/);
    expect([byDocument, more]).toEqual([byExtra, []]);
  }
});

it.each([
  { extra_prefixes: ['12345678909'] },
  { extra_prefixes: ['x', '5512345678909'] },
  { reference_prefixes: ['pedido 123.456.789-09'] },
  { extra_match: { cpf: '12345678909' } },
  { extra_match: { '12345678909': true } },
])('writes down who searches for a document by a replay with the filter %o, hit or not, dry or not', async (filter) => {
  const { context } = environment;
  const { id: merchant } = await context.db.selectFrom('merchants').select('id').executeTakeFirstOrThrow();
  for (const dry_run of [true, false]) {
    const operator = await arrive('operator');
    await operator.find('/api/v1/transactions', '12345678909', 'document');
    expect(await operator.replay({ merchant, filter, dry_run })).toBe(dry_run ? 200 : 202);
    const [byDocument, byFilter, ...more] = await operator.listAudit();
    expect([byFilter, more]).toEqual([byDocument, []]);
    const last = await context.db.selectFrom('audit').selectAll().orderBy('seq', 'desc').executeTakeFirstOrThrow();
    expect(last).toMatchObject({ action: 'callbacks.replay_requested', target: merchant });
    expect(JSON.parse(last.detail ?? '')).toMatchObject({ dry_run, filter: Object.keys(filter) });
    expect(last.detail).not.toMatch(/123.?456/);
  }
});

it('writes down a replay that tries a document by its beginning, digit by digit', async () => {
  const { id: merchant } = await environment.context.db.selectFrom('merchants').select('id').executeTakeFirstOrThrow();
  const operator = await arrive('operator');
  for (const prefix of ['1234567', '1234568', '123']) {
    await operator.replay({ merchant, filter: { extra_prefixes: [prefix] }, dry_run: true });
  }
  const rows = await operator.listAudit();
  expect([rows.length, new Set(rows).size]).toEqual([2, 2]);
  const requested = environment.context.db
    .selectFrom('audit')
    .selectAll()
    .where('action', '=', 'callbacks.replay_requested');
  expect((await requested.where('actor', '=', operator.id).execute()).length).toBe(3);
});

it('counts no callbacks whose search can’t be written down', async () => {
  const { db } = environment.context;
  const { id: merchant } = await db.selectFrom('merchants').select('id').executeTakeFirstOrThrow();
  const operator = await arrive('operator');
  await sql`CREATE TRIGGER audit_refused BEFORE INSERT ON audit
    FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`.execute(db);
  try {
    expect(await operator.replay({ merchant, filter: { extra_prefixes: ['1'] }, dry_run: true })).toBe(500);
  } finally {
    await sql`DROP TRIGGER audit_refused`.execute(db);
  }
});

/** One with a token of their own, and the session of it. */
async function arrive(role: Role) {
  const { token, id } = await createToken(environment.context, { name: role, role });
  const cookie = await logIn(environment.url, token);
  return {
    id,
    replay: async (body: object) => {
      const range = { from: '2020-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' };
      const at = { url: `${environment.url}/api/v1`, token };
      return (await callApi(at, 'POST', '/callbacks/replay', { ...range, ...body })).status;
    },
    find: async (place: string, value: string, name = 'extra') => {
      const query = new URLSearchParams({ [name]: value }).toString();
      const answer = await fetch(`${environment.url}${place}?${query}`, {
        headers: place.startsWith('/api/') ? { authorization: `Bearer ${token}` } : { cookie },
      });
      await answer.text();
      return answer.status;
    },
    listAudit: async () => {
      const rows = await readRows(
        environment.context.db,
        'audit',
        ['target'],
        { actor: id, action: 'transactions.search_document' },
        ['seq'],
      );
      return rows.map((row) => row.target);
    },
  };
}
