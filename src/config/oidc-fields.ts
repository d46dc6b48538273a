/** Variables of the login by the company's account (OpenID Connect). */
import { z } from 'zod';
import { fault, isLoopbackName, listText, secret } from './fields.ts';

const ROLE_NAMES = ['viewer', 'accountant', 'operator', 'admin'] as const;

/** A role for everybody in a group. */
export type RoleRule = { group: string; role: (typeof ROLE_NAMES)[number] };

/** The group of everybody whom the issuer lets log in. */
export const EVERYBODY = '*';

/** Plain http only to this machine: anybody on the network can read and change such an answer. */
const issuerAddress = z.string().transform((text, context): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'http:' && !isLoopbackName(url.hostname);
  if (!url || isPlain || !['https:', 'http:'].includes(url.protocol))
    return fault(
      context,
      'must be an https address (http: only on this machine): https://id.example.com/realms/company',
    );
  if (url.username || url.password || url.search || url.hash || url.pathname.includes('/.well-known/'))
    return fault(context, 'must be the issuer alone, without user, query, fragment or /.well-known/');
  return text;
});

/** `openid profile groups` → the scopes. */
const scopeList = z.string().transform((text, context): string[] => {
  const scopes = text.trim().split(/\s+/);
  const fits = scopes.includes('openid') && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  return fits ? scopes : fault(context, 'must be scopes with spaces, openid among them: openid profile groups');
});

/** `groups`, or several with commas → names of claims. */
const claimList = listText((name) => name || undefined, 'must be names of claims with commas: groups');

/** `finance=accountant, admins=admin, *=viewer` → rules. A group may contain `=`, but no comma. */
const roleRules = z.string().transform((text, context): RoleRule[] => {
  const rules = text.split(',').map((part) => /^(.+)=([^=]+)$/.exec(part)?.map((one) => one.trim()));
  const known = rules.flatMap((match): RoleRule[] => {
    const role = ROLE_NAMES.find((name) => name === match?.[2]);
    return role && match?.[1] ? [{ group: match[1], role }] : [];
  });
  if (known.length === rules.length) return known;
  return fault(context, `must be groups with one of ${ROLE_NAMES.join(', ')}: finance=accountant, admins=admin`);
});

export const oidcFields = {
  OIDC_ISSUER: issuerAddress.optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  /** Without it Confere is a public client; PKCE protects the code either way. */
  OIDC_CLIENT_SECRET: secret(z.string().min(1)).optional(),
  OIDC_SCOPES: scopeList.prefault('openid profile'),
  OIDC_GROUPS_CLAIM: claimList.prefault('groups'),
  OIDC_ROLES: roleRules.optional(),
  OIDC_NAME_CLAIM: z.string().min(1).default('name'),
};
