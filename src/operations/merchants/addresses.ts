/** Changes of address that merchants ask for in their portal, for admins. */
import { z } from 'zod';
import { mayActAs } from '../../access/roles.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import {
  ADDRESS_DECISIONS,
  decideAddressChange,
  listWaiting,
  nameChange,
  presentAddressChange,
} from '../../portal/address-changes.ts';
import { defineChange } from '../define-change.ts';
import { defineItem } from '../define-item.ts';
import { ok } from '../describe-operation.ts';
import { addressChange, addressChanges } from '../rows/merchants.ts';

export const decideAddress = defineChange({
  roles: ['admin'],
  refuses: ['merchant_unknown', 'address_change_unknown'],
  name: 'merchants.decide_address',
  audit: 'merchant.address_decided',
  route: 'POST /merchants/{id}/address-changes',
  summary: 'Confirm or refuse a change of address that it asked for in its portal',
  input: z.strictObject({ change: z.string(), decision: z.enum(ADDRESS_DECISIONS) }),
  answers: ok('Decided: the change as it was', addressChange),
  change: (inner, { change: one, decision }, { id }) => decideAddressChange(inner, id, { id: one, decision }),
  target(made, { via }, { decision }) {
    return { target: made.id, detail: [via, decision, ...nameChange(made)].filter(Boolean).join(' ') };
  },
  answer: async (_context, change) => presentAddressChange(change),
});

export const merchantAddressChanges = defineItem({
  route: '/merchants/{id}/address-changes',
  summary: 'Its changes of address that wait',
  item: addressChanges,
  async read(context, { id, caller }) {
    await findMerchant(context.db, id);
    const shows = mayActAs(caller.role, 'operator');
    const waiting = (await listWaiting(context, context.db, { merchant: id })).map(presentAddressChange);
    return { address_changes: waiting.map((one) => (shows ? one : { ...one, value: null, old_value: null })) };
  },
});
