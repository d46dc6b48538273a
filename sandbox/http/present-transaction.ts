import { createHash } from 'node:crypto';
import type { Settings } from '../context.ts';
import { formatCents } from '../domain/money.ts';
import type { Switches } from '../faults/switches.ts';
import { drawQrCode } from '../pix/draw-qr-code.ts';
import { writeBrCode } from '../pix/write-br-code.ts';
import type { StoredTransaction } from '../store/tables.ts';

const CHARGE_HOST = 'pix.sandbox.example';
const MERCHANT = { name: 'CONFERE SANDBOX', city: 'SAO PAULO' };

/** Where a transaction is shown: in the answer to its creation, by its id, or in the list. */
export type View = 'creation' | 'show' | 'list';
export type PresentedTransaction = Record<string, unknown>;

/** Returns a transaction in the provider's JSON form, with the deviations that the switches set. Pure. */
export function presentTransaction(
  transaction: StoredTransaction,
  view: View,
  { settings, switches }: { settings: Settings; switches: Switches },
): PresentedTransaction {
  const shown: PresentedTransaction = {
    id: transaction.id,
    operation: transaction.operation,
    status: transaction.status,
    amount: showAmount(transaction, switches.rows),
    commission: formatCents(transaction.commission_cents),
    date_created: transaction.created_wall,
    finished: '',
    name: transaction.name,
    email: transaction.email,
    phone: transaction.phone,
    document: transaction.document,
    description: transaction.description,
    platform: transaction.platform,
    reference: transaction.reference ?? '',
    extra: transaction.extra ?? '',
    ...(transaction.operation === 'cashin'
      ? { e2e_id: transaction.e2e_id, ...paymentOf(transaction, settings) }
      : { ...cashoutE2e(transaction, view, switches), pix_key: transaction.pix_key ?? '' }),
    events: transaction.events,
  };
  if (transaction.shown !== null) applyOverrides(shown, transaction.shown);
  return withoutEmpty(shown, switches.rows.empty_as);
}

/** Returns the text of a cashin's QR code. It does not depend on the address that the sandbox listens on. */
export function brCodeOf(transaction: StoredTransaction): string {
  const location = `${CHARGE_HOST}/qr/v2/${transaction.id.replaceAll('-', '')}`;
  return writeBrCode({ location, amount: formatCents(transaction.amount_cents), ...MERCHANT });
}

/** Returns the QR code of a text as a data URI of a PNG. */
export function qrImageOf(text: string): string {
  return `data:image/png;base64,${drawQrCode(text)}`;
}

function paymentOf(transaction: StoredTransaction, { checkoutUrl }: Settings): PresentedTransaction {
  const qr_code = brCodeOf(transaction);
  return { payment_link: `${checkoutUrl}/transaction/${transaction.id}`, qr_code, qr_code_image: qrImageOf(qr_code) };
}

function cashoutE2e({ e2e_id }: StoredTransaction, view: View, { rows }: Switches): PresentedTransaction {
  return view === 'creation' || rows.cashout_e2e === 'always' ? { e2e_id } : {};
}

function showAmount({ id, amount_cents }: StoredTransaction, rows: Switches['rows']): unknown {
  const plain = formatCents(amount_cents);
  if (rows.odd_amounts === 0 || shareOf(id) >= rows.odd_amounts) return plain;
  switch (rows.odd_form) {
    case 'no_decimals':
      return plain.slice(0, -3);
    case 'one_decimal':
      return plain.slice(0, -1);
    case 'comma':
      return plain.replace('.', ',');
    case 'many_decimals':
      return `${plain}00`;
    case 'number':
      return Number(plain);
    case 'signed':
      return `+${plain}`;
  }
}

/** Returns a number from 0 to 1 for an id, so that the same rows always deviate. */
function shareOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;
}

/** Replaces the fields that an admin overrides; `{"$missing": true}` removes one. */
function applyOverrides(shown: PresentedTransaction, patch: string): void {
  const fields: Record<string, unknown> = JSON.parse(patch);
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'object' && value !== null && '$missing' in value) delete shown[field];
    else shown[field] = value;
  }
}

const ALWAYS = new Set(['id', 'operation', 'status', 'amount', 'date_created']);

function withoutEmpty(shown: PresentedTransaction, empty: Switches['rows']['empty_as']): PresentedTransaction {
  if (empty === 'empty') return shown;
  const out: PresentedTransaction = {};
  for (const [field, value] of Object.entries(shown)) {
    if (value !== '' || ALWAYS.has(field)) out[field] = value;
    else if (empty === 'null') out[field] = null;
  }
  return out;
}
