import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { lacksClaims, readPerson } from '../../../src/oidc/read-person.ts';

const OIDC = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'confere', PUBLIC_URL: 'https://confere.example' };

/** Reads a person by the rules of an environment. */
function read(claims: Record<string, unknown>, env: Record<string, string> = {}) {
  const config = readConfig({ ...OIDC, OIDC_ROLES: 'finance=accountant, sre=operator, admins=admin', ...env });
  const names = { groups: config.OIDC_GROUPS_CLAIM, name: config.OIDC_NAME_CLAIM };
  return readPerson({ sub: 's', ...claims }, { issuer: 'i', names, rules: config.OIDC_ROLES ?? [] });
}

test.each([
  [['finance'], 'accountant'],
  [['sre', 'finance'], 'operator'],
  [['finance', 'admins', 'sre'], 'admin'],
  ['finance', 'accountant'],
  [['football'], undefined],
  [['Finance'], undefined],
  [[], undefined],
  [['*'], undefined],
  [undefined, undefined],
  [null, undefined],
  [{ finance: true }, undefined],
  [[{ name: 'admins' }, 7, 'finance'], 'accountant'],
])('groups %j have the role %s: the highest that one of them has', (groups, role) => {
  expect(read({ groups })?.role).toBe(role);
});

test('everybody has a role where * is mapped, and a group can give a higher one', () => {
  const env = { OIDC_ROLES: '*=viewer, admins=admin' };
  expect(read({}, env)?.role).toBe('viewer');
  expect(read({ groups: ['admins'] }, env)?.role).toBe('admin');
});

test('a group can hold spaces and equals signs, and stand in several claims or within one', () => {
  expect(read({ groups: ['CN=TI Pagamentos'] }, { OIDC_ROLES: 'CN=TI Pagamentos=operator' })?.role).toBe('operator');
  const nested = { OIDC_GROUPS_CLAIM: 'realm_access.roles' };
  expect(read({ realm_access: { roles: ['sre'] } }, nested)?.role).toBe('operator');
  expect(read({ 'realm_access.roles': ['sre'] }, nested)?.role).toBe('operator');
  expect(read({ realm_access: 'sre' }, nested)?.role).toBeUndefined();
  const google = { OIDC_GROUPS_CLAIM: 'hd, email', OIDC_ROLES: 'example.com=viewer, ana@example.com=admin' };
  expect(read({ hd: 'example.com' }, google)?.role).toBe('viewer');
  expect(read({ hd: 'example.com', email: 'ana@example.com', email_verified: true }, google)?.role).toBe('admin');
});

test('an e-mail that the issuer has not verified is no group', () => {
  const env = { OIDC_GROUPS_CLAIM: 'email', OIDC_ROLES: 'ana@example.com=admin' };
  expect(read({ email: 'ana@example.com' }, env)?.role).toBeUndefined();
  expect(read({ email: 'ana@example.com', email_verified: false }, env)?.role).toBeUndefined();
});

test('a claim of the object itself is not inherited', () => {
  expect(read({}, { OIDC_GROUPS_CLAIM: 'constructor.name', OIDC_ROLES: 'Object=admin' })?.role).toBeUndefined();
});

test('a name is the claim that is configured, else a usual one, else the subject, without control characters', () => {
  expect(read({ name: 'Ana', nick: 'Aninha' }, { OIDC_NAME_CLAIM: 'nick' })?.name).toBe('Aninha');
  expect(read({ name: 'Ana' }, { OIDC_NAME_CLAIM: 'nick' })?.name).toBe('Ana');
  expect(read({ preferred_username: 'ana.s' })?.name).toBe('ana.s');
  expect(read({ name: ' \u0000 ', email: 'a@b' })?.name).toBe('a@b');
  expect(read({})?.name).toBe('s');
  expect(read({ name: 'Ana\u202eazuoS\n' })?.name).toBe('AnaazuoS');
  expect(read({ name: 'x'.repeat(500) })?.name).toHaveLength(200);
});

test('a subject that the standard does not allow names nobody', () => {
  expect(read({ sub: 'x'.repeat(256) })).toBeUndefined();
  expect(read({ sub: '' })).toBeUndefined();
  expect(read({ sub: 7 })).toBeUndefined();
});

test('more claims are asked for where a name or a group claim is missing', () => {
  const names = { groups: ['groups'], name: 'name' };
  expect(lacksClaims({ name: 'Ana', groups: [] }, names)).toBe(false);
  expect(lacksClaims({ name: 'Ana' }, names)).toBe(true);
  expect(lacksClaims({ groups: [] }, names)).toBe(true);
});

test.each([
  [{ _claim_names: { groups: 'src1' } }, true],
  [{ _claim_names: { groups: 'src1' }, groups: ['finance'] }, false],
  [{ _claim_names: { address: 'src1' } }, false],
  [{ _claim_names: 'groups' }, false],
  [{ _claim_names: null }, false],
  [{ _claim_names: JSON.parse('{"__proto__": {"groups": "src1"}}') }, false],
  [{}, false],
])('claims %j lack groups because the issuer sent a reference: %s', (claims, lacks) => {
  expect(read(claims)?.lacksGroups).toBe(lacks);
});
