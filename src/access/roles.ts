/** What callers of the API and of the console may do. A merchant has no role here: its token opens its own events alone. */
export const ROLES = ['viewer', 'accountant', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whose part each role can take: accountants and operators are viewers who see people, and do different things. */
const MAY: Record<Role, readonly Role[]> = {
  viewer: ['viewer'],
  accountant: ['viewer', 'accountant'],
  operator: ['viewer', 'operator'],
  admin: ROLES,
};

/** Whether a role may do what at least one of these may. */
export function mayActAs(role: Role, ...needed: Role[]): boolean {
  return needed.some((one) => MAY[role].includes(one));
}

/** Whether a role sees names, documents, phones, e-mails and PIX keys as they are; each look is audited. */
export function maySeePersons(role: Role): boolean {
  return mayActAs(role, 'accountant', 'operator');
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
