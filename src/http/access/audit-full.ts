import type { Response } from 'express';
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { actorOf, seesPersons } from './authorize.ts';

/** Writes down that somebody sees personal data, before they do; whoever sees it masked leaves no trace. */
export async function auditFull(
  context: Context,
  response: Response,
  action: string,
  target: string,
  detail?: string,
): Promise<void> {
  if (!seesPersons(response)) return;
  await audit(context, { actor: actorOf(response), action, target, ...(detail === undefined ? {} : { detail }) });
}
