import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import { findDocuments, isValidDocument } from '../../../src/domain/person/find-documents.ts';
import { maskMismatch } from '../../../src/domain/person/mask-mismatch.ts';
import {
  maskAccount,
  maskDocument,
  maskE2eId,
  maskParty,
  maskPlatform,
  maskText,
  WITHHELD,
} from '../../../src/domain/person/mask-person.ts';
import { maskTransaction, presentTransaction } from '../../../src/domain/present-transaction.ts';
import { platformAccountSegment } from '../../../src/reports/read/read-accounts.ts';
import { numRuns, propertyOptions } from '../../support/property.ts';
import {
  anyCnpj,
  anyCpf,
  anySpelling,
  anyValue,
  cnpjOf,
  listCnpjsLike,
  listCpfsLike,
  punctuate,
  SPELLINGS,
  VALUES,
} from '../../support/spell-documents.ts';

const CANDIDATES_MIN = 1000;
/** Every how many-th document of a mask is tried for one field and spelling: neighbours share none of the three first digits. */
const CANDIDATE_STEP = 1000 / numRuns(8, 40);
const calendar = createCalendar('America/Sao_Paulo');

type Spelling = (document: string) => string;
/** Which fields repeat the document, and how: a person's habits, which an attacker may know. */
type Habits = Record<
  'pix_key' | 'phone' | 'email' | 'name' | 'reference' | 'extra' | 'description' | 'platform' | 'e2eId',
  Spelling
>;

/** All that a viewer sees of one transaction, as one text. */
function renderAsViewer(document: string, { pix_key, ...habits }: Habits): string {
  const shown = presentTransaction(
    {
      ...{ id: 'a', operation: 'cashin', status: 'paid', statusWall: '2026-11-20 23:30:00', sequence: 2 },
      ...{ amountCents: 10_000n, commissionCents: 150n, document },
      createdWall: '2026-11-20 23:00:00',
      ...{ pixKey: pix_key(document), forgotten: false },
      ...apply(habits, document),
    },
    calendar,
  );
  const extra = `sha256:${createHash('sha256')
    .update(shown.extra ?? '')
    .digest('hex')}`;
  const mismatch = {
    ...{ platform: null, reference: shown.reference, note: `falei com ${document}` },
    expected: { reference: shown.reference, extra, amount: '100.00' },
    actual: {
      reference: 'pedido-1',
      extra,
      ids: ['a'],
      history: [{ status: shown.extra, at: '2026-11-20T23:00:00-03:00' }],
    },
  };
  return JSON.stringify([maskTransaction(shown, { forgotten: false }), maskMismatch(mismatch, [shown])]);
}

function apply<Name extends string>(habits: Record<Name, Spelling>, document: string): Record<Name, string> {
  const entries = Object.entries<Spelling>(habits).map(([name, spell]) => [name, spell(document)]);
  return Object.fromEntries(entries) as Record<Name, string>;
}

/** Tries every document of the mask: those with the same mask remain. */
const attack = (candidates: string[], seen: string, habits: Habits): number =>
  candidates.filter((one) => renderAsViewer(one, habits) === seen).length;

const others = fc.record({
  pix_key: fc.constantFrom('+5511987654321', 'ana@example.com', '0f0e0d0c-0000-4000-8000-000000000001'),
  phone: fc.constantFrom('+5511987654321', '(21) 3333-4444'),
  email: fc.constantFrom('ana@example.com', 'ze@loja.example'),
  name: fc.constantFrom('Maria da Silva', 'ACME Ltda'),
});
/** @param anyText what stands where the document does not; the attacker knows it, even where it is masked. */
const habitsWith = (anyText: fc.Arbitrary<string>): fc.Arbitrary<Habits> =>
  fc.tuple(others, anyText).chain(([known, text]) => {
    const constant = (value: string) => fc.constant<Spelling>(() => value);
    const value = (name: keyof typeof known) => fc.oneof(anyValue, constant(known[name]));
    const free = fc.oneof(anySpelling, constant(text));
    return fc.record({
      ...{ pix_key: value('pix_key'), phone: value('phone'), email: value('email'), name: value('name') },
      ...{ reference: free, extra: free, description: free, platform: free, e2eId: free },
    });
  });

const anyOrder = fc.oneof(
  fc.stringMatching(/^[a-z]{3,8}-\d{1,14}$/),
  fc.constantFrom('mesa 4', '2026-11-20 10:00', 'final 1234'),
);

describe('all that a viewer sees of one transaction', () => {
  it('leaves a thousand CPFs, for any fields that repeat it', () => {
    fc.assert(
      fc.property(anyCpf, habitsWith(anyOrder), (cpf, habit) => {
        expect(attack(listCpfsLike(cpf), renderAsViewer(cpf, habit), habit)).toBeGreaterThanOrEqual(CANDIDATES_MIN);
      }),
      propertyOptions(1, 60),
    );
  });

  it('leaves a thousand CNPJs, letters or not', () => {
    fc.assert(
      // a text that has four digits of a company's by chance is masked too, which reveals them to a reader who knows the text
      fc.property(anyCnpj, habitsWith(fc.constant('mesa 4')), (cnpj, habit) => {
        expect(attack(listCnpjsLike(cnpj), renderAsViewer(cnpj, habit), habit)).toBeGreaterThanOrEqual(CANDIDATES_MIN);
      }),
      propertyOptions(1, 20),
    );
  });

  const CPF = '52998224725';
  const quiet: Habits = {
    ...{ pix_key: () => 'ana@example.com', phone: () => '+5511987654321', email: () => 'ana@example.com' },
    ...{ name: () => 'Maria', reference: () => 'pedido-1', extra: () => 'mesa', description: () => 'd' },
    ...{ platform: () => 'p', e2eId: () => '' },
  };
  const fields = ['pix_key', 'phone', 'email', 'name'] as const;
  const texts = ['reference', 'extra', 'description', 'platform', 'e2eId'] as const;
  const cases = [
    ...fields.flatMap((field) => Object.entries(VALUES).map(([name, spell]) => ({ field, name, spell }))),
    ...texts.flatMap((field) => Object.entries(SPELLINGS).map(([name, spell]) => ({ field, name, spell }))),
  ];
  test.each(cases)('the $field repeats the CPF $name', ({ field, spell }) => {
    const habit = { ...quiet, [field]: spell };
    const some = listCpfsLike(CPF).filter((_, index) => index % CANDIDATE_STEP === 0);
    expect(attack(some, renderAsViewer(CPF, habit), habit)).toBe(some.length);
  });
});

test.each(['0000A00A000176', 'AA0000A0000112', 'OL11IA00000101'])(
  'the CNPJ %s in letters of the shape of digits is withheld',
  (cnpj) => {
    const party = { name: 'ACME', email: null, phone: null, document: cnpj, pix_key: null };
    const spelled = cnpj.replaceAll('1', 'l').replaceAll('0', 'O');
    expect(maskText(spelled, party)).toBe('***');
    expect(maskText(`pedido ${spelled.slice(0, 6).toLowerCase()}`, party)).toBe('***');
  },
);

describe('a mask', () => {
  const party = { name: 'Maria', email: null, phone: null, document: '52998224725', pix_key: null };

  test.each([
    ['52998224725', '***.982.247-**'],
    ['529.982.247-25', '***.982.247-**'],
    ['+5552998224725', '***.982.247-**'],
    ['052998224725', '***.982.247-**'],
    ['11144477735', '***.444.777-**'],
    ['+5511987654321', '**********4321'],
    ['11987654321', '*******4321'],
    ['ana@example.com', 'a***@example.com'],
    ['52998224725@example.com', '***@example.com'],
    ['a@52998224725.com', 'a***@***'],
    ['0f0e0d0c-0000-4000-8000-00000000abcd', `${'*'.repeat(32)}abcd`],
    ['chave da ana', '***'],
  ])('of the PIX key %s is %s, and the same in the phone', (value, mask) => {
    expect(maskParty({ ...party, pix_key: value }).pix_key).toBe(mask);
    expect(maskParty({ ...party, phone: value }).phone).toBe(mask);
  });

  it('shows of a company three digits of its root and nothing else: its register is public', () => {
    const cnpj = cnpjOf('112223330001');
    const company = { ...party, name: 'Padaria do Zé Ltda', email: 'ze@padaria.example', phone: '+551133334444' };
    const mask = '**.***.333/****-**';
    const withheld = { name: '***', email: '***', phone: '***' };
    expect(maskParty({ ...company, document: cnpj, pix_key: cnpj })).toEqual({
      ...withheld,
      document: mask,
      pix_key: mask,
    });
    expect(maskParty({ ...company, pix_key: punctuate(cnpj) })).toMatchObject({ ...withheld, pix_key: mask });
  });

  it('finds nothing in other texts', () => {
    for (const one of ['1234567890', '123456789012', 'AB-123']) expect(maskDocument(one)).toBe('***');
  });
});

/** Spellings that hold no whole document. */
const PARTS = /^its |star|shortened|without/;

describe('a text', () => {
  it.each([
    '224.***.***-01',
    'CPF 640.***.241-02',
    'cpf comeca 997 fim 72',
    '224xxxxxx01',
    '224 ### ### 01',
    '224.538.32x-01',
    '•••.•••.•••-72',
    '12.***.***/0001-**',
    '12.345.6XX/XXXX-90',
    '224…01',
    '224---01',
    '224.%2A%2A%2A.***-01',
    Buffer.from('CPF 224.***.***-01').toString('base64'),
    'C.P.F. 224',
    'os últimos 72',
    '997 no começo',
    'dv 72',
    '361/x/70',
    '505_20',
    '224..01',
    '224 .. 01',
    '224 • 01',
    '22*1',
  ])('that shows a part of a document is withheld: %s', (text) => {
    expect(maskText(text)).toBe('***');
  });

  it.each([
    'pedido-1042',
    'mesa 4',
    'pedido #123',
    'max 12 itens',
    'Maxx 12',
    '2x R$ 10.00',
    '2026-11-20 10:30:00',
    'loja_12',
    'fim de semana',
    'sha256:***',
    'pedido-2026-11-000123',
    'pedido_2026_11_17',
    'caixa 10x20x30',
    '3x R$ 50.00',
    'mesa 4.. obrigado',
    'p1=10 p2=20',
    '{"qtd":2,"itens":[10,20],"em":"2026-11-20T10:30:00Z"}',
    '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
    'NFe 12345 - 2',
    '***',
  ])('that shows none stays: %s', (text) => {
    expect(maskText(text)).toBe(text);
  });
});

describe('a text about a person', () => {
  const party = {
    ...{ name: 'Maria Souza', email: 'maria.souza@example.com', phone: '5511987658227', document: '22453832301' },
    pix_key: null,
  };

  it.each([
    '98765-8227',
    '8765 8227',
    'liga 987658227',
    'maria.souza',
    'cliente MARIA.SOUZA',
    'A224B538C323D01',
    'a224538b323',
    'p01=224 p02=538 p03=323 p04=01',
    'd1:224;d2:538;d3:323;d4:01',
    '224 e 538 e 323 e 01',
    '1) 224 2) 538 3) 323 4) 01',
    '{"a":"224","b":"538","c":"323","d":"01"}',
    '2245383230l',
  ])('is withheld if it repeats a value: %s', (text) => {
    expect(maskText(text, party)).toBe('***');
  });

  it.each(['12a345b678c0001d95', '{"a":"12","b":"345","c":"678","d":"0001","e":"95"}'])(
    'is withheld if it repeats the CNPJ: %s',
    (text) => {
      expect(maskText(text, { ...party, document: '12345678000195' })).toBe('***');
    },
  );

  it.each(['ABC/x/95', 'ABC_95', 'ABC • 95', 'ABC..95'])('is withheld if it shows the ends of a CNPJ: %s', (text) => {
    expect(maskText(text, { ...party, document: 'ABC45678000195' })).toBe('***');
    expect(maskText('ABD_95', { ...party, document: 'ABC45678000195' })).toBe('ABD_95');
  });

  it.each([
    'pedido-2026-11-000123',
    'mesa 12 às 10h30',
    'maria',
    'A100B200C300D4',
    '2x 100, 3x 200, 4x 300',
    'em 2026-11-20T10:30:00Z',
  ])('is shown if it repeats none: %s', (text) => {
    expect(maskText(text, party)).toBe(text);
  });

  it('is mostly shown if it is an order number with letters', () => {
    const anyOrders = fc.sample(fc.stringMatching(/^[a-z]{2,8}-\d{4}-[A-Z]{1,3}\d{3,6}$/), { numRuns: 2000, seed: 17 });
    expect(anyOrders.filter((text) => maskText(text, party) === '***').length).toBeLessThan(60);
  });
});

describe('a platform and an end-to-end id', () => {
  const party = { name: null, email: null, phone: null, document: '52998224725', pix_key: null };
  it('are withheld where they hold a document or a part of it', () => {
    for (const spell of Object.values(SPELLINGS)) {
      expect(maskPlatform(spell(party.document), party)).toBe('***');
      // in a list of platforms, without the people of its transactions
      expect(maskPlatform(spell(party.document))).toBe('***');
      expect(maskE2eId(spell(party.document), party)).toBe('***');
      const account = `Assets:Provider:Held:${platformAccountSegment(spell(party.document))}`;
      expect(maskAccount(account, party)).toBe('Assets:Provider:Held:***');
    }
    expect(maskE2eId('E1234567820261120123452998224725', party)).toBe('***');
  });

  it('are shown if they hold no document, with any digits by chance', () => {
    const uuid = '0f0e0d0c-1239-4224-8725-982247aabbcc';
    const e2eId = 'E5299822420261120123412ab34cd56e';
    expect([maskPlatform(uuid, party), maskPlatform('p', party), maskPlatform(null)]).toEqual([uuid, 'p', null]);
    expect([maskE2eId(e2eId, party), maskE2eId(null)]).toEqual([e2eId, null]);
    expect(maskAccount('Assets:Provider:Held:none')).toBe('Assets:Provider:Held:none');
  });
});

describe('a document in a text', () => {
  it('is found by its check digits, at any position', () => {
    fc.assert(
      fc.property(anyCpf, fc.constantFrom(...Object.keys(SPELLINGS)), (cpf, name) => {
        if (!PARTS.test(name)) expect(findDocuments(SPELLINGS[name]?.(cpf) ?? '')).toContain(cpf);
      }),
      propertyOptions(50, 1000),
    );
  });

  it.each(['11111111111', '12345678900', '0001', 'pedido-1001', '2026-11-20 10:30:00', '00000000000000'])(
    'is none: %s',
    (text) => {
      expect(findDocuments(text)).toEqual([]);
      expect(isValidDocument(text)).toBe(false);
    },
  );
});

test.each([
  'Ana Maria Souza Lima',
  'pedido-ANA-MARIA-souza-lima',
  'ana_maria_souza_lima@loja',
  'Ana-Maria\u2010Souza Lima',
])('a name is found however its words are joined: %s', (text) => {
  for (const name of ['Ana-Maria Souza-Lima', 'Ana Maria Souza Lima'])
    expect(maskText(text, { name, document: null, email: null, phone: null, pix_key: null })).toBe('***');
});

test('a text that folds to many times its length is withheld, and one with fractions and ligatures is shown', () => {
  expect(maskText('\uFDFA'.repeat(50))).toBe(WITHHELD);
  expect(maskText('½ kit, 3 ㎏, ﬁo ﷺ')).toBe('½ kit, 3 ㎏, ﬁo ﷺ');
});
