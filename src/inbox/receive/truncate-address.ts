/** Of the columns that keep one. */
const ADDRESS_BYTES_MAX = 64;
/** A character, as JavaScript counts them, takes no more bytes of UTF-8 than this. */
const CHAR_BYTES_MAX = 3;

const encoder = new TextEncoder();
const room = new Uint8Array(ADDRESS_BYTES_MAX);

/**
 * The sender's address, cut between two characters to the bytes that are kept of it. Behind a proxy it is whatever stands
 * in a header; an IPv4 address fits without being looked at.
 */
export function truncateAddress(address: string): string {
  if (address.length * CHAR_BYTES_MAX <= ADDRESS_BYTES_MAX) return address;
  const { read } = encoder.encodeInto(address, room);
  return read === address.length ? address : address.slice(0, read);
}
