/**
 * Reads the invoices (NF-e, NFC-e) and the events of one XML by the layout of SEFAZ, from 3.10 on. What stands outside of the
 * fields below is not kept. Source: Manual de Orientação do Contribuinte 7.0, annex I.
 */
import { isDay } from '../../domain/calendar.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { expectedFactsSchema, type GivenFacts } from '../../expected/expected-fields.ts';
import { isInvoiceKey } from '../../expected/invoice-key.ts';
import type { XmlEvent } from '../../spreadsheet/read-xml.ts';
import { type MessagesOf, type Said, saidOfRule } from '../../texts/messages.ts';
import type { LeftOutReason } from '../import-kind.ts';

/** An invoice paid by PIX, as an expected payment; its references are its orders (xPed). `authorizations`: codes of its payments (cAut). */
export type Invoice = { key: string; facts: GivenFacts; authorizations?: string[] };
export type Cancellation = { cancels: string };
type Fault = { kind: MessagesOf<'invoice'>; value?: string | number; said?: Said };
export type Parsed = { value: Invoice | Cancellation } | { fault: Fault } | { leftOut: LeftOutReason };

/** Tags of a payment by PIX: dynamic, static, automatic. */
const PIX_TAGS: ReadonlySet<string> = new Set(['17', '20', '23']);
const INCOMING = '0';
const RETURN = '4';
const MODELS: ReadonlySet<string | undefined> = new Set(['55', '65', undefined]);
const AUTHORIZED: ReadonlySet<string | undefined> = new Set(['100', '150', undefined]);
const REGISTERED: ReadonlySet<string | undefined> = new Set(['135', '136', '155', undefined]);
const CANCELS = '110111';
const ID = /^NFe([0-9A-Z]{44})$/;
/** No field below is as long. */
const FIELD_CHARS_MAX = 500;
const AUTHORIZATIONS_MAX = 100;

/** Where SEFAZ's layout has what a fact is made of. */
const SOURCES: Readonly<Record<string, string>> = {
  ...{ amount: 'vPag', issued_day: 'dhEmi', due_day: 'dVenc', references: 'xPed', document: 'dest', name: 'xNome' },
};

/** Fields by the name of their parent and their own. */
type Fields = Map<string, string[]>;
type Payment = { tag: string; amount: string; authorization: string };
type Open = { element: 'infNFe' | 'evento'; id: string; fields: Fields; payments: Payment[] };

const KEPT = new Set([
  ...['ide/mod', 'ide/serie', 'ide/nNF', 'ide/dhEmi', 'ide/tpNF', 'ide/finNFe', 'dest/CPF', 'dest/CNPJ', 'dest/xNome'],
  ...['dup/dVenc', 'compra/xPed', 'prod/xPed', 'detPag/tPag', 'detPag/vPag', 'card/cAut'],
  ...['infProt/chNFe', 'infProt/cStat', 'infEvento/chNFe', 'infEvento/tpEvento', 'infEvento/cStat'],
]);

/** @returns what each invoice and event of the XML says, in order. @throws UnreadableFileError. */
export async function parseInvoices(xml: AsyncIterable<XmlEvent[]>): Promise<Parsed[]> {
  const invoices: Open[] = [];
  const protocols: Fields[] = [];
  let open: Open | undefined;
  let fields: Fields = new Map();
  let text = '';
  for await (const events of xml) {
    for (const event of events) {
      if (event.kind === 'text') {
        if (KEPT.has(`${event.around}/${event.parent}`)) text += event.text.slice(0, FIELD_CHARS_MAX + 1 - text.length);
        continue;
      }
      const { name, parent } = event;
      if (event.kind === 'open') {
        text = '';
        if (name === 'infNFe' || name === 'evento') {
          fields = new Map();
          open = { element: name, id: event.attributes.Id ?? '', fields, payments: [] };
          invoices.push(open);
        } else if (name === 'infProt' || name === 'retEvento') {
          fields = new Map();
          protocols.push(fields);
        } else if (name === 'detPag') open?.payments.push({ tag: '', amount: '', authorization: '' });
        continue;
      }
      const path = `${parent}/${name}`;
      if (KEPT.has(path)) {
        const value = text.trim();
        const payment = open?.payments.at(-1);
        if (payment && path === 'detPag/tPag') payment.tag = value;
        else if (payment && path === 'detPag/vPag') payment.amount = value;
        else if (payment && path === 'card/cAut') payment.authorization = value;
        else if (value !== '') fields.set(path, [...(fields.get(path) ?? []), value]);
      }
      text = '';
    }
  }
  if (invoices.length === 0) return [{ fault: { kind: 'none' } }];
  return invoices.map((one) => (one.element === 'infNFe' ? toInvoice(one, protocols) : toCancellation(one, protocols)));
}

const first = (fields: Fields | undefined, path: string): string | undefined => fields?.get(path)?.[0];

function toInvoice({ id, fields, payments }: Open, protocols: Fields[]): Parsed {
  const key = ID.exec(id)?.[1] ?? '';
  if (!isInvoiceKey(key)) return { fault: { kind: 'key' } };
  // a file of one invoice has one protocol, which may be another's
  const protocol = protocols.find((one) => first(one, 'infProt/chNFe') === key) ?? protocols[0];
  if (protocol && first(protocol, 'infProt/chNFe') !== key) return { fault: { kind: 'protocol' } };
  const status = first(protocol, 'infProt/cStat');
  if (!AUTHORIZED.has(status)) return { fault: { kind: 'status', value: status ?? '' } };
  if (!MODELS.has(first(fields, 'ide/mod'))) return { leftOut: 'other_model' };
  if (first(fields, 'ide/tpNF') === INCOMING) return { leftOut: 'incoming' };
  if (first(fields, 'ide/finNFe') === RETURN) return { leftOut: 'return' };
  const byPix = payments.filter(({ tag }) => PIX_TAGS.has(tag));
  if (byPix.length === 0) return { leftOut: 'not_pix' };
  const read = readFacts(key, fields, byPix);
  if ('fault' in read) return read;
  const authorizations = unique(byPix.map((one) => one.authorization));
  if (authorizations.length > AUTHORIZATIONS_MAX)
    return { fault: { kind: 'authorizations', value: AUTHORIZATIONS_MAX } };
  return { value: { key, facts: read.facts, ...(authorizations.length > 0 ? { authorizations } : {}) } };
}

/** Checks the facts as those of any source. */
function readFacts(key: string, fields: Fields, payments: Payment[]): { facts: GivenFacts } | { fault: Fault } {
  let cents = 0n;
  for (const { amount } of payments) {
    const part = parseAmount(amount);
    if (part === undefined) return { fault: { kind: 'amount' } };
    cents += part;
  }
  const issued = first(fields, 'ide/dhEmi')?.slice(0, 'YYYY-MM-DD'.length) ?? '';
  if (!isDay(issued)) return { fault: { kind: 'day' } };
  const [number, series] = [first(fields, 'ide/nNF'), first(fields, 'ide/serie')];
  const parsed = expectedFactsSchema.safeParse({
    ...{ operation: 'cashin', amount: formatAmount(cents), invoice_key: key },
    issued_day: issued,
    due_day: fields.get('dup/dVenc')?.toSorted().at(-1) ?? issued,
    references: unique(['compra/xPed', 'prod/xPed'].flatMap((path) => fields.get(path) ?? [])),
    document: first(fields, 'dest/CPF') ?? first(fields, 'dest/CNPJ') ?? null,
    name: first(fields, 'dest/xNome') ?? null,
    description: number === undefined ? null : `NF-e ${number}${series === undefined ? '' : `/${series}`}`,
  });
  if (parsed.success) return { facts: parsed.data };
  const [issue] = parsed.error.issues;
  const value = SOURCES[String(issue?.path[0])] ?? '';
  return { fault: { kind: 'field', value, said: saidOfRule(issue?.message ?? '') } };
}

function toCancellation({ fields }: Open, protocols: Fields[]): Parsed {
  const key = first(fields, 'infEvento/chNFe') ?? '';
  if (first(fields, 'infEvento/tpEvento') !== CANCELS) return { leftOut: 'other_event' };
  if (!isInvoiceKey(key)) return { fault: { kind: 'key' } };
  const answer = protocols.find((one) => first(one, 'infEvento/chNFe') === key);
  const status = first(answer, 'infEvento/cStat');
  return REGISTERED.has(status) ? { value: { cancels: key } } : { fault: { kind: 'status', value: status ?? '' } };
}

function unique(texts: string[]): string[] {
  return [...new Set(texts.filter((text) => text !== ''))];
}
