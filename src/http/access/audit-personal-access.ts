import type { Response } from 'express';
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { canSeePersonalData, getActor } from './authorize.ts';

/** Writes down that somebody sees personal data, before they do; whoever sees it masked leaves no trace. */
export async function auditPersonalAccess(
  context: Context,
  response: Response,
  action: string,
  target: string,
  detail?: string,
): Promise<void> {
  if (!canSeePersonalData(response)) return;
  await audit(context, { actor: getActor(response), action, target, ...(detail === undefined ? {} : { detail }) });
}
