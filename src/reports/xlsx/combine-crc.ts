/** The polynomial of a zip's CRC-32, its lowest bit the highest power. */
const POLYNOMIAL = 0xedb8_8320;
const HIGH_BIT = 0x8000_0000;
const BITS_A_BYTE = 8;

/**
 * The CRC-32 of a text from those of its two parts, without reading them again.
 * @param bytes the length of the second part.
 */
export function combineCrc(first: number, second: number, bytes: number): number {
  // each bit that follows multiplies what came before by x
  return (multiply(raiseX(bytes * BITS_A_BYTE), first) ^ second) >>> 0;
}

/** x to a power, modulo the polynomial. */
function raiseX(power: number): number {
  let product = HIGH_BIT;
  let square = HIGH_BIT >>> 1;
  for (let rest = power; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) product = multiply(product, square);
    square = multiply(square, square);
  }
  return product;
}

function multiply(one: number, other: number): number {
  let product = 0;
  let shifted = other;
  for (let bit = HIGH_BIT; bit !== 0; bit >>>= 1) {
    if ((one & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
