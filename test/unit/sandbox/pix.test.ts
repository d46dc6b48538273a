import { createHook } from 'node:async_hooks';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import QRCode from 'qrcode';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../sandbox/domain/random.ts';
import { cnpjCheckDigits, cpfCheckDigits, isCnpj, isCpf } from '../../../sandbox/pix/check-document.ts';
import { isValidKey } from '../../../sandbox/pix/check-key.ts';
import { drawQrCode } from '../../../sandbox/pix/draw-qr-code.ts';
import { makeE2eId } from '../../../sandbox/pix/make-e2e-id.ts';
import { crc16, writeBrCode } from '../../../sandbox/pix/write-br-code.ts';
import { anyCharacter, propertyOptions } from '../../support/property.ts';

describe('a BR Code', () => {
  it('ends in the checksum of the official example', () => {
    const example =
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***6304';
    expect(crc16(example)).toBe('1D3D');
    expect(crc16('123456789'), 'the check value of CRC-16/CCITT-FALSE').toBe('29B1');
  });

  it('holds the amount, the address and a name without accents, each in its field', () => {
    const text = writeBrCode({ location: 'pix.example/1', amount: '0.01', name: 'José Ávila', city: 'São Paulo' });
    expect(text).toContain('2513pix.example/1');
    expect(text).toContain('54040.01');
    expect(text).toContain('5910Jose Avila6009Sao Paulo');
    expect(crc16(text.slice(0, -4))).toBe(text.slice(-4));
  });
});

describe('a QR code', () => {
  it('is drawn as a PNG with the modules of the qrcode library, two pixels each, in a white border', () => {
    const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(text, (drawn) => expectModulesOf(drawn)),
      propertyOptions(6, 25),
    );
  });

  it('has the modules of the library also if codes of other texts of its length were drawn before', () => {
    const texts = fc
      .integer({ min: 1, max: 200 })
      .chain((length) => fc.array(textOf(length), { minLength: 2, maxLength: 4 }));
    fc.assert(
      fc.property(texts, (drawn) => drawn.forEach(expectModulesOf)),
      propertyOptions(6, 25),
    );
  });
});

it('is drawn without an object of zlib: only a major garbage collection frees one, and a page has 75 codes', () => {
  const made: string[] = [];
  const hook = createHook({ init: (_id, type) => void made.push(type) }).enable();
  drawQrCode('https://pix.example/1');
  hook.disable();
  expect(made.filter((type) => type === 'ZLIB')).toEqual([]);
});

const textOf = (length: number) => fc.string({ unit: 'binary-ascii', minLength: length, maxLength: length });

function expectModulesOf(text: string): void {
  const png = Buffer.from(drawQrCode(text), 'base64');
  const data = Buffer.from(text);
  const { modules } = QRCode.create([{ data, mode: 'byte' }], { errorCorrectionLevel: 'M', maskPattern: 0 });
  const sidePx = (modules.size + 8) * 2;
  expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([sidePx, sidePx, 1, 0]);
  const stride = 1 + Math.ceil(sidePx / 8);
  const pixels = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
  expect(pixels).toHaveLength(sidePx * stride);
  for (let y = 0; y < sidePx; y += 3) {
    expect(pixels[y * stride], 'no filter').toBe(0);
    for (let x = 0; x < sidePx; x += 3) {
      const dark = ((pixels[y * stride + 1 + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) === 0;
      expect(dark).toBe(moduleAt(modules, (x >> 1) - 4, (y >> 1) - 4));
    }
  }
}

function moduleAt({ size, data }: { size: number; data: Uint8Array }, x: number, y: number): boolean {
  return x >= 0 && y >= 0 && x < size && y < size && data[y * size + x] === 1;
}

describe('documents', () => {
  it('are valid with the right check digits, bare or punctuated', () => {
    for (const cpf of ['52998224725', '529.982.247-25', '00000000191']) expect([cpf, isCpf(cpf)]).toEqual([cpf, true]);
    for (const cnpj of ['11222333000181', '11.222.333/0001-81', '12ABC34501DE35', '12.ABC.345/01DE-35']) {
      expect([cnpj, isCnpj(cnpj)]).toEqual([cnpj, true]);
    }
  });

  it('are invalid with other digits, all digits equal, small letters, or stray characters', () => {
    for (const cpf of [
      '52998224724',
      '11111111111',
      '5299822472',
      '529982247255',
      '529 982 247 25',
      '٥٢٩٩٨٢٢٤٧٢٥',
      '',
    ]) {
      expect([cpf, isCpf(cpf)]).toEqual([cpf, false]);
    }
    for (const cnpj of ['11222333000182', '00000000000000', '12abc34501de35', '12ABC34501DE3A', '1122233300018']) {
      expect([cnpj, isCnpj(cnpj)]).toEqual([cnpj, false]);
    }
  });

  it('lose their validity when any one digit changes, but for the two remainders that give one check digit', () => {
    const digits = fc.stringMatching(/^\d{9}$/).filter((base) => new Set(base).size > 1);
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 10 }), (base, at) => {
        const cpf = base + cpfCheckDigits(base);
        expect(isCpf(cpf)).toBe(true);
        const others = Array.from({ length: 9 }, (_, by) => (Number(cpf[at]) + by + 1) % 10);
        const valid = others.filter((digit) => isCpf(cpf.slice(0, at) + digit + cpf.slice(at + 1)));
        // remainders 10 and 0 are both written 0: so at most one other digit of the nine first ones goes unnoticed
        expect(valid.length).toBeLessThanOrEqual(at < 9 ? 1 : 0);
      }),
      propertyOptions(30, 300),
    );
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9A-Z]{12}$/).filter((base) => new Set(base).size > 1),
        (base) => {
          expect(isCnpj(base + cnpjCheckDigits(base))).toBe(true);
        },
      ),
      propertyOptions(30, 300),
    );
  });
});

describe('PIX keys', () => {
  it.each([
    ['CPF', ['52998224725'], ['52998224724', '+5511987654321', '']],
    ['CNPJ', ['11222333000181', '12ABC34501DE35'], ['52998224725', '11222333000180']],
    ['PHONE', ['+5511987654321', '+551133334444'], ['11987654321', '+5511887654321', '+1555123456', '+55119876543210']],
    [
      'EMAIL',
      ['a@b.co', 'ana.maria+pix@exemplo.com.br'],
      ['a@b', '@b.co', 'a b@c.co', 'a@b..co', `${'a'.repeat(75)}@b.co`],
    ],
    ['EVP', ['123e4567-e12b-12d1-a456-426655440000'], ['123e4567e12b12d1a456426655440000', 'x']],
  ] as const)('of type %s have its form', (type, right, wrong) => {
    for (const key of right) expect([key, isValidKey(type, key)]).toEqual([key, true]);
    for (const key of wrong) expect([key, isValidKey(type, key)]).toEqual([key, false]);
  });
});

describe('an end-to-end id', () => {
  it('is E, eight characters of the bank, the minute in UTC, eleven random characters', () => {
    const made = makeE2eId(createRandom('1'), Date.parse('2026-11-21T02:30:59Z'));
    expect(made).toMatch(/^E\d{8}202611210230[0-9A-Za-z]{11}$/);
    expect(made).toHaveLength(32);
  });
});
