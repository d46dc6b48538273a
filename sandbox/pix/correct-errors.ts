const FIELD_POLYNOMIAL = 0x11d;

/** The Reed-Solomon codewords, so many, that go with a block of data in a QR code. */
export function correctionOf(data: Uint8Array, count: number): Uint8Array {
  const generator = generatorOf(count);
  const rest = new Uint8Array(count);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest.copyWithin(0, 1);
    rest[count - 1] = 0;
    if (factor === 0) continue;
    const shift = LOG[factor] ?? 0;
    for (let i = 0; i < count; i++) rest[i] = (rest[i] ?? 0) ^ (EXP[(generator[i] ?? 0) + shift] ?? 0);
  }
  return rest;
}

const EXP = new Uint8Array(512);
const LOG = new Uint8Array(256);
for (let i = 0, value = 1; i < 255; i++) {
  EXP[i] = value;
  EXP[i + 255] = value;
  LOG[value] = i;
  value = value & 0x80 ? (value << 1) ^ FIELD_POLYNOMIAL : value << 1;
}

const generators = new Map<number, Uint8Array>();

/** Logarithms of the generator polynomial's coefficients, the leading one left out. No coefficient is zero. */
function generatorOf(count: number): Uint8Array {
  let logs = generators.get(count);
  if (logs === undefined) {
    const coefficients = new Uint8Array(count);
    coefficients[count - 1] = 1;
    for (let root = 0; root < count; root++) {
      for (let i = 0; i < count; i++) {
        coefficients[i] = times(coefficients[i] ?? 0, root) ^ (coefficients[i + 1] ?? 0);
      }
    }
    logs = coefficients.map((value) => LOG[value] ?? 0);
    generators.set(count, logs);
  }
  return logs;
}

function times(value: number, power: number): number {
  return value === 0 ? 0 : (EXP[(LOG[value] ?? 0) + power] ?? 0);
}
