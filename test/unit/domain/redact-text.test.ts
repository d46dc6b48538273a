import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedact, type KnownPerson, listCandidates, REMOVED } from '../../../src/domain/redact-text.ts';

const ID = '0f0e0d0c-0000-4000-8000-000000000001';
const person: KnownPerson = {
  documents: ['12345678909'],
  ids: [ID],
  own: ['ana@exemplo.com', '+5511987654321'],
  shared: ['Ana Conceição', 'Presente de aniversário'],
};
const redact = createRedact(person);

describe('taking a person out of a text', () => {
  it('leaves alone what does not tell of them, a namesake too', () => {
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
    );
  });

  it('goes through whatever fits into a body: as deep, as broad as it comes', () => {
    const deep = `${'['.repeat(120_000)}"12345678909"${']'.repeat(120_000)}`;
    expect(listCandidates(deep).documents).toContain('12345678909');
    expect(redact(deep)).toBe(REMOVED);
    const broad = `[${'1,'.repeat(130_000)}"${ID}"]`;
    expect(listCandidates(broad).ids).toEqual([ID]);
    expect(redact(broad)).toBeUndefined();
    const many = `[${Array.from({ length: 20_000 }, (_, n) => 10_000_000_000 + n).join()},12345678909]`;
    expect(listCandidates(many).documents).toContain('12345678909');
    expect(redact(many)).toBe(many.replace('12345678909', `"${REMOVED}"`));
  });

  it('finds what may be a document or an id in any text', () => {
    const found = listCandidates(`{"a":{"b":["12.ABC.345/01DE-35"]},"c":12345678909,"d":"veja ${ID}"}`);
    expect(found.documents).toEqual(expect.arrayContaining(['12ABC34501DE35', '12345678909']));
    expect(found.ids).toEqual([ID]);
    expect(listCandidates('cpf=123.456.789-09;').documents).toContain('12345678909');
  });
});
