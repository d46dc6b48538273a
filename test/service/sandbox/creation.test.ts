import { describe, expect, it } from 'vitest';
import { transactionResponseSchema } from '../../../sandbox/http/response-schemas.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { CASHIN, CASHOUT, startTestSandbox } from '../../support/start-test-sandbox.ts';

const CASHIN_PATH = '/api/v1/transaction/pix/cashin';
const CASHOUT_PATH = '/api/v1/transaction/pix/cashout';

const sandbox = closeAfterAll(await startTestSandbox());

describe('creating a cashin', () => {
  it('answers the transaction in an array, pending, with one event and what was sent as it was sent', async () => {
    const sent = { ...CASHIN, reference: 'ref-1', extra: 'carrinho 7' };
    const { status, json } = await sandbox.request('POST', CASHIN_PATH, sent);
    expect(status).toBe(200);
    expect(transactionResponseSchema.safeParse(json).error).toBeUndefined();
    const [made] = json.transaction;
    const { amount: _, ...asSent } = sent;
    expect(made).toMatchObject({ ...asSent, operation: 'cashin', status: 'pending', amount: '10.10', finished: '' });
    expect(made.events).toEqual([{ date_created: made.date_created, status: 'pending' }]);
    expect(made.payment_link).toBe(`${sandbox.checkoutUrl}/transaction/${made.id}`);
    expect(made.qr_code).toContain('br.gov.bcb.pix');
    expect(made.qr_code_image).toMatch(/^data:image\/png;base64,/);
    expect(made).toHaveProperty('e2e_id', '');
    expect(made).not.toHaveProperty('pix_key');
  });

  it.each(['name', 'email', 'phone', 'description', 'document', 'amount', 'platform'])(
    'refuses without %s, and names the field',
    async (field) => {
      for (const value of [undefined, null, ...(field === 'amount' ? [] : ['', '   '])]) {
        const { status, json } = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, [field]: value });
        expect(status).toBe(422);
        expect(json).toMatchObject({ error: expect.any(Number), message: expect.any(String) });
        expect(Object.keys(json.errors)).toEqual([field]);
      }
    },
  );

  it('names all wrong fields at once', async () => {
    const { status, json } = await sandbox.request('POST', CASHIN_PATH, { amount: { text: '5' } });
    expect(status).toBe(422);
    expect(Object.keys(json.errors).sort()).toEqual([
      'amount',
      'description',
      'document',
      'email',
      'name',
      'phone',
      'platform',
    ]);
  });

  it('keeps an amount to the cent as it is written, and refuses more decimals, signs, exponents and text', async () => {
    const create = (amount: string) =>
      sandbox.request('POST', CASHIN_PATH, JSON.stringify(CASHIN).replace('"amount":10.1', `"amount":${amount}`));
    for (const [sent, shown] of [
      ['0.01', '0.01'],
      ['10', '10.00'],
      ['1234567.8', '1234567.80'],
      ['999999999.99', '999999999.99'],
    ]) {
      const { status, json } = await create(sent ?? '');
      expect([sent, status, json.transaction[0].amount]).toEqual([sent, 200, shown]);
    }
    for (const sent of ['0', '0.001', '10.999', '-5', '1e2', '"10.00"', 'true', '[1]', '{}', '99999999999999999999']) {
      const { status, json } = await create(sent);
      expect([sent, status, Object.keys(json.errors ?? {})]).toEqual([sent, 422, ['amount']]);
    }
  });

  it('takes a reference of 50 characters and an extra of 255, and refuses one more', async () => {
    const longest = { ...CASHIN, reference: 'é'.repeat(50), extra: '😀'.repeat(255) };
    const { status, json } = await sandbox.request('POST', CASHIN_PATH, longest);
    expect(status).toBe(200);
    expect(json.transaction[0]).toMatchObject({ reference: longest.reference, extra: longest.extra });
    const tooLong = await sandbox.request('POST', CASHIN_PATH, {
      ...CASHIN,
      reference: 'r'.repeat(51),
      extra: 'x'.repeat(256),
    });
    expect(tooLong.status).toBe(422);
    expect(Object.keys(tooLong.json.errors).sort()).toEqual(['extra', 'reference']);
  });

  it('needs no reference and no extra, and shows them empty', async () => {
    const { json } = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, reference: null });
    expect(json.transaction[0]).toMatchObject({ reference: '', extra: '' });
  });

  it('refuses a reference that is taken, of either kind, with code 25', async () => {
    const first = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, reference: 'taken' });
    expect(first.status).toBe(200);
    for (const [path, body] of [
      [CASHIN_PATH, CASHIN],
      [CASHOUT_PATH, CASHOUT],
    ] as const) {
      const { status, json } = await sandbox.request('POST', path, { ...body, reference: 'taken' });
      expect([status, json.error]).toEqual([422, 25]);
      expect(json.errors).toHaveProperty('reference');
    }
    const other = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, reference: 'Taken' });
    expect(other.status, 'references are compared byte for byte').toBe(200);
  });

  it('lets exactly one of 64 creates with the same reference win', async () => {
    const body = { ...CASHIN, reference: 'race' };
    const answers = await Promise.all(Array.from({ length: 64 }, () => sandbox.request('POST', CASHIN_PATH, body)));
    const codes = answers.map(({ status }) => status);
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    expect(codes.filter((code) => code === 422)).toHaveLength(63);
    const { json } = await sandbox.request('GET', '/api/v1/transactions?reference=race');
    expect(json.total).toBe(1);
  });

  it('refuses a document whose check digits are wrong with code 17, and accepts alphanumeric CNPJs', async () => {
    const wrong = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, document: '52998224724' });
    expect([wrong.status, wrong.json.error]).toEqual([422, 17]);
    const company = await sandbox.request('POST', CASHIN_PATH, { ...CASHIN, document: '12ABC34501DE35' });
    expect(company.json.transaction[0].document).toBe('12ABC34501DE35');
  });
});

describe('creating a cashout', () => {
  it('answers with the key, without the key type, the link and the QR code', async () => {
    const { status, json } = await sandbox.request('POST', CASHOUT_PATH, { ...CASHOUT, reference: 'out-1' });
    expect(status).toBe(200);
    expect(transactionResponseSchema.safeParse(json).error).toBeUndefined();
    const [made] = json.transaction;
    expect(made).toMatchObject({ operation: 'cashout', status: 'pending', pix_key: CASHOUT.pix_key, e2e_id: '' });
    expect(made.events).toHaveLength(1);
    for (const absent of ['key_type', 'payment_link', 'qr_code', 'qr_code_image'])
      expect(made).not.toHaveProperty(absent);
  });

  it.each(['pix_key', 'key_type', 'name', 'amount'])('refuses without %s', async (field) => {
    const { status, json } = await sandbox.request('POST', CASHOUT_PATH, { ...CASHOUT, [field]: undefined });
    expect(status).toBe(422);
    expect(Object.keys(json.errors)).toEqual([field]);
  });

  it('takes a key of every type, and refuses with code 26 what is no key of its type', async () => {
    const keys = [
      ['CPF', '52998224725', '52998224724'],
      ['CNPJ', '11222333000181', '11222333000182'],
      ['CNPJ', '12ABC34501DE35', '12ABC34501DE34'],
      ['PHONE', '+5511987654321', '11987654321'],
      ['EMAIL', 'a@b.com.br', 'a@b'],
      ['EVP', '123e4567-e12b-12d1-a456-426655440000', '123e4567'],
    ];
    for (const [key_type, right, wrong] of keys) {
      const good = await sandbox.request('POST', CASHOUT_PATH, { ...CASHOUT, key_type, pix_key: right });
      expect([key_type, good.status]).toEqual([key_type, 200]);
      const bad = await sandbox.request('POST', CASHOUT_PATH, { ...CASHOUT, key_type, pix_key: wrong });
      expect([key_type, bad.status, bad.json.error]).toEqual([key_type, 422, 26]);
    }
  });

  it('refuses an unknown key type with code 30', async () => {
    const { status, json } = await sandbox.request('POST', CASHOUT_PATH, { ...CASHOUT, key_type: 'IBAN' });
    expect([status, json.error, Object.keys(json.errors)]).toEqual([422, 30, ['key_type']]);
  });
});

describe('switches for creates', () => {
  it('check platforms, a minimum, blocked documents and keys that must be the document, each with its code', async () => {
    const other = 'ffffffff-5a55-4b3c-9a51-1b5d7b3d1a01';
    const creation = {
      platforms: [CASHIN.platform],
      minimum_cents: 500,
      blocked_documents: ['11222333000181'],
      key_of_document: true,
    };
    await sandbox.request('PATCH', '/sandbox/switches', { creation });
    const code = async (path: string, body: object) => (await sandbox.request('POST', path, body)).json.error;
    expect(await code(CASHIN_PATH, { ...CASHIN, platform: other })).toBe(10);
    expect(await code(CASHIN_PATH, { ...CASHIN, amount: 4.99 })).toBe(23);
    expect(await code(CASHIN_PATH, { ...CASHIN, document: '11.222.333/0001-81' })).toBe(15);
    expect(await code(CASHOUT_PATH, { ...CASHOUT, key_type: 'CNPJ', pix_key: '11222333000181' })).toBe(28);
    expect(await code(CASHOUT_PATH, { ...CASHOUT, key_type: 'CPF', pix_key: '52998224725' })).toBeUndefined();
    await sandbox.request('PUT', '/sandbox/switches', { lives: { created: 'manual' } });
  });
});
