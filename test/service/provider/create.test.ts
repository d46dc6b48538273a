import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProviderClient, type ProviderClient } from '../../../src/provider/client.ts';
import { createAgent } from '../../../src/provider/send-request.ts';
import { CHARGE, makeRow } from '../../support/make-provider-rows.ts';
import { type Fault, PROVIDER_KEY, type SeenRequest, TestProvider } from '../../support/test-provider.ts';

let provider: TestProvider;
let client: ProviderClient;
const stop = new AbortController();

beforeAll(async () => {
  provider = await new TestProvider().listen();
});
afterAll(async () => {
  stop.abort();
  await provider[Symbol.asyncDispose]();
});
beforeEach(async () => {
  provider.rows.clear();
  provider.reset();
  client = createProviderClient({ url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal });
});

/** Each fault once, in order, on creates. */
function failWith(...faults: Fault[]): void {
  provider.switches.fault = (seen: SeenRequest) => (seen.kind === 'create' ? faults[seen.nth - 1] : undefined);
}

describe('create', () => {
  test('sends the amount as a number with its two decimals', async () => {
    await client.createCashin({ ...CHARGE, amountCents: 1010n, reference: 'round' });
    expect(provider.requests[0]?.text).toMatch(/[{,]"amount":10\.10[,}]/);
    const made = await client.createCashin(CHARGE);
    expect(made).toMatchObject({
      ok: true,
      transaction: { amountCents: 1005n, operation: 'cashin', reference: 'ord-create' },
    });
  });

  test.each<[string, Fault]>([
    ['a cut connection', { cut: 'before' }],
    ['a 500', { status: 500 }],
    ['a 429', { status: 429, headers: { 'retry-after': '0' } }],
    ['an answer that is no JSON', { text: 'ok' }],
  ])('is never sent twice: %s', async (_, fault) => {
    failWith(fault);
    await expect(client.createCashin(CHARGE)).rejects.toMatchObject({ name: 'ConfereError' });
    expect(provider.count('create')).toBe(1);
  });

  test('a create that timed out is found by its reference', async () => {
    const impatient = createAgent(2, { bodyMs: 100, headersMs: 100 });
    const hurried = createProviderClient({
      url: provider.url,
      apiKey: PROVIDER_KEY,
      signal: stop.signal,
      agent: impatient,
    });
    failWith({ hang: true, once: 'done' });
    await expect(hurried.createCashin(CHARGE)).rejects.toMatchObject({ code: 'provider_unavailable' });
    // which is not the only one that the provider has
    provider.add(makeRow({ reference: 'another' }));
    const found = await client.listPage({ reference: 'ord-create' }, 1);
    expect(found?.rows).toMatchObject([{ ok: true, transaction: { reference: 'ord-create', amountCents: 1005n } }]);
    expect(provider.count('create')).toBe(1);
    await impatient.destroy();
  });

  test('the error of a 422 has its number, or the fields that it reports', async () => {
    failWith(
      { status: 422, body: { error: 34, message: 'not allowed' } },
      { status: 422, body: { message: 'The given data was invalid.', errors: { amount: ['too small'] } } },
    );
    await expect(client.createCashin(CHARGE)).rejects.toMatchObject({ code: 'provider_rejected', providerCode: 34 });
    await expect(client.createCashin(CHARGE)).rejects.toMatchObject({ status: 422, refusedFields: ['amount'] });
  });
});
