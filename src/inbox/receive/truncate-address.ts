/** Size of the address columns. */
const ADDRESS_BYTES_MAX = 64;
/** Most bytes of UTF-8 for one UTF-16 code unit. */
const CHAR_BYTES_MAX = 3;

const encoder = new TextEncoder();
const buffer = new Uint8Array(ADDRESS_BYTES_MAX);

/**
 * Cuts the sender's address between two characters to the size of its column. Behind a proxy the address is any text of a
 * header. Short texts, such as IPv4 addresses, are returned without encoding them.
 */
export function truncateAddress(address: string): string {
  if (address.length * CHAR_BYTES_MAX <= ADDRESS_BYTES_MAX) return address;
  const { read } = encoder.encodeInto(address, buffer);
  return read === address.length ? address : address.slice(0, read);
}
