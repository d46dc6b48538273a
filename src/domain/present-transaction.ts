import type { Calendar, Wall } from './calendar.ts';
import { foldName, normalizeDocument } from './fold-person.ts';
import { formatAmount } from './money.ts';
import { DOCUMENT_LENGTHS, listReadings, readPhone } from './person-tells.ts';
import type { Operation, Status } from './statuses.ts';

/** A transaction as the ledger holds it, with its personal fields. */
export type LedgerTransaction = {
  id: string;
  operation: Operation;
  status: Status;
  statusWall: Wall;
  sequence: number;
  amountCents: bigint;
  commissionCents: bigint | null;
  reference: string | null;
  extra: string | null;
  platform: string | null;
  e2eId: string | null;
  createdWall: Wall;
  name: string | null;
  email: string | null;
  phone: string | null;
  document: string | null;
  pixKey: string | null;
  description: string | null;
};

/** A transaction of our API and callbacks: amounts are decimal strings, instants ISO 8601 with the zone's offset. */
export type PresentedTransaction = ReturnType<typeof presentTransaction>;

export function presentTransaction(transaction: LedgerTransaction, calendar: Calendar) {
  const { operation, amountCents, commissionCents } = transaction;
  const commission = commissionCents ?? 0n;
  return {
    id: transaction.id,
    operation,
    status: transaction.status,
    amount: formatAmount(amountCents),
    commission: commissionCents === null ? null : formatAmount(commissionCents),
    // what the merchant's balance moves by: a cashin brings less, a cashout costs more
    net: formatAmount(operation === 'cashin' ? amountCents - commission : amountCents + commission),
    currency: 'BRL' as const,
    reference: transaction.reference,
    extra: transaction.extra,
    platform: transaction.platform,
    e2e_id: transaction.e2eId,
    pix_key: transaction.pixKey,
    name: transaction.name,
    email: transaction.email,
    phone: transaction.phone,
    document: transaction.document,
    description: transaction.description,
    created_at: calendar.toIso(transaction.createdWall),
    status_at: calendar.toIso(transaction.statusWall),
    sequence: transaction.sequence,
  };
}

/** The same for who may not see personal data. */
export function maskTransaction<T extends PresentedTransaction>(transaction: T): T {
  return {
    ...transaction,
    pix_key: maskText(transaction.pix_key),
    name: maskName(transaction.name),
    email: transaction.email?.replace(/^(.)[^@]*/, '$1***') ?? null,
    phone: maskText(transaction.phone),
    document: maskDocument(transaction.document),
    description: maskHolding(transaction.description, transaction),
    extra: maskHolding(transaction.extra, transaction),
  };
}

const NEEDLE_CHARS_MIN = 4;
const MASKED = ['name', 'email', 'phone', 'document', 'pix_key'] as const;

/**
 * Free text that repeats what is masked is masked as a whole, however it is spelled: with escapes, a phone without its
 * country, a document within a longer number too.
 */
export function maskHolding(
  text: string | null,
  of: Pick<PresentedTransaction, (typeof MASKED)[number]>,
): string | null {
  if (text === null) return null;
  const needles = MASKED.map((name) => foldName(of[name] ?? '')).filter((one) => one.length >= NEEDLE_CHARS_MIN);
  const numbers = listNumbers(of);
  const holds = listReadings(text).some((reading) => {
    const plain = foldName(reading);
    const bare = normalizeDocument(reading) ?? '';
    return needles.some((needle) => plain.includes(needle)) || numbers.some((number) => bare.includes(number));
  });
  return holds ? '***' : text;
}

/** What is punctuated in many ways, without any; a PIX key may be a document or a phone. */
function listNumbers({ document, phone, pix_key }: Pick<PresentedTransaction, 'document' | 'phone' | 'pix_key'>) {
  const key = normalizeDocument(pix_key);
  const phones = [phone, pix_key].map((one) => readPhone(one ?? ''));
  const numbers = [normalizeDocument(document), key && DOCUMENT_LENGTHS.has(key.length) ? key : null, ...phones];
  return numbers.filter((one) => one !== null && one !== undefined);
}

/** `***.456.789-**` for a CPF; for a CNPJ, letters and all, the middle eight of its fourteen. */
export function maskDocument(document: string | null): string | null {
  if (!document) return document;
  const plain = document.replace(/[^0-9A-Za-z]/g, '');
  if (plain.length === 11) return `***.${plain.slice(3, 6)}.${plain.slice(6, 9)}-**`;
  if (plain.length === 14) return `**.${plain.slice(2, 5)}.${plain.slice(5, 8)}/${plain.slice(8, 12)}-**`;
  return maskText(document);
}

/** `M*** S***`: the first letter of each word. */
export function maskName(name: string | null): string | null {
  return name?.split(/\s+/).map(maskWord).join(' ') ?? null;
}

function maskText(text: string | null): string | null {
  if (!text) return text;
  return text.length <= 4 ? '*'.repeat(text.length) : `${'*'.repeat(text.length - 4)}${text.slice(-4)}`;
}

function maskWord(word: string): string {
  return `${[...word][0] ?? ''}***`;
}
