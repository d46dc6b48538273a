import { formatAmount } from '../../domain/money.ts';
import { hashLeaf } from '../../tlog/merkle.ts';
import { formatCheckpoint, formatProof, signNote } from '../../tlog/note.ts';
import { digestIds, digestMessages, writeStatement } from './build-statement.ts';
import { showManifest } from './render-manifests.ts';
import { EXPECTED_TYPE, MANIFEST_TYPE } from './renderable.ts';

const NOTHING = '00000000-0000-4000-8000-000000000000';
const CORRECTED = 'corrected';

/** Invents the body of an example: nobody's payment, in the form of its type. Pure. @param at an instant, as bodies have it. */
export function inventExample(type: string, at: string): object {
  return { type, timestamp: at, data: inventData(type, at) };
}

function inventData(type: string, at: string): object {
  if (type === MANIFEST_TYPE) return inventManifest(at);
  if (type.startsWith(EXPECTED_TYPE)) return { expected_payment: inventOrder(type.slice(EXPECTED_TYPE.length), at) };
  const [, operation = 'cashin', end = 'paid'] = type.split('.');
  const status = end === CORRECTED ? 'paid' : end;
  const previous = status === 'pending' ? null : 'pending';
  const shared = { operation, status, status_at: at, commission: '0.10', reference: 'exemplo-1', platform: null };
  const transaction = {
    ...{ id: NOTHING, ...shared, amount: '10.00', net: operation === 'cashin' ? '9.90' : '10.10', currency: 'BRL' },
    ...{ extra: null, e2e_id: null, pix_key: null, name: 'Pessoa de Exemplo', email: null, phone: null },
    ...{ document: null, description: null, created_at: at, sequence: previous === null ? 1 : 2 },
    current_status: status,
  };
  const data = { transaction, previous_status: previous, source: 'reconciliation' };
  if (end !== CORRECTED) return data;
  return { ...data, before: { ...shared, amount: '12.00' }, after: { ...shared, amount: '10.00' } };
}

const ORDER_CENTS = 10_00n;
/** The parts of payments, in cents, with which an order of ORDER_CENTS has a state; those that are not here have none. */
const PARTS: Partial<Record<string, { settled?: bigint[]; returned?: bigint[] }>> = {
  paid: { settled: [10_00n] },
  underpaid: { settled: [6_00n] },
  overpaid: { settled: [12_00n] },
  paid_twice: { settled: [10_00n, 10_00n] },
  refunded: { returned: [10_00n] },
  partly_refunded: { settled: [6_00n], returned: [4_00n] },
  paid_after_cancel: { settled: [10_00n] },
};

function inventOrder(state: string, at: string): object {
  const day = at.slice(0, 'YYYY-MM-DD'.length);
  const { settled = [], returned = [] } = PARTS[state] ?? {};
  const [paid, refunded] = [sum(settled), sum(returned)];
  return {
    ...{ id: `ep_${'0'.repeat(32)}`, source: 'exemplo', number: '1', operation: 'cashin' },
    ...{ amount: formatAmount(ORDER_CENTS), currency: 'BRL', due_day: day, issued_day: day, valid_until: null },
    ...{
      platform: null,
      references: ['exemplo-1'],
      e2e_ids: [],
      extra: null,
      document: null,
      name: 'Pessoa de Exemplo',
    },
    ...{ description: null, invoice_key: null, revised_at: null, version: 1, created_at: at },
    ...{ state, reason_code: state === 'open' || state === 'paid' ? null : state, state_at: at, sequence: 1 },
    ...{ paid: formatAmount(paid), refunded: formatAmount(refunded), difference: formatAmount(paid - ORDER_CENTS) },
    matches: [...settled, ...returned].map((cents, index) => ({
      ...{ transaction_id: `${NOTHING.slice(0, -1)}${index}`, amount: formatAmount(cents), rule: 'reference' },
    })),
    ...{ current_state: state, disputed: false },
  };
}

function sum(parts: bigint[]): bigint {
  return parts.reduce((total, cents) => total + cents, 0n);
}

/** A day without messages, in a log of that alone. No key signs it: an example must never verify. */
function inventManifest(at: string): object {
  const facts = {
    ...{ merchant: `mer_${'0'.repeat(24)}`, day: at.slice(0, 'YYYY-MM-DD'.length), zone: 'America/Sao_Paulo' },
    ...{ messages: 0, types: [], idsDigest: digestIds([]), proven: false, closed: false },
  };
  const revision = { revision: 1, madeAt: new Date(at), chain: undefined, messagesDigest: digestMessages([]) };
  const payload = writeStatement(facts, { ...revision, salt: '0'.repeat(32) });
  const checkpoint = formatCheckpoint({ origin: 'exemplo', size: 1, root: hashLeaf(payload) });
  return showManifest(payload, { proof: formatProof(0, [], signNote(checkpoint, [])) });
}
