import { ROLES, type Role } from '../access/roles.ts';
import type { Person } from '../access/users.ts';
import { EVERYBODY, type RoleRule } from '../config/oidc-fields.ts';

const NAME_CHARS_MAX = 200;
/** The standard's limit. */
const SUBJECT_CHARS_MAX = 255;
/** Claims that name a person where the configured one is missing. */
const NAMES = ['name', 'preferred_username', 'email'];

export type Claims = Record<string, unknown>;
export type ClaimNames = { groups: readonly string[]; name: string };
/** `lacksGroups`: the issuer sent a reference in place of a claim of groups, which can give no role. */
export type KnownPerson = Person & { lacksGroups: boolean };

/** Whether these claims lack a name or groups, which the userinfo endpoint may have. */
export function lacksClaims(claims: Claims, names: ClaimNames): boolean {
  return (
    readName(claims, names.name) === undefined || names.groups.some((name) => readClaim(claims, name) === undefined)
  );
}

/**
 * Reads the person of an ID token. The role is the highest of all rules that a group of theirs fits, in the order of `ROLES`.
 * @returns undefined for a subject that is longer than the standard allows.
 */
export function readPerson(
  claims: Claims,
  { issuer, names, rules }: { issuer: string; names: ClaimNames; rules: readonly RoleRule[] },
): KnownPerson | undefined {
  const subject = typeof claims.sub === 'string' ? claims.sub : '';
  if (subject === '' || subject.length > SUBJECT_CHARS_MAX) return undefined;
  const name = readName(claims, names.name) ?? subject;
  const role = decideRole(readGroups(claims, names), rules);
  return { issuer, subject, name: name.slice(0, NAME_CHARS_MAX), role, lacksGroups: lacksGroups(claims, names) };
}

/** Whether a claim of groups is missing and stands in `_claim_names`: Entra ID does that from 200 groups of a person on. */
function lacksGroups(claims: Claims, { groups }: ClaimNames): boolean {
  return groups.some(
    (name) => readClaim(claims, name) === undefined && readMember(claims._claim_names, name) !== undefined,
  );
}

function decideRole(groups: ReadonlySet<string>, rules: readonly RoleRule[]): Role | undefined {
  const fitting = rules.filter(({ group }) => group === EVERYBODY || groups.has(group)).map(({ role }) => role);
  return ROLES.findLast((role) => fitting.includes(role));
}

/** The values of all group claims: each a text or a list of texts. Texts of other kinds count for nothing. */
function readGroups(claims: Claims, { groups }: ClaimNames): Set<string> {
  const values = groups.flatMap((name): unknown[] => {
    // anybody can write any address into an account, until the issuer has verified it
    if (name === 'email' && String(claims.email_verified) !== 'true') return [];
    const value = readClaim(claims, name);
    return Array.isArray(value) ? value : [value];
  });
  return new Set(values.filter((value) => typeof value === 'string' && value !== EVERYBODY) as string[]);
}

/** A claim by its name, or by a path such as `realm_access.roles`. */
function readClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) value = readMember(value, part);
  return value;
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Claims)[name]
    : undefined;
}

function readName(claims: Claims, claim: string): string | undefined {
  for (const name of [claim, ...NAMES]) {
    const value = readClaim(claims, name);
    // control and direction characters could make one name appear as another
    const text = typeof value === 'string' ? value.replaceAll(/\p{C}/gu, '').trim() : '';
    if (text !== '') return text;
  }
  return undefined;
}
