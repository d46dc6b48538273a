import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parsePix } from 'pix-utils';
import { describe, expect, it } from 'vitest';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { CASHIN, type Shown, startTestSandbox } from '../../support/start-test-sandbox.ts';

const sandbox = closeAfterAll(await startTestSandbox());

async function create(fields: object = {}): Promise<Shown> {
  const { json } = await sandbox.request('POST', '/api/v1/transaction/pix/cashin', { ...CASHIN, ...fields });
  return json.transaction[0];
}

async function show(id: string): Promise<Shown> {
  return (await sandbox.request('GET', `/api/v1/transaction/${id}`)).json.transaction[0];
}

/** A browser's request: without a key, accepting HTML. */
function browse(url: string, method = 'GET') {
  return sandbox.request(method, url.replace(sandbox.url, ''), undefined, {
    authorization: undefined,
    accept: 'text/html',
  });
}

describe('the payment data of a cashin', () => {
  it('is a QR image that zbarimg reads as the QR text, for amounts of any length', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'confere-qr-'));
    try {
      for (const amount of [0.01, 10.1, 123456.78, 999999999.99]) {
        const made = await create({ amount });
        const file = path.join(folder, 'code.png');
        await writeFile(file, Buffer.from(made.qr_code_image.replace(/^data:image\/png;base64,/, ''), 'base64'));
        const { stdout } = await promisify(execFile)('zbarimg', ['--quiet', '--raw', file]);
        expect(stdout.trim()).toBe(made.qr_code);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is a QR text that a BR Code parser that is not ours reads', async () => {
    const made = await create({ amount: 43.21 });
    const read = parsePix(made.qr_code);
    expect(read).toMatchObject({
      type: 'DYNAMIC',
      merchantName: 'CONFERE SANDBOX',
      merchantCity: 'SAO PAULO',
      countryCode: 'BR',
      url: `pix.sandbox.example/qr/v2/${made.id.replaceAll('-', '')}`,
    });
  });

  it('is a link under the checkout address that ends in the id and opens without a key', async () => {
    const made = await create({ amount: 1234.5, description: '<b>Pedido</b> & "9"' });
    expect(made.payment_link).toBe(`${sandbox.checkoutUrl}/transaction/${made.id}`);
    const { status, text, headers } = await browse(made.payment_link);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(text).toContain('lang="pt-BR"');
    expect(text).toContain('R$ 1.234,50');
    expect(text).toContain('Aguardando pagamento');
    expect(text).toContain(made.qr_code_image);
    expect(text).toContain('id="copy"');
    for (const to of ['paid', 'expired', 'canceled']) expect(text).toContain(`${made.id}/change/${to}`);
    expect(text).not.toContain('<b>');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('the checkout', () => {
  it('lets a payer pay: the button leads back to a page that says so, and the interface shows it', async () => {
    const made = await create();
    const pressed = await browse(`${made.payment_link}/change/paid`, 'POST');
    expect(pressed.status).toBe(303);
    const back = new URL(pressed.headers.get('location') ?? '', `${made.payment_link}/change/paid`);
    expect(back.href).toBe(made.payment_link);
    const { text } = await browse(back.href);
    expect(text).toContain('Pago');
    expect(text).not.toContain('change/paid');
    expect(await show(made.id)).toMatchObject({ status: 'paid', events: [{ status: 'paid' }, { status: 'pending' }] });
  });

  it('answers its live status', async () => {
    const made = await create();
    const status = async () => (await sandbox.request('GET', `/checkout/transaction/${made.id}/status`)).json;
    expect(await status()).toEqual({ id: made.id, status: 'pending' });
    await browse(`${made.payment_link}/change/expired`, 'POST');
    expect(await status()).toEqual({ id: made.id, status: 'expired' });
  });

  it('changes the status by GET as the live sandbox does, once for repeated requests', async () => {
    const made = await create();
    for (let i = 0; i < 3; i++) {
      const { status, json } = await sandbox.request('GET', `/checkout/transaction/${made.id}/change/paid`, undefined, {
        authorization: undefined,
      });
      expect([status, json]).toEqual([200, { id: made.id, status: 'paid' }]);
    }
    expect((await show(made.id)).events).toHaveLength(2);
  });

  it('goes through all eight statuses, and through no transition outside the model', async () => {
    const change = async (id: string, to: string) =>
      (await sandbox.request('GET', `/checkout/transaction/${id}/change/${to}`)).status;
    for (const path of [['in_process', 'paid', 'refund'], ['in_analysis', 'denied'], ['canceled'], ['expired']]) {
      const { id } = await create();
      for (const to of path) expect([to, await change(id, to)]).toEqual([to, 200]);
      const { events } = await show(id);
      expect(events.map(({ status }) => status)).toEqual([...path].reverse().concat('pending'));
    }
    const { id } = await create();
    await change(id, 'canceled');
    for (const to of ['paid', 'pending', 'refund', 'settled', 'constructor'])
      expect([to, await change(id, to)]).toEqual([to, 422]);
    expect((await show(id)).events).toHaveLength(2);
  });

  it('answers 404 for an unknown transaction', async () => {
    for (const path of ['', '/status', '/change/paid']) {
      expect(
        (await sandbox.request('GET', `/checkout/transaction/123e4567-e12b-12d1-a456-426655440000${path}`)).status,
      ).toBe(404);
    }
  });

  it('lets exactly one of many simultaneous payers pay', async () => {
    const { id } = await create();
    await Promise.all(
      Array.from({ length: 20 }, () => sandbox.request('GET', `/checkout/transaction/${id}/change/paid`)),
    );
    expect((await show(id)).events).toHaveLength(2);
  });
});
