import { makeUuid, type Random } from '../domain/random.ts';
import type { Operation } from '../domain/statuses.ts';
import type { KeyType } from '../pix/check-key.ts';
import { makePerson, type Person } from './make-person.ts';

const HEX = '0123456789abcdef';
const GOODS = ['Pedido', 'Fatura', 'Assinatura', 'Mensalidade', 'Compra', 'Reserva', 'Ingresso', 'Serviço'];
const AMOUNT_MEDIAN_CENTS = 8_500;
const AMOUNT_SPREAD = 1.15;
const AMOUNT_CENTS_MAX = 95_000_000;

/** The facts that a client sends to create a transaction. */
export type Charge = Omit<Person, 'documentType'> & {
  operation: Operation;
  amountCents: bigint;
  description: string;
  platform: string;
  reference: string | null;
  extra: string | null;
  pixKey: string | null;
};

/** Generates a charge or payment. Amounts have a long tail: half are under R$ 85, one in a thousand is over R$ 3,000. */
export function makeCharge(random: Random, operation: Operation, platforms: readonly string[]): Charge {
  const { documentType, ...person } = makePerson(random);
  return {
    ...person,
    operation,
    amountCents: makeAmount(random, operation),
    description: `${random.pick(GOODS)} ${random.int(1_000, 999_999)}`,
    platform: random.pick(platforms),
    reference: `${operation === 'cashin' ? 'ped' : 'pag'}-${random.text(HEX, 16)}`,
    extra: random.chance(0.6) ? `loja:${random.int(1, 40)};carrinho:${random.text(HEX, 10)}` : null,
    pixKey: operation === 'cashout' ? makeKey(random, { ...person, documentType }) : null,
  };
}

function makeAmount(random: Random, operation: Operation): bigint {
  if (random.chance(0.01)) return BigInt(random.int(1, 99));
  if (random.chance(0.25)) return BigInt(random.int(1, 60) * 500 - 10); // 4.90, 9.90 … 299.90
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const cents = AMOUNT_MEDIAN_CENTS * Math.exp(AMOUNT_SPREAD * normal) * (operation === 'cashout' ? 3 : 1);
  return BigInt(Math.max(1, Math.min(AMOUNT_CENTS_MAX, Math.round(cents))));
}

function makeKey(random: Random, person: Person): string {
  const type: KeyType = random.pick([person.documentType, 'PHONE', 'EMAIL', 'EVP', 'EVP']);
  switch (type) {
    case 'CPF':
    case 'CNPJ':
      return person.document;
    case 'PHONE':
      return person.phone;
    case 'EMAIL':
      return person.email;
    case 'EVP':
      return makeUuid(random);
  }
}
