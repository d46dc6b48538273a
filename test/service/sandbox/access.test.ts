import { describe, expect, it } from 'vitest';
import { errorResponseSchema, transactionResponseSchema } from '../../../sandbox/http/response-schemas.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { CASHIN, startTestSandbox } from '../../support/start-test-sandbox.ts';

const LIST = '/api/v1/transactions';
const CASHIN_PATH = '/api/v1/transaction/pix/cashin';

const sandbox = closeAfterAll(await startTestSandbox());

describe('authentication and headers', () => {
  it.each([
    ['GET', LIST],
    ['GET', '/api/v1/transaction/123e4567-e12b-12d1-a456-426655440000'],
    ['POST', CASHIN_PATH],
    ['POST', '/api/v1/transaction/pix/cashout'],
    ['GET', '/api/v1/anything'],
    ['GET', '/sandbox/switches'],
  ])('answers 401 to %s %s without the key, with another, or with another scheme', async (method, path) => {
    for (const authorization of [
      undefined,
      'Bearer wrong',
      'Bearer ',
      `Basic ${API_KEY}`,
      API_KEY,
      `Bearer ${API_KEY}s`,
    ]) {
      const { status, json } = await sandbox.request(method, path, method === 'POST' ? CASHIN : undefined, {
        authorization,
      });
      expect([authorization, status]).toEqual([authorization, 401]);
      expect(errorResponseSchema.safeParse(json).error).toBeUndefined();
    }
  });

  it('asks for the header Accept: application/json on every request', async () => {
    for (const accept of ['text/html', '*/*', 'application/jsonp']) {
      expect((await sandbox.request('GET', LIST, undefined, { accept })).status).toBe(406);
      expect((await sandbox.request('POST', CASHIN_PATH, CASHIN, { accept })).status).toBe(406);
    }
    const accept = 'text/html, application/json; charset=utf-8';
    expect((await sandbox.request('GET', LIST, undefined, { accept })).status).toBe(200);
  });

  it('asks for the header Content-Type: application/json on requests with a body', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      expect((await sandbox.request('POST', CASHIN_PATH, CASHIN, { 'content-type': type })).status).toBe(415);
    }
    const type = 'application/json; charset=utf-8';
    expect((await sandbox.request('POST', CASHIN_PATH, CASHIN, { 'content-type': type })).status).toBe(200);
  });

  it('requires neither header when the switch is lenient', async () => {
    await sandbox.request('PATCH', '/sandbox/switches', { creation: { headers: 'lenient' } });
    const headers = { accept: '*/*', 'content-type': 'text/plain' };
    expect((await sandbox.request('POST', CASHIN_PATH, JSON.stringify(CASHIN), headers)).status).toBe(200);
    await sandbox.request('PATCH', '/sandbox/switches', { creation: { headers: 'strict' } });
  });

  it('answers 404 to unknown addresses, 405 with Allow to other methods, as JSON', async () => {
    expect(await sandbox.request('GET', '/api/v2/transactions')).toMatchObject({ status: 404, json: { error: 404 } });
    expect((await sandbox.request('GET', '/nothing')).status).toBe(404);
    const wrong = await sandbox.request('DELETE', LIST);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await sandbox.request('PUT', CASHIN_PATH, CASHIN)).status).toBe(405);
  });

  it.each([
    ['no JSON', '{"name":', 400],
    ['empty', '', 400],
    ['an array', '[]', 422],
    ['a text', '"x"', 422],
    ['null', 'null', 422],
    ['deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 400],
    ['too large', JSON.stringify({ name: 'x'.repeat(300_000) }), 413],
  ])('answers a body that is %s with an error of its own', async (_what, body, code) => {
    const { status, json } = await sandbox.request('POST', CASHIN_PATH, body);
    expect(status).toBe(code);
    expect(errorResponseSchema.safeParse(json).error).toBeUndefined();
  });

  it('answers malformed addresses with 4xx', async () => {
    for (const path of [
      '/api/v1/transaction/%E0%A4%A',
      '/api/v1/transaction/..%2f..',
      `/api/v1/transaction/${'9'.repeat(5_000)}`,
    ]) {
      const { status } = await sandbox.request('GET', path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
  });
});

describe('showing a transaction', () => {
  it('answers it in an array with its events, newest first', async () => {
    const made = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, extra: 'x1' });
    const { id } = made.json.transaction[0];
    await sandbox.request('POST', `/sandbox/transactions/${id}/events`, { status: 'paid' });
    const { status, json } = await sandbox.request('GET', `/api/v1/transaction/${id}`);
    expect(status).toBe(200);
    expect(transactionResponseSchema.safeParse(json).error).toBeUndefined();
    expect(json.transaction[0]).toMatchObject({ id, status: 'paid', extra: 'x1', finished: '' });
    expect(json.transaction[0].events.map(({ status: was }) => was)).toEqual(['paid', 'pending']);
    expect(json.transaction[0].e2e_id).toMatch(/^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/);
  });

  it('answers 404 with error and message where there is none', async () => {
    const { status, json } = await sandbox.request('GET', '/api/v1/transaction/123e4567-e12b-12d1-a456-426655440000');
    expect(status).toBe(404);
    expect(json).toEqual({ error: 404, message: 'Transaction not found.' });
  });

  it('shows a row in the form that switches set: as an object, without empty fields, with amounts in odd forms', async () => {
    const made = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, amount: 12.3 });
    const { id } = made.json.transaction[0];
    const shown = async (rows: object) => {
      await sandbox.request('PUT', '/sandbox/switches', { rows, lives: { created: 'manual' } });
      return (await sandbox.request('GET', `/api/v1/transaction/${id}`)).json.transaction;
    };
    expect(await shown({ show_as: 'object' })).toMatchObject({ id });
    expect((await shown({ empty_as: 'null' }))[0]).toMatchObject({ e2e_id: null, finished: null });
    expect((await shown({ empty_as: 'missing' }))[0]).not.toHaveProperty('e2e_id');
    const forms = {
      no_decimals: '12',
      one_decimal: '12.3',
      comma: '12,30',
      many_decimals: '12.3000',
      number: 12.3,
      signed: '+12.30',
    };
    for (const [odd_form, amount] of Object.entries(forms)) {
      expect((await shown({ odd_amounts: 1, odd_form }))[0].amount).toBe(amount);
    }
    expect((await shown({}))[0].amount).toBe('12.30');
  });
});
