/** Roles of the API and the console. A merchant has none of them: its tokens give access to its own data only. */
export const ROLES = ['viewer', 'accountant', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Uses of a token: a role, or the login of one merchant, which opens its portal alone. */
export const TOKEN_ROLES = [...ROLES, 'merchant'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** The roles that each role includes. Accountants and operators are viewers who see personal data. */
const MAY: Record<Role, readonly Role[]> = {
  viewer: ['viewer'],
  accountant: ['viewer', 'accountant'],
  operator: ['viewer', 'operator'],
  admin: ROLES,
};

/** Whether a role includes at least one of these. */
export function mayActAs(role: Role, ...needed: Role[]): boolean {
  return needed.some((one) => MAY[role].includes(one));
}

/** Whether a role sees names, documents, phones, e-mails and PIX keys unmasked. Each access is audited. */
export function maySeePersons(role: Role): boolean {
  return mayActAs(role, 'accountant', 'operator');
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
