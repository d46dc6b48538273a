/**
 * How a person looks to who may not see personal data. Pure.
 *
 * Two masks must not show different parts of one value: `***.456.789-**` beside `*******8909` leaves a dozen CPFs. So a
 * value has one mask, by what it is and not by the field that it stands in, and a text goes as a whole where it repeats
 * what another field's mask hides. A CPF's mask then leaves a thousand numbers: three digits are hidden, and the two
 * check digits follow from the others.
 *
 * A company's register is public, with names, e-mails and phones: beside any of these a few digits are enough to find
 * it. Of a company only three digits of the root are shown.
 */
import { extractE2eSuffix } from '../e2e-id.ts';
import { holdsDocumentParts } from './find-document-parts.ts';
import { findDocuments, isValidDocument } from './find-documents.ts';
import { foldName, normalizeDocument } from './fold-person.ts';
import { DOCUMENT_LENGTHS, listDecodedForms, parsePhone } from './match-person.ts';

/** What may be told of nobody: a text that repeats it, or a value that is of no known kind. */
export const WITHHELD = '***';

/** The personal fields of a transaction that have a mask. */
export type Party = {
  name: string | null;
  email: string | null;
  phone: string | null;
  document: string | null;
  pix_key: string | null;
};

const CPF_LENGTH = 11;
const CNPJ_LENGTH = 14;
/** Of a company's; three digits in a row stand in every other reference by chance. */
const PART_CHARS = 4;
const HEAD_OFFICE = '0001';
const NEEDLE_CHARS_MIN = 4;
/** As accounts' names spell what their format does not take. */
const ESCAPED = /~([0-9a-f]{1,5})~/g;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** A mobile phone with its area, which has as many digits as a CPF. */
const MOBILE = /^[1-9]{2}9\d{8}$/;
const PHONE_DIGITS_MAX = 11;

/** The fields, each by the mask of what it holds. */
export function maskParty(party: Party): Party {
  const { name, email, phone, document, pix_key } = party;
  const withheld = isCompany(party);
  return {
    name: withheld && name ? WITHHELD : maskName(name),
    email: email && maskContact(email, party),
    phone: phone && maskContact(phone, party),
    document: maskDocument(document),
    pix_key: pix_key && maskContact(pix_key, party),
  };
}

/** `***.456.789-**` for a CPF; `**.***.678/****-**` for a CNPJ, letters and all. What is neither is withheld. */
export function maskDocument(document: string | null): string | null {
  if (!document) return document;
  const plain = normalizeDocument(document) ?? '';
  if (plain.length === CPF_LENGTH) return `***.${plain.slice(3, 6)}.${plain.slice(6, 9)}-**`;
  if (plain.length === CNPJ_LENGTH) return `**.***.${plain.slice(5, 8)}/****-**`;
  return WITHHELD;
}

/** `M*** S***`: the first letter of each word. A word may be a number, such as the CPF that a small firm's name ends in. */
export function maskName(name: string | null): string | null {
  return name?.split(/\s+/).map(maskWord).join(' ') ?? null;
}

/**
 * A free text, as a whole where it holds a document, a part of one that stars or words tell, or repeats what is masked,
 * however it is spelled: with escapes, a phone without its country, a part of a document too.
 * @param of whom it may name: those of the transactions that it is about.
 */
export function maskText<T extends string | null>(text: T, ...of: Party[]): T | typeof WITHHELD {
  if (!text) return text;
  const tells = findDocuments(text).length > 0 || holdsDocumentParts(text) || of.some((party) => repeats(text, party));
  return tells ? WITHHELD : text;
}

/** A platform, likewise. The provider's are random ids: a document in one tells, digits that parts may share do not. */
export function maskPlatform<T extends string | null>(platform: T, ...of: Party[]): T | typeof WITHHELD {
  return UUID.test(platform ?? '') ? maskText(platform) : maskText(platform, ...of);
}

/** An account's name, whose last part is a platform: `Assets:Provider:Held:***`. */
export function maskAccount(account: string, ...of: Party[]): string {
  const at = account.lastIndexOf(':') + 1;
  const platform = account
    .slice(at)
    .replace(ESCAPED, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
  return maskPlatform(platform, ...of) === WITHHELD ? `${account.slice(0, at)}${WITHHELD}` : account;
}

/** An end-to-end id, likewise: its minute and institution hold a document's digits by chance, its last part may hold one. */
export function maskE2eId<T extends string | null>(id: T, ...of: Party[]): T | typeof WITHHELD {
  return id && maskText(extractE2eSuffix(id), ...of) === WITHHELD ? WITHHELD : id;
}

function repeats(text: string, party: Party): boolean {
  const { name, email, phone, document, pix_key } = party;
  const needles = [name, email, phone, document, pix_key].map((value) => foldName(value ?? ''));
  const long = needles.filter((needle) => needle.length >= NEEDLE_CHARS_MIN);
  const parts = listDocuments(party).map(spellParts);
  const phones = [phone, pix_key].flatMap((value) => parsePhone(value ?? '') ?? []);
  return listDecodedForms(text).some((reading) => {
    const plain = foldName(reading);
    const bare = normalizeDocument(reading) ?? '';
    if (long.some((needle) => plain.includes(needle)) || phones.some((number) => bare.includes(number))) return true;
    return parts.some((part) => part.test(bare) || part.test(reading));
  });
}

/** A phone or a PIX key, which may be a document, an e-mail, a phone, or random. */
function maskContact(value: string, party: Party): string {
  const document = readDocument(value, party);
  if (document !== undefined) return maskDocument(document) ?? WITHHELD;
  if (isCompany(party)) return WITHHELD;
  if (value.includes('@')) return maskEmail(value, party);
  const national = parsePhone(value);
  const isPhone = national !== undefined && national.length <= PHONE_DIGITS_MAX;
  const repeatsDocument = listDocuments(party).some((one) => spellParts(one).test(national ?? ''));
  if (!UUID.test(value) && (!isPhone || repeatsDocument)) return WITHHELD;
  return `${'*'.repeat(value.length - 4)}${value.replace(/[^0-9A-Za-z]/g, '').slice(-4)}`;
}

/** `m***@example.com`. A digit is no initial: a CPF may be an address too. */
function maskEmail(email: string, party: Party): string {
  const [initial = ''] = /^\p{L}/u.exec(email) ?? [];
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return `${initial}***@${maskText(domain, { ...party, email: null })}`;
}

/** The documents of a transaction: its own, and a PIX key that is one. */
function listDocuments(party: Party): string[] {
  const own = normalizeDocument(party.document);
  const key = party.pix_key === null ? undefined : readDocument(party.pix_key, party);
  return [own, key].filter((one) => one !== null && one !== undefined);
}

function isCompany(party: Party): boolean {
  return listDocuments(party).some((one) => one.length === CNPJ_LENGTH);
}

/**
 * The document that a phone or a PIX key is, also behind a country's code or zeros. Eleven digits without the check digits
 * of a CPF are a mobile phone where they may be one.
 */
function readDocument(value: string, { document }: Pick<Party, 'document'>): string | undefined {
  if (value.includes('@')) return undefined;
  const plain = normalizeDocument(value) ?? '';
  if (plain === normalizeDocument(document)) return plain;
  const bare = (parsePhone(value) ?? plain).replace(/^0+(?=\d{11}$)/, '');
  if (isValidDocument(bare)) return bare;
  const isShaped = DOCUMENT_LENGTHS.has(plain.length) && /\d{2}$/.test(plain) && !MOBILE.test(plain);
  return isShaped ? plain : undefined;
}

/** Finds parts of a document that its mask hides. */
function spellParts(document: string): RegExp {
  if (document.length === CPF_LENGTH) return spellPartsOfCpf(document);
  const parts = new Set<string>();
  for (let start = 0; start + PART_CHARS <= document.length; start++)
    parts.add(document.slice(start, start + PART_CHARS));
  // the branch of almost every company tells nothing, and stands in many a reference
  if (document.length === CNPJ_LENGTH) parts.delete(HEAD_OFFICE);
  return new RegExp(parts.size === 0 ? '(?!)' : [...parts].join('|'));
}

/**
 * Six digits in a row that a CPF of this mask may have, or a number that may be its first five, its last five or its last
 * four. By what the mask shows alone, not by the document: otherwise a text that stands there would rule out the numbers
 * whose parts it holds, and less than a thousand were left.
 */
function spellPartsOfCpf(document: string): RegExp {
  const shown = (from: number, to: number) => document.slice(from, to);
  const within = [
    `\\d{3}${shown(3, 6)}`,
    `\\d{2}${shown(3, 7)}`,
    `\\d${shown(3, 8)}`,
    `${shown(4, 9)}\\d`,
    `${shown(5, 9)}\\d{2}`,
  ];
  const alone = [`\\d{3}${shown(3, 5)}`, `${shown(6, 9)}\\d{2}`, `${shown(7, 9)}\\d{2}`];
  return new RegExp(`${within.join('|')}|(?<!\\d)(?:${alone.join('|')})(?!\\d)`);
}

function maskWord(word: string): string {
  return `${/^\p{L}/u.exec(word)?.[0] ?? ''}***`;
}
