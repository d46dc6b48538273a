/** Links that are mailed for a change of address. Nothing of one is stored: it is derived from the change by a key of this installation. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { auditChange } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { refuse } from '../texts/refuse.ts';
import {
  type AddressChange,
  type AddressDecision,
  agreeByLink,
  decideAddressChange,
  listWaiting,
  nameChange,
} from './address-changes.ts';

/** `agree`: of the e-mail on file; `prove`: of the new e-mail. */
export type LinkSide = 'agree' | 'prove';
export type AddressLink = { change: AddressChange; side: LinkSide };

const FORM = /^(mac_[0-9a-f]{24})\.(agree|prove)\.([A-Za-z0-9_-]{43})$/;

export function formatLink({ config, keys }: Context, change: AddressChange, side: LinkSide): string {
  return `${config.PUBLIC_URL}/portal/confirm?token=${change.id}.${side}.${digest({ keys }, change, side)}`;
}

/** A link is void once the e-mail on file has changed: it was mailed to the one before. */
function digest({ keys }: Pick<Context, 'keys'>, { id, email }: AddressChange, side: LinkSide): string {
  const facts = ['address link', id, side, email];
  return createHmac('sha256', keys.callbackIds).update(JSON.stringify(facts)).digest('base64url');
}

/** @returns the change that a link confirms; undefined once it is used or void, or while operators pause the merchant: an admin decides then. */
export async function findLink(context: Context, token: string): Promise<AddressLink | undefined> {
  const [, id = '', name, mac = ''] = FORM.exec(token) ?? [];
  const side = name === 'prove' ? 'prove' : 'agree';
  const [change] = id === '' ? [] : await listWaiting(context, context.db, { id });
  if (!change || change[side === 'agree' ? 'agreed_at' : 'proven_at'] !== null) return undefined;
  if (change.state === 'paused' && change.paused_by !== 'merchant') return undefined;
  return timingSafeEqual(Buffer.from(mac), Buffer.from(digest(context, change, side))) ? { change, side } : undefined;
}

/** Confirms or refuses by a link, once. @returns whether the change is applied. @throws ConfereError `not_found` as `findLink` finds none. */
export async function useLink(context: Context, token: string, decision: AddressDecision): Promise<boolean> {
  let [action, detail] = ['', ''];
  const work = async (inner: Context): Promise<boolean> => {
    const link = await findLink(inner, token);
    if (!link) throw refuse('address_change_unknown');
    const { id, merchant } = link.change;
    if (decision === 'refuse') await decideAddressChange(inner, merchant, { id, decision });
    const isApplied = decision === 'confirm' && (await agreeByLink(inner, { id, merchant, side: link.side }));
    detail = nameChange(link.change).join(' ');
    action = decision === 'refuse' ? 'refused' : isApplied ? 'changed' : 'agreed';
    return isApplied;
  };
  const [id = ''] = token.split('.');
  return await auditChange(context, work, () => ({
    ...{ actor: 'mailed-link', action: `merchant.address_${action}`, target: id, detail },
  }));
}
