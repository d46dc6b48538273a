/** Valid documents, and the spellings in which merchants and payers write them into other fields. */
import fc from 'fast-check';
import { cnpjCheckDigits, cpfCheckDigits } from '../../sandbox/pix/check-document.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export const cpfOf = (base: string): string => `${base}${cpfCheckDigits(base)}`;
export const cnpjOf = (base: string): string => `${base}${cnpjCheckDigits(base)}`;

export const punctuate = (document: string): string =>
  document.length === 11
    ? document.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4')
    : document.replace(/(..)(...)(...)(....)(..)/, '$1.$2.$3/$4-$5');

const entities = (text: string): string => Array.from(text, (one) => `&#${one.codePointAt(0)};`).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Replaces the digits of a text by those of the script whose zero has this code point. */
export const digitsFrom = (zero: number, text: string): string =>
  text.replace(/\d/g, (one) => String.fromCodePoint(zero + Number(one)));

/** Texts that contain a document, as functions of it. */
export const SPELLINGS: Record<string, (document: string) => string> = {
  bare: (one) => one,
  punctuated: punctuate,
  'with a country': (one) => `55${one}`,
  'with a plus': (one) => `+55${one}`,
  'behind a zero': (one) => `0${one}`,
  'behind a year': (one) => `2026${one}`,
  'within a number': (one) => `2026${one}01`,
  'within a punctuated number': (one) => `55${punctuate(one)}`,
  'in a sentence': (one) => `pedido do CPF ${punctuate(one)}, obrigado`,
  'in JSON': (one) => JSON.stringify({ cpf: one }),
  'in an address': (one) => `https://x/?cpf=${encodeURIComponent(punctuate(one))}`,
  'its last four': (one) => `final ${one.slice(-4)}`,
  'without its check digits': (one) => `cliente ${one.slice(0, -2)}`,
  'with its middle starred': (one) => `${one.slice(0, 3)}.***.***-${one.slice(-2)}`,
  'with some of it starred': (one) => `CPF ${one.slice(0, 3)}.***.${one.slice(6, 9)}-${one.slice(-2)}`,
  'starred without dots': (one) => `${one.slice(0, 3)}xxxxxx${one.slice(-2)}`,
  'starred from its start': (one) => `cliente •••••••••${one.slice(-2)}`,
  'starred to its end': (one) => `vip ${one.slice(0, 3)}.###.###-##`,
  'with one star': (one) => `${one.slice(0, 5)}*${one.slice(6)}`,
  'between letters': (one) => `A${one.slice(0, 3)}B${one.slice(3, 6)}C${one.slice(6, 9)}D${one.slice(9)}`,
  'in numbered parts': (one) => `p1=${one.slice(0, 3)} p2=${one.slice(3, 6)} p3=${one.slice(6, 9)} p4=${one.slice(9)}`,
  'in fields of JSON': (one) =>
    JSON.stringify({ a: one.slice(0, 3), b: one.slice(3, 6), c: one.slice(6, 9), d: one.slice(9) }),
  'with words in between': (one) => [one.slice(0, 3), one.slice(3, 6), one.slice(6, 9), one.slice(9)].join(' e '),
  'with letters of the shape of digits': (one) => one.replaceAll('1', 'l').replaceAll('0', 'O'),
  'its ends around one star': (one) => `${one.slice(0, 3)}/x/${one.slice(-2)}`,
  'its ends around a star of spaces': (one) => `${one.slice(0, 3)} • ${one.slice(-2)}`,
  'its ends around a star like a line': (one) => `${one.slice(0, 3)}_${one.slice(-2)}`,
  'its ends, shortened with two dots': (one) => `${one.slice(0, 3)}..${one.slice(-2)}`,
  'shortened with dots': (one) => `${one.slice(0, 3)}...${one.slice(-2)}`,
  'its ends in words': (one) => `cpf comeca ${one.slice(0, 3)} fim ${one.slice(-2)}`,
  'its start in words': (one) => `começa com ${one.slice(0, 3)}`,
  'its check digits in words': (one) => `dígitos: ${one.slice(-2)}`,
  'in Arabic digits': (one) => digitsFrom(0x0660, one),
  'in Devanagari digits': (one) => `CPF ${digitsFrom(0x0966, punctuate(one))}`,
  'in digits of full width': (one) => digitsFrom(0xff10, one),
  'in bold digits': (one) => digitsFrom(0x1d7ce, one),
  'in Arabic digits, escaped': (one) => encodeURIComponent(digitsFrom(0x0660, one)),
  'in Arabic digits as entities': (one) => entities(digitsFrom(0x06f0, one)),
  'in Arabic digits in base64': (one) => base64(digitsFrom(0x0660, one)),
  'in base64': base64,
  'in base64 of a sentence': (one) => `x=${base64(`cliente ${punctuate(one)} vip`)}`,
  'as entities': entities,
};

/** The same for fields with a single value: a PIX key, a phone, an e-mail, a name. */
export const VALUES: Record<string, (document: string) => string> = {
  ...Object.fromEntries(
    ['bare', 'punctuated', 'with a country', 'with a plus', 'behind a zero', 'behind a year'].map((name) => [
      name,
      SPELLINGS[name] ?? String,
    ]),
  ),
  'as an e-mail': (one) => `${one}@example.com`,
  'as a domain': (one) => `contato@${one}.com.br`,
  'at the end of a name': (one) => `João da Silva ${one}`,
  'at the start of a name': (one) => `${punctuate(one).slice(0, 10)} João da Silva`,
};

const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));

export const anyCpf = digits(9)
  .filter((base) => !/^(.)\1*$/.test(base))
  .map(cpfOf);
export const anyCnpj = fc.oneof(digits(8), fc.stringMatching(/^[0-9A-Z]{8}$/)).map((root) => cnpjOf(`${root}0001`));

export const anySpelling = fc.constantFrom(...Object.keys(SPELLINGS)).map((name) => SPELLINGS[name] ?? String);
export const anyValue = fc.constantFrom(...Object.keys(VALUES)).map((name) => VALUES[name] ?? String);

/** Returns all CPFs with the same mask: three digits are unknown, and the check digits depend on them. */
export function listCpfsLike(cpf: string): string[] {
  return Array.from({ length: 1000 }, (_, head) => cpfOf(`${String(head).padStart(3, '0')}${cpf.slice(3, 9)}`));
}

/** Returns 1,500 CNPJs with the same last three characters of the root, with letters where the given one has letters. */
export function listCnpjsLike(cnpj: string): string[] {
  return Array.from({ length: 1500 }, (_, number) => {
    let rest = number;
    const root = Array.from(cnpj.slice(0, 5), (one) => {
      const alphabet = /\d/.test(one) ? '0123456789' : LETTERS;
      const at = alphabet.indexOf(one) + rest;
      rest = Math.floor(rest / alphabet.length);
      return alphabet[at % alphabet.length];
    });
    return cnpjOf(`${root.join('')}${cnpj.slice(5, 12)}`);
  });
}
