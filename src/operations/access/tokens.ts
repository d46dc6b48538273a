/** Tokens, which open the API and the console, or the portal of one merchant. */
import { z } from 'zod';
import { TOKEN_ROLES } from '../../access/roles.ts';
import { createToken, listTokens, revokeToken, TOKEN_NAME_CHARS_MAX } from '../../access/tokens.ts';
import { expectedSource } from '../../expected/expected-fields.ts';
import { defineChange } from '../define-change.ts';
import { defineList } from '../define-list.ts';
import { created, ended } from '../describe-operation.ts';
import { instant } from '../fields.ts';
import { newToken, token } from '../rows/access.ts';

const SOURCES_MAX = 20;
/** The sources of a merchant's token. */
export const tokenSources = z
  .array(expectedSource, 'must be a list of sources')
  .max(SOURCES_MAX, `must have at most ${SOURCES_MAX}`);

export const addToken = defineChange({
  name: 'tokens.create',
  roles: ['admin'],
  route: 'POST /tokens',
  summary: 'Create a token',
  input: z.object({
    name: z.string().min(1).max(TOKEN_NAME_CHARS_MAX).default('unnamed'),
    role: z.enum(TOKEN_ROLES, `must be one of ${TOKEN_ROLES.join(', ')}`),
    merchant: z.string().optional().describe('with the role merchant: whose portal it opens'),
    sources: tokenSources.optional().describe('with the role merchant: whose expected payments it reads and writes'),
    expires_at: instant.nullable().optional().describe('when it ends; null: never'),
  }),
  answers: created('Its text is shown this once', newToken),
  change: (inner, { expires_at: expiresAt, ...request }) =>
    createToken(inner, { ...request, expiresAt: expiresAt ? new Date(expiresAt) : undefined }),
  target: ({ id }) => id,
  answer: async (_context, made) => made,
});

export const revokeOneToken = defineChange({
  name: 'tokens.revoke',
  roles: ['admin'],
  route: 'DELETE /tokens/{id}',
  summary: 'Revoke a token',
  answers: ended('Revoked'),
  refuses: ['token_unknown'],
  change: (inner, _given, { id }) => revokeToken(inner, id),
});

export const tokens = defineList({
  name: 'tokens',
  roles: ['admin'],
  route: '/tokens',
  row: token,
  read: (reading, { limit, after }) => listTokens(reading, limit, after),
});
