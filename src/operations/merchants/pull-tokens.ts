/** Tokens that merchants fetch their events with. */
import { z } from 'zod';
import { issuePullToken, revokePullToken } from '../../merchants/pull-token.ts';
import { type Change, defineChange } from '../define-change.ts';
import { ended, ok } from '../describe-operation.ts';
import { parsedInstant } from '../fields.ts';
import { pullToken } from '../rows/merchants.ts';

const ofToken = { roles: ['admin'], refuses: ['merchant_unknown'] } as const satisfies Partial<Change>;

export const givePullToken = defineChange({
  ...ofToken,
  name: 'merchants.give_pull_token',
  audit: 'merchant.pull_token_given',
  route: 'POST /merchants/{id}/pull-token',
  summary: 'Give it a token for /events',
  input: z.strictObject({ expires_at: parsedInstant.describe('default: it does not end by itself') }).partial(),
  answers: ok('Shown this once', pullToken),
  change: (inner, { expires_at: expiresAt }, { id }) => issuePullToken(inner, id, expiresAt),
  target: (_token, { id }) => id,
  answer: async (_context, token, { given, by }) => ({
    ...{ id: by.id, token, expires_at: given.expires_at?.toISOString() ?? null },
  }),
});

export const endPullToken = defineChange({
  ...ofToken,
  name: 'merchants.revoke_pull_token',
  audit: 'merchant.pull_token_revoked',
  route: 'DELETE /merchants/{id}/pull-token',
  chosenBy: 'revoke',
  summary: 'End its token for /events',
  answers: ended('Ended'),
  change: (inner, _given, { id }) => revokePullToken(inner, id),
});
