import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedact, type KnownPerson, listCandidates, REMOVED } from '../../../src/domain/person/redact-text.ts';
import { propertyOptions } from '../../support/property.ts';

const ID = '0f0e0d0c-0000-4000-8000-000000000001';
const person: KnownPerson = {
  documents: ['12345678909'],
  ids: [ID],
  own: ['ana@exemplo.com', '+5511987654321'],
  shared: ['Ana Conceição', 'Presente de aniversário'],
};
const redact = createRedact(person);

describe('taking a person out of a text', () => {
  it('leaves alone a text that does not mention them, also one about a namesake', () => {
    for (const text of [
      '{"name":"Ana Conceição","amount":10}',
      'Ana Conceição',
      '{"id":"x"}',
      '[]',
      '12345678901',
      '',
    ]) {
      expect(redact(text)).toBeUndefined();
    }
  });

  it.each([
    ['a document', '{"document":"123.456.789-09"}'],
    ['a document that is a number', '{"document":12345678909}'],
    ['a document behind an escaped slash', '{"x":"doc 123456789\\/09."}'],
    ['an e-mail in capitals', '{"contact":"ANA@EXEMPLO.COM"}'],
    ['a name that is escaped', `{"id":"${ID}","name":"Ana Concei\\u00e7\\u00e3o"}`],
    ['a document in a sentence', 'o CPF 123.456.789-09, de Ana Conceição'],
    ['JSON that was cut off', `{"document":"12345678909","name":"Ana Conc`],
    ['a name beside an id in what is no JSON', `pagamento ${ID} de ANA CONCEICAO`],
  ])('takes out %s', (_, text) => {
    const redacted = redact(text) ?? '';
    expect(redacted).toContain(REMOVED);
    const plain = redacted.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
    expect(plain).not.toMatch(/ana (conceicao|conc)|ana@|123.?456.?789|\\u00e7/);
  });

  it.each([
    ['JSON in JSON, escaped twice', `{"extra":"{\\"cpf\\":\\"\\\\u00312345678909\\",\\"nome\\":\\"x\\"}"}`],
    ["a name in another's JSON", `{"id":"${ID}","extra":"{\\"n\\":\\"Ana Concei\\\\u00e7\\\\u00e3o\\"}"}`],
    ['an address', '{"u":"https://x/?e=ana%40exemplo.com&cpf=123%2E456%2E789%2D09"}'],
    [
      "an address in another one's query",
      '{"u":"https://x/?next=https%3A%2F%2Fy%2F%3Fcpf%3D123%252E456%252E789%252D09"}',
    ],
    ['a form', `id=${ID}&nome=Ana+Concei%C3%A7%C3%A3o&cpf=123%2E456%2E789%2D09`],
    ['a form without an escape', 'nome=Ana+Conceicao&cpf=12345678909'],
    ["a field's name", `{"${ID}":1,"clientes":{"123.456.789-09":{},"Ana Conceição":2}}`],
    ['a field that another one of its name hides', '{"document":"12345678909","document":"1"}'],
    ['a number with a point', '{"document":12345678909.0}'],
    [
      'other dashes, spaces and digits',
      '{"a":"123.456.789–09","b":"123\u00a0456\u00a0789\u00a009","c":"１２３４５６７８９０９"}',
    ],
    ['a document behind letters', '{"a":"CPF12345678909"}'],
    ['a phone as people write it', '{"a":"(11) 98765-4321","b":"5511987654321","c":"011 98765 4321"}'],
    ['names of a person around their transaction', `{"data":[{"id":"${ID}"}],"payer":{"fullName":"Ana Conceição"}}`],
  ])('takes out %s', (_, text) => {
    const redacted = redact(text) ?? '';
    expect(redacted).toContain(REMOVED);
    const plain = redacted.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
    expect(plain).not.toMatch(/ana\W?conc|ana(@|%40)|789|4321|u00/);
  });

  it.each([
    ['a document behind a country code', '{"a":"5512345678909"}'],
    ['a document behind zeros in a sentence', '{"memo":"cliente 00012345678909"}'],
    ['a document within a longer number', '{"a":20261234567890901}'],
    ['a document with wide punctuation', '{"a":"123 . 456 . 789 - 09"}'],
    ['a document with tags', '{"a":"<b>123</b><b>456</b><b>789</b><b>09</b>","b":"123<br>456<br>789<br>09"}'],
    ['a document split over a list', '{"a":["123","456","789","09"]}'],
    ['a document split over fields', '{"a":"123","b":456,"c":"789","dv":"09"}'],
    ['a document split over a list in a string', JSON.stringify({ a: '["123","456","789","09"]' })],
    ['single digits in a list', '{"a":[1,2,3,4,5,6,7,8,9,0,9]}'],
    ['a document without check digits, in a text about them', `{"id":"${ID}","a":"123 456 789","b":123456789}`],
  ])('takes out %s', (_, text) => {
    const redacted = redact(text) ?? '';
    expect(redacted).toContain(REMOVED);
    expect(() => JSON.parse(redacted) as unknown).not.toThrow();
    expect(redacted).not.toMatch(/456|789|[1-9],/);
  });

  it('keeps a number without check digits in a text about nobody they know', () => {
    expect(redact('{"order":"123456789","n":[123,456,789]}')).toBeUndefined();
  });

  it.each([
    '{"a":"5512345678909"}',
    '{"a":20261234567890901}',
    '{"memo":"cliente 00012345678909"}',
    '{"a":["123","456","789","09"]}',
    '{"a":"153 12345678909"}',
    '{"a":"123<br>456<br>789"}',
  ])('finds the document in %s by its check digits', (text) => {
    expect(listCandidates(text).documents).toContain('12345678909');
  });

  const base64 = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('base64');
  const numbered = (text: string) => Array.from(text, (one) => `&#${one.codePointAt(0)};`).join('');
  const inHex = (text: string) => Array.from(text, (one) => `&#x${one.codePointAt(0)?.toString(16)};`).join('');
  const SAID = 'CPF 123.456.789-09, Ana Conceição';

  it.each([
    ['base64', base64('12345678909')],
    ['base64 of a sentence', base64(SAID)],
    ['base64 without its padding', base64('x12345678909').replaceAll('=', '')],
    ['base64 of the other alphabet', Buffer.from(`ÿþ?>${SAID}`).toString('base64url')],
    ['base64 in the middle of a word', `ab${base64('12345678909')}xyz`],
    ['base64 broken into lines', base64(`${'-'.repeat(20)}${SAID}`).replace(/(.{16})/g, '$1\r\n')],
    ['base64 of UTF-16', base64(SAID, 'utf16le')],
    ['base64 of base64', base64(`x${base64(SAID)}`)],
    ['base64 in an address', `https://x/?d=${encodeURIComponent(base64(SAID))}`],
    ['base64 of JSON with escapes', base64('{"cpf":"\\u00312345678909"}')],
    ['entities by number', numbered('12345678909')],
    ['entities in hex', inHex(SAID)],
    ['entities by name', 'CPF 123&period;456&period;789&hyphen;09'],
    ['entities twice', numbered('12345678909').replaceAll('&', '&amp;')],
    ['UTF-16 read as UTF-8', Buffer.from(SAID, 'utf16le').toString()],
    ['an e-mail in UTF-16', Buffer.from('ana@exemplo.com', 'utf16le').swap16().toString()],
  ])('takes out %s, in JSON and in what is none', (_, text) => {
    expect(redact(text)).toBe(REMOVED);
    expect(redact(JSON.stringify({ a: text, b: 1, c: 'de outro' }))).toBe(`{"a":"${REMOVED}","b":1,"c":"de outro"}`);
  });

  it.each(['Ana Concei&ccedil;&atilde;o', base64('Ana Conceição'), base64('ANA CONCEICAO', 'utf16le')])(
    'takes out a name beside an id: %s',
    (name) => {
      expect(redact(`${ID} ${name}`)).toBe(REMOVED);
      expect(redact(JSON.stringify({ id: ID, a: name }))).toBe(`{"id":"${ID}","a":"${REMOVED}"}`);
    },
  );

  it('removes values in base64 of any alignment, with any text around it', () => {
    const around = fc.string({ unit: fc.constantFrom(...'abcXYZ019 =-_'), maxLength: 9 });
    const hidden = fc.record({
      secret: fc.constantFrom('12345678909', '123.456.789-09', 'ana@exemplo.com', '11987654321'),
      ...{ before: around, after: around, prefix: around, suffix: around },
      encoding: fc.constantFrom('utf8' as const, 'utf16le' as const),
      alphabet: fc.constantFrom('base64' as const, 'base64url' as const),
    });
    fc.assert(
      fc.property(hidden, ({ secret, before, after, prefix, suffix, encoding, alphabet }) => {
        // a digit beside a document makes a longer number of it
        const encoded = Buffer.from(`${before} ${secret} ${after}`, encoding).toString(alphabet);
        expect(redact(JSON.stringify({ a: `${prefix}${encoded}${suffix}` }))).toBe(`{"a":"${REMOVED}"}`);
      }),
      propertyOptions(100, 3000),
    );
  });

  it('knows by a document alone whom the fields around it name, however it is encoded', () => {
    const later = createRedact({ documents: ['12345678909'], ids: [], own: [], shared: [] });
    for (const document of [base64('12345678909'), numbered('123.456.789-09')]) {
      expect(listCandidates(JSON.stringify({ document })).documents).toContain('12345678909');
      expect(later(JSON.stringify({ document, name: 'A. C.' }))).toBe(`{"document":"${REMOVED}","name":"${REMOVED}"}`);
    }
  });

  it('leaves what decodes to nobody byte for byte', () => {
    const hash = createHash('sha256').update('x').digest();
    for (const text of [hash.toString('base64'), hash.toString('hex'), base64('de outro, 98765432100'), '&amp;&#49;']) {
      expect(redact(JSON.stringify({ a: text }))).toBeUndefined();
    }
  });

  it('takes what it does not know by heart from the fields around, and else the whole', () => {
    const later = createRedact({ documents: ['12345678909'], ids: [ID], own: [], shared: [] });
    const around = (name: string) =>
      `{"transaction":{"id":"${ID}","amount":"1.00"},"payer":{"nome":"${name}","email":"${name}"}}`;
    expect(later(around('A. C.'))).toBe(around(REMOVED));
    const nested = (name: string) => JSON.stringify({ data: JSON.stringify({ id: ID, name }), n: 1 });
    expect(later(nested('A. C.'))).toBe(nested(REMOVED));
    expect(later('pix de A. C., CPF 123.456.789-09')).toBe(REMOVED);
    expect(later(`[{"id":"${ID}","name":"A"},{"id":"x","name":"B"}]`)).toBe(
      `[{"id":"${ID}","name":"${REMOVED}"},{"id":"x","name":"B"}]`,
    );
  });

  it('takes out every personal field of what is theirs, however it is spelled, and keeps all else byte for byte', () => {
    const text = `{ "transaction":[{"id":"${ID}","amount":10.50,"name":"A. C.","payer":{"email":"x@y.z"},"reference":"p-1"},
      {"id":"other","name":"Rui","amount":1e2}] }`;
    expect(redact(text)).toBe(text.replace('"A. C."', `"${REMOVED}"`).replace('"x@y.z"', `"${REMOVED}"`));
  });

  it('changes nothing the second time, and stays JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...person.documents, ...person.own), (value, secret) => {
        const text = JSON.stringify({ value, secret, id: ID });
        const once = redact(text) ?? '';
        expect(once).not.toContain(secret);
        expect(() => JSON.parse(once) as unknown).not.toThrow();
        expect(redact(once) ?? once).toBe(once);
      }),
      propertyOptions(30, 300),
    );
  });

  it('handles any body within the limits: deep and broad ones', () => {
    const deep = `${'['.repeat(120_000)}"12345678909"${']'.repeat(120_000)}`;
    expect(listCandidates(deep).documents).toContain('12345678909');
    expect(redact(deep)).toBe(REMOVED);
    const broad = `[${'1,'.repeat(130_000)}"${ID}"]`;
    expect(listCandidates(broad).ids).toEqual([ID]);
    expect(redact(broad)).toBeUndefined();
    const many = `[${Array.from({ length: 20_000 }, (_, n) => 10_000_000_000 + n).join()},12345678909]`;
    expect(listCandidates(many).documents).toContain('12345678909');
    expect(redact(many)).toBe(many.replace('12345678909', `"${REMOVED}"`));
    for (const text of [
      `"${'1'.repeat(262_000)}"`,
      `["${'123 456 789 '.repeat(21_000)}"]`,
      `[${'123,'.repeat(65_000)}1]`,
      `"${'<1'.repeat(131_000)}"`,
      `"${'1-----'.repeat(43_000)}"`,
    ]) {
      expect(redact(text)).toBeUndefined();
      expect(listCandidates(text).ids).toEqual([]);
    }
  });

  it('finds what may be a document or an id in any text', () => {
    const found = listCandidates(`{"a":{"b":["12.ABC.345/01DE-35"]},"c":12345678909,"d":"veja ${ID}"}`);
    expect(found.documents).toEqual(expect.arrayContaining(['12ABC34501DE35', '12345678909']));
    expect(found.ids).toEqual([ID]);
    for (const text of ['12.abc.345%2F01de-35', '12.ABC.345–01DE 35', 'x%253D12%252Eabc%252E345%252F01DE%252D35']) {
      expect(listCandidates(text).documents, text).toContain('12ABC34501DE35');
    }
    expect(listCandidates('cpf=123.456.789-09;').documents).toContain('12345678909');
  });
});
