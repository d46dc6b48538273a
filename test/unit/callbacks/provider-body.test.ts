import fc from 'fast-check';
import { expect, test } from 'vitest';
import { providerBodySchema } from '../../../src/callbacks/render/event-schema.ts';
import { toProviderBody } from '../../../src/callbacks/render/provider-body.ts';
import { parseItems } from '../../../src/inbox/receive/parse-items.ts';
import { propertyOptions } from '../../support/property.ts';

const ID = '0b6f8d1e-6c5b-4a51-9a0e-0e8f5c1f7d11';
const transaction = {
  ...{
    id: ID,
    operation: 'cashin',
    status: 'paid',
    amount: '150.00',
    reference: 'pedido-1042',
    extra: '{"store":"12"}',
  },
  ...{ e2e_id: null, status_at: '2026-11-21T08:00:00-03:00', name: 'Maria' },
};
const body = (type: string, data: object) => ({ type, timestamp: '2026-11-21T08:00:00-03:00', data });

test('an event becomes the body that the provider posts, which our own receiver reads', () => {
  const flat = toProviderBody(body('pix.cashin.paid', { transaction }), 'msg_1');
  expect(flat).toEqual({
    id: expect.any(Number),
    transaction_id: ID,
    transaction_amount: '150.00',
    transaction_e2e_id: '',
    transaction_operation: 'in',
    transaction_reference: 'pedido-1042',
    extra: '{"store":"12"}',
    date_created: '2026-11-21 08:00:00',
    status: 'paid',
    path: `/api/v1/transaction/${ID}`,
  });
  expect(parseItems(flat)).toEqual([
    {
      ...{ transactionId: ID, reference: 'pedido-1042', extra: '{"store":"12"}' },
      ...{ claimedStatus: 'paid', claimedAmountCents: 15000n },
    },
  ]);
});

test('a message without a body of the provider has none, and a test has one that pays nothing', () => {
  expect(toProviderBody(body('pix.cashin.corrected', { transaction, before: {}, after: {} }), 'msg_1')).toBeUndefined();
  expect(toProviderBody(body('pix.day.manifest', { manifest: {} }), 'msg_1')).toBeUndefined();
  expect(toProviderBody(body('confere.test', { message: 'A test.' }), 'msg_1')).toMatchObject({
    ...{ transaction_amount: '0.00', transaction_reference: 'confere.test', status: 'pending' },
  });
});

test('the number of a message is the same each time, exact in every language, and another one for another message', () => {
  const anyId = fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(anyId, ([one = '', other = '']) => {
      const [first, again, second] = [one, one, other].map(
        (id) => toProviderBody(body('pix.cashin.paid', { transaction }), id)?.id,
      );
      expect(Number.isSafeInteger(first)).toBe(true);
      expect(first).toBe(again);
      expect(first).not.toBe(second);
    }),
    propertyOptions(20, 1000),
  );
});

test('the schema of the body names each of its fields', () => {
  const flat = toProviderBody(body('pix.cashin.paid', { transaction }), 'msg_1');
  expect(providerBodySchema.strict().parse(flat)).toEqual(flat);
});
