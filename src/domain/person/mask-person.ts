/**
 * Masks personal data for roles that don't see it. Pure.
 *
 * Two masks must not show different parts of one value: `***.456.789-**` beside `*******8909` leaves a dozen CPFs. So the
 * mask of a value depends on what the value is, not on its field. A text that repeats what another field's mask hides is
 * withheld as a whole. The mask of a CPF then leaves a thousand numbers: three digits are hidden, and the two check digits
 * follow from the others.
 *
 * The register of companies is public, with names, e-mails and phones: together with any of these, a few digits identify a
 * company. So only three digits of a company's root are shown.
 */
import { extractE2eSuffix } from '../e2e-id.ts';
import { isUuid } from '../ids.ts';
import { holdsDocumentParts } from './find-document-parts.ts';
import { findDocuments, isValidDocument } from './find-documents.ts';
import { foldName, normalizeDocument } from './fold-person.ts';
import { listJoinedDigits } from './list-joined-digits.ts';
import { DOCUMENT_LENGTHS, growsWhenFolded, listDecodedForms, parsePhone } from './match-person.ts';

/** Replaces a text that repeats masked values, or a value of unknown kind. */
export const WITHHELD = '***';

/** The personal fields of a transaction that have a mask. */
export type Party = {
  name: string | null;
  email: string | null;
  phone: string | null;
  document: string | null;
  pix_key: string | null;
  /** The person was forgotten: no values are left to compare a text with. */
  forgotten?: boolean;
};

const CPF_LENGTH = 11;
const CNPJ_LENGTH = 14;
/** Length of a searched part of a company's document: three digits occur in every other reference by chance. */
const PART_CHARS = 4;
const HEAD_OFFICE = '0001';
const NEEDLE_CHARS_MIN = 4;
/** Shorter local parts of an e-mail are words: `maria`, `loja`. */
const MAILBOX_CHARS_MIN = 6;
/** A phone without area code, and without the leading 9 of a mobile phone. */
const LOCAL_PHONE_DIGITS = 8;
/** Escapes in account names. */
const ESCAPED = /~([0-9a-f]{1,5})~/g;
/** A mobile phone with area code, which has as many digits as a CPF. */
const MOBILE = /^[1-9]{2}9\d{8}$/;
const PHONE_DIGITS_MAX = 11;

/** Masks the personal fields, each by the kind of its value. */
export function maskParty(party: Party): Party {
  const { email, phone, document, pix_key } = party;
  return {
    name: maskNameOf(party),
    email: email && maskContact(email, party),
    phone: phone && maskContact(phone, party),
    document: maskDocument(document),
    pix_key: pix_key && maskContact(pix_key, party),
  };
}

/** Masks a CPF as `***.456.789-**`, a CNPJ as `**.***.678/****-**`, also with letters. Withholds anything else. */
export function maskDocument(document: string | null): string | null {
  if (!document) return document;
  const plain = normalizeDocument(document) ?? '';
  if (plain.length === CPF_LENGTH) return `***.${plain.slice(3, 6)}.${plain.slice(6, 9)}-**`;
  if (plain.length === CNPJ_LENGTH) return `**.***.${plain.slice(5, 8)}/****-**`;
  return WITHHELD;
}

/** Masks the name of a party; a company's is withheld. */
export function maskNameOf(party: Party): string | null {
  return party.name && isCompany(party) ? WITHHELD : maskName(party.name);
}

/** Masks a name as `M*** S***`. A word may be a number, such as the CPF at the end of a small firm's name. */
export function maskName(name: string | null): string | null {
  return name?.split(/\s+/).map(maskWord).join(' ') ?? null;
}

/**
 * Withholds a free text as a whole if it holds a document or a recognizable part of one, or repeats a masked value in any
 * spelling: with escapes, a phone without its country code, a part of a document. Withholds every text about a forgotten
 * person, and one that its folded characters make many times as long: it would take as long to read.
 * @param of the parties of the transactions that it is about.
 */
export function maskText<T extends string | null>(text: T, ...of: Party[]): T | typeof WITHHELD {
  if (!text) return text;
  const isPersonal =
    growsWhenFolded(text) ||
    findDocuments(text).length > 0 ||
    holdsDocumentParts(text) ||
    of.some((party) => repeats(text, party));
  return isPersonal ? WITHHELD : text;
}

/** A CPF or CNPJ without its check digits, which anyone can compute. */
const UNCHECKED = /(?<!\d)(?:\d{3}[. ]?\d{3}[. ]?\d{3}|\d{2}[. ]?\d{3}[. ]?\d{3}[/ ]?\d{4})(?!\d)/;

/**
 * Masks a platform. The provider's are random UUIDs: they are checked for documents, but not for parts, which match by chance.
 * Any other is also shown in lists without the people of its transactions, so it is withheld for what may be a part.
 */
export function maskPlatform<T extends string | null>(platform: T, ...of: Party[]): T | typeof WITHHELD {
  if (!platform) return platform;
  if (isUuid(platform)) return maskText(platform);
  return listDecodedForms(platform).some((form) => UNCHECKED.test(form)) ? WITHHELD : maskText(platform, ...of);
}

/** Masks the platform at the end of an account's name: `Assets:Provider:Held:***`. */
export function maskAccount(account: string, ...of: Party[]): string {
  const at = account.lastIndexOf(':') + 1;
  const platform = account
    .slice(at)
    .replace(ESCAPED, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
  return maskPlatform(platform, ...of) === WITHHELD ? `${account.slice(0, at)}${WITHHELD}` : account;
}

/** Masks an end-to-end id by its last part: the minute and the institution match digits of a document by chance. */
export function maskE2eId<T extends string | null>(id: T, ...of: Party[]): T | typeof WITHHELD {
  return id && maskText(extractE2eSuffix(id), ...of) === WITHHELD ? WITHHELD : id;
}

function repeats(text: string, party: Party): boolean {
  if (party.forgotten) return true;
  const { name, email, phone, document, pix_key } = party;
  const values = [email, phone, document, pix_key].map((value) => foldName(value ?? ''));
  const needles = [...values, foldName(name ?? ''), spaceWords(foldName(name ?? ''))];
  const long = needles.filter((needle) => needle.length >= NEEDLE_CHARS_MIN);
  const documents = listDocuments(party);
  const parts = documents.map(spellParts);
  // of documents without letters, listJoinedDigits finds these spellings
  const alike = documents.filter((one) => /[A-Z]/.test(one)).map((one) => spellParts(readLookalikes(one)));
  const phones = [phone, pix_key].flatMap((value) => parsePhone(value ?? '')?.slice(-LOCAL_PHONE_DIGITS) ?? []);
  const [mailbox = ''] = /^[^@]+(?=@)/.exec(foldName(email ?? '')) ?? [];
  if (mailbox.length >= MAILBOX_CHARS_MIN) long.push(mailbox);
  return listDecodedForms(text).some((reading) => {
    const plain = foldName(reading);
    const bare = normalizeDocument(reading) ?? '';
    const spaced = spaceWords(plain);
    if (
      long.some((needle) => plain.includes(needle) || spaced.includes(needle)) ||
      phones.some((number) => bare.includes(number))
    )
      return true;
    if (alike.some((part) => part.test(readLookalikes(reading)))) return true;
    const digits = [bare, reading, ...listJoinedDigits(reading)];
    return parts.some((part) => digits.some((one) => part.test(one)));
  });
}

/** @returns a folded text with blanks for what else joins the words of a name: `ana-maria souza_lima`. */
function spaceWords(text: string): string {
  return text
    .replace(/[\p{Pd}_.,/'’]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/** @returns a text normalized as a document, with digits for letters of their shape. */
function readLookalikes(text: string): string {
  const plain = normalizeDocument(text.replaceAll('|', '1')) ?? '';
  return plain.replace(/[IL]/g, '1').replaceAll('O', '0');
}

/** Masks a phone or a PIX key, which may be a document, an e-mail, a phone, or random. */
function maskContact(value: string, party: Party): string {
  const document = readDocument(value, party);
  if (document !== undefined) return maskDocument(document) ?? WITHHELD;
  if (isCompany(party)) return WITHHELD;
  if (value.includes('@')) return maskEmail(value, party);
  const national = parsePhone(value);
  const isPhone = national !== undefined && national.length <= PHONE_DIGITS_MAX;
  const repeatsDocument = listDocuments(party).some((one) => spellParts(one).test(national ?? ''));
  if (!isUuid(value) && (!isPhone || repeatsDocument)) return WITHHELD;
  return `${'*'.repeat(value.length - 4)}${value.replace(/[^0-9A-Za-z]/g, '').slice(-4)}`;
}

/** Masks an e-mail as `m***@example.com`. A leading digit is hidden: the local part may be a CPF. */
function maskEmail(email: string, party: Party): string {
  const [initial = ''] = /^\p{L}/u.exec(email) ?? [];
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return `${initial}***@${maskText(domain, { ...party, email: null })}`;
}

/** @returns the documents of a transaction: its own, and its PIX key if that is one. */
function listDocuments(party: Party): string[] {
  const own = normalizeDocument(party.document);
  const key = party.pix_key === null ? undefined : readDocument(party.pix_key, party);
  return [own, key].filter((one) => one !== null && one !== undefined);
}

function isCompany(party: Party): boolean {
  return listDocuments(party).some((one) => one.length === CNPJ_LENGTH);
}

/**
 * Returns the document in a phone or a PIX key, also after a country code or zeros. Eleven digits without valid check digits
 * count as a mobile phone if they have its form.
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

/** @returns a pattern for the parts of a document that its mask hides. */
function spellParts(document: string): RegExp {
  if (document.length === CPF_LENGTH) return spellPartsOfCpf(document);
  const parts = new Set<string>();
  for (let start = 0; start + PART_CHARS <= document.length; start++)
    parts.add(document.slice(start, start + PART_CHARS));
  if (document.length === CNPJ_LENGTH) {
    // almost every company has this branch number, and many references contain it
    parts.delete(HEAD_OFFICE);
    // with letters, stars between its ends do not distinguish them from other words: `ABC_12`
    parts.add(`(?<![0-9A-Z])${document.slice(0, 3)}(?:[xX]|[^0-9A-Za-z]){0,20}${document.slice(-2)}(?!\\d)`);
    // digits that a text calls a start are withheld anyway; a start with letters is known by its value alone
    if (/[A-Z]/.test(document.slice(0, 3))) parts.add(`(?<![0-9A-Za-z])${document.slice(0, 3)}(?![0-9A-Za-z])`);
  }
  return new RegExp(parts.size === 0 ? '(?!)' : [...parts].join('|'));
}

/**
 * Returns a pattern for six digits in a row of any CPF with this mask, or a separate number that may be its first five,
 * last five or last four digits. It depends only on the digits that the mask shows. Otherwise a text that is not withheld
 * would rule out numbers, and fewer than a thousand would be left.
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
