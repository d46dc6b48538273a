const FIELD_POLYNOMIAL = 0x11d;

/** The Reed-Solomon codewords, so many, that go with a block of data in a QR code. */
export function computeErrorCorrection(data: Uint8Array, count: number): Uint8Array {
  const generator = generatorOf(count);
  const rest = new Uint8Array(count + 1);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    // the logarithm of 0 leads to where EXP is 0, so that no coefficient needs a question
    const shift = LOG[factor] ?? 0;
    for (let i = 0; i < count; i++) rest[i] = (rest[i + 1] ?? 0) ^ (EXP[(generator[i] ?? 0) + shift] ?? 0);
  }
  return rest.subarray(0, count);
}

const LOG_OF_ZERO = 512;
const EXP = new Uint8Array(2 * LOG_OF_ZERO);
const LOG = new Uint16Array(256).fill(LOG_OF_ZERO, 0, 1);
for (let i = 0, value = 1; i < 255; i++) {
  EXP[i] = value;
  EXP[i + 255] = value;
  LOG[value] = i;
  value = value & 0x80 ? (value << 1) ^ FIELD_POLYNOMIAL : value << 1;
}

const generators = new Map<number, Uint16Array>();

/** Logarithms of the generator polynomial's coefficients, the leading one left out. No coefficient is zero. */
function generatorOf(count: number): Uint16Array {
  let logs = generators.get(count);
  if (logs === undefined) {
    const coefficients = new Uint8Array(count);
    coefficients[count - 1] = 1;
    for (let root = 0; root < count; root++) {
      for (let i = 0; i < count; i++) {
        coefficients[i] = times(coefficients[i] ?? 0, root) ^ (coefficients[i + 1] ?? 0);
      }
    }
    logs = Uint16Array.from(coefficients, (value) => LOG[value] ?? 0);
    generators.set(count, logs);
  }
  return logs;
}

function times(value: number, power: number): number {
  return value === 0 ? 0 : (EXP[(LOG[value] ?? 0) + power] ?? 0);
}
