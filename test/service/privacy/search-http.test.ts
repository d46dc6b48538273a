import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { VIEWER_DOCUMENTS_AN_HOUR_MAX } from '../../../src/operations/authorize-search.ts';
import { indexParties } from '../../../src/privacy/index-parties.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openSurfaces } from '../../support/open-surfaces.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const DOCUMENT = '12345678909';
const row = makeShownTransaction(['paid'], { document: DOCUMENT, name: 'Maria Conceição', amount: '1234.56' });
const environment = closeAfterAll(await openEnvironment());
const { api } = await openSurfaces(environment);

beforeAll(async () => {
  await applyObservations(environment.context, [
    observeNow(environment.context, row),
    observeNow(environment.context, makeShownTransaction(['paid'])),
  ]);
  await indexParties(environment.context);
});

type Answer = { transactions: Record<string, unknown>[]; errors: Record<string, string[]> };

const search = (role: Role, query: Record<string, string>) =>
  api<Answer>(role, 'GET', `/transactions?${new URLSearchParams(query).toString()}`);

const readAudit = () => environment.context.db.selectFrom('audit').selectAll().orderBy('seq').execute();

describe('the search over HTTP', () => {
  it.each([
    { document: '123.456.789-09' },
    { name: 'maria conceicao' },
    { words: 'CONC maria' },
    { inside: 'onceicao', from: '2026-11-20', to: '2026-11-20' },
    { amount: '1234.56' },
    { amount: '1234.56', document: DOCUMENT, name: 'MARIA', from: '2026-11-20', to: '2026-11-20' },
  ])('finds by %o', async (query) => {
    const { json } = await search('operator', query as Record<string, string>);
    expect(json.transactions.map((one) => one.id)).toEqual([row.id]);
    expect(json.transactions[0]).toMatchObject({ document: DOCUMENT, name: 'Maria Conceição' });
  });

  it.each([
    [{ document: ' .-/' }, 'document'],
    [{ name: ' m ' }, 'name'],
    [{ words: 'de la' }, 'words'],
    [{ words: 'um dois tres quatro cinco seis sete oito nove dez' }, 'words'],
    [{ inside: 'nc', from: '2026-11-20', to: '2026-11-20' }, 'inside'],
    [{ inside: 'onceicao' }, 'inside'],
    [{ inside: 'onceicao', from: '2026-01-01', to: '2026-04-06' }, 'inside'],
    [{ amount: '1.234,56' }, 'amount'],
    [{ amount: '-1.00' }, 'amount'],
    [{ cursor: Buffer.from('2026-11-20 10:00:00 abc').toString('base64url') }, 'cursor'],
  ])('refuses %o by the name of its field', async (query, field) => {
    const { status, json } = await search('operator', query as Record<string, string>);
    expect([status, Object.keys(json.errors)]).toEqual([422, [field]]);
  });

  it('writes down who searched for a person, and neither the document nor the name', async () => {
    const before = (await readAudit()).length;
    const mistyped = await search('operator', { document: DOCUMENT, name: 'maria', [DOCUMENT]: 'x' });
    expect(mistyped.status).toBe(422);
    expect(await readAudit()).toHaveLength(before);
    await search('operator', { document: DOCUMENT, name: 'maria' });
    const audit = await readAudit();
    expect(audit.slice(-2)).toMatchObject([
      { action: 'transactions.search_document', target: expect.stringMatching(/^document:[0-9a-f]{16}$/) },
      { action: 'transactions.list', target: '["document","name","by"]' },
    ]);
    expect(JSON.stringify(audit)).not.toMatch(/12345678909|maria/i);
  });

  it('audits a part of a document among words as a search for it, by its keyed hash', async () => {
    const before = (await readAudit()).length;
    await search('operator', { words: `cliente ${DOCUMENT}` });
    await search('operator', { document: DOCUMENT });
    await search('operator', { inside: '345678', from: '2026-11-20', to: '2026-11-20' });
    const searched = (await readAudit())
      .slice(before)
      .filter(({ action }) => action === 'transactions.search_document');
    expect(searched).toHaveLength(3);
    expect(searched[1]?.target).toBe(searched[0]?.target);
    expect(JSON.stringify(searched)).not.toMatch(/345678/);
  });

  it.each(['', `/${row.id}`])('shows nothing that could not be written down: %s', async (place) => {
    await sql`RENAME TABLE audit TO audit_away`.execute(environment.context.db);
    try {
      const answer = await api('operator', 'GET', `/transactions${place}`);
      expect([answer.status, answer.text]).toEqual([500, expect.not.stringContaining('Maria')]);
    } finally {
      await sql`RENAME TABLE audit_away TO audit`.execute(environment.context.db);
    }
  });

  it('lets a viewer find a whole document that they were reported, masked, and spell out no name', async () => {
    const found = await search('viewer', { document: DOCUMENT });
    expect(found.json.transactions).toMatchObject([{ id: row.id, document: '***.456.789-**', name: 'M*** C***' }]);
    for (const query of [
      { name: 'maria' },
      { words: 'maria' },
      { inside: 'aria', from: '2026-11-20', to: '2026-11-20' },
    ])
      expect((await search('viewer', query)).status).toBe(403);
  });

  it('does not let a viewer try all documents that a masked one may be', async () => {
    // each is another connection: nothing but the database puts them one after the other
    const tries = Array.from({ length: 4 * VIEWER_DOCUMENTS_AN_HOUR_MAX }, (_, n) =>
      search('viewer', { document: `${100 + n}45678900` }),
    );
    const found = (await Promise.all(tries)).filter(({ status }) => status === 200);
    // one was spent above
    expect(found).toHaveLength(VIEWER_DOCUMENTS_AN_HOUR_MAX - 1);
    expect((await search('viewer', { document: DOCUMENT })).status).toBe(429);
    expect((await search('viewer', { id: row.id })).status).toBe(200);
    expect((await search('operator', { document: DOCUMENT })).status).toBe(200);
  });
});
