/** State, month, issuer (which may have letters), model, series, number, form, code and check digit. */
const KEY = /^\d{6}[0-9A-Z]{12}\d{26}$/;
const WEIGHT_MAX = 9;
const WEIGHT_MIN = 2;
const MODULUS = 11;
const ZERO = '0'.charCodeAt(0);

/** Whether a text is the access key of an NF-e: 44 characters, the last of which checks the others. */
export function isInvoiceKey(text: string): boolean {
  if (!KEY.test(text)) return false;
  let sum = 0;
  let weight = WEIGHT_MIN;
  for (let at = text.length - 2; at >= 0; at--) {
    // a letter counts as its code less that of zero, as in a CNPJ
    sum += (text.charCodeAt(at) - ZERO) * weight;
    weight = weight === WEIGHT_MAX ? WEIGHT_MIN : weight + 1;
  }
  const rest = sum % MODULUS;
  return text.endsWith(String(rest < 2 ? 0 : MODULUS - rest));
}
