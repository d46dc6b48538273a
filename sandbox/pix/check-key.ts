import { isCnpj, isCpf } from './check-document.ts';

export const KEY_TYPES = ['CPF', 'PHONE', 'EMAIL', 'EVP', 'CNPJ'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

const PHONE = /^\+55[1-9]\d(?:9\d{8}|[2-5]\d{7})$/;
const EMAIL = /^[a-z0-9.!#$'*+/=?^_`{|}~&-]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i;
const EVP = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// limit of the PIX key directory
const EMAIL_LENGTH_MAX = 77;

/** Returns whether a PIX key has the form of its type. */
export function isValidKey(type: KeyType, key: string): boolean {
  switch (type) {
    case 'CPF':
      return isCpf(key);
    case 'CNPJ':
      return isCnpj(key);
    case 'PHONE':
      return PHONE.test(key);
    case 'EMAIL':
      return key.length <= EMAIL_LENGTH_MAX && EMAIL.test(key);
    case 'EVP':
      return EVP.test(key);
  }
}
