import type { Response } from 'express';
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { canSeePersonalData, getActor } from './authorize.ts';

/** Audits an access to personal data, before the response is sent. A viewer sees it masked and is not audited. */
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
