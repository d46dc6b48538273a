import { z } from 'zod';
import { ROLES, TOKEN_ROLES } from '../../access/roles.ts';
import { component, instant, nullableInstant, nullableText } from './row-fields.ts';

const tokenFields = { id: z.string(), role: z.enum(TOKEN_ROLES) };

export const token = component('Token', {
  ...tokenFields,
  name: z.string(),
  merchant: z.string().nullable().describe('whose portal it opens'),
  sources: z.array(z.string()).describe('a merchant’s: whose expected payments it reads and writes'),
  state: z.enum(['live', 'expired', 'revoked']),
  created_at: instant,
  expires_at: nullableInstant,
  last_used_at: nullableInstant.describe('to the minute'),
  revoked_at: nullableInstant,
});

export const newToken = component('NewToken', {
  ...tokenFields,
  token: z.string().describe('shown this once'),
  merchant: z.string().optional().describe('with the role merchant'),
  sources: z.array(z.string()).optional().describe('where it has some'),
  expires_at: instant.optional().describe('where it expires'),
});

export const user = z.object({
  id: z.string(),
  ...{ name: nullableText, issuer: z.string(), subject: nullableText, role: z.enum(ROLES).nullable() },
  ...{ sessions: z.int().describe('open ones'), created_at: instant, last_login_at: instant },
});

export const auditRow = component('AuditRow', {
  id: z.string(),
  at: instant,
  actor: z.string().describe('the id of a token or a user; admin, command: without one'),
  actor_name: z.string().nullable().describe("the token's or the user's name; null if it is not known any more"),
  action: z.string(),
  target: z.string(),
  detail: z.string().nullable(),
});
