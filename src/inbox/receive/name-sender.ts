import ipaddr from 'ipaddr.js';

const PREFIX_BYTES = 8;
const NAMES_KEPT_MAX = 1_000;

const names = new Map<string, string>();

/**
 * Returns the name under which a sender's costs are counted: an IPv4 address as it is, an IPv6 address as its /64, which
 * one customer owns. Text that is no address, from a header behind a proxy, is its own name.
 */
export function nameSender(address: string): string {
  const known = names.get(address);
  if (known !== undefined) return known;
  if (names.size >= NAMES_KEPT_MAX) names.clear();
  const name = readName(address);
  names.set(address, name);
  return name;
}

function readName(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray().map((byte, index) => (index < PREFIX_BYTES ? byte : 0));
  return `${ipaddr.fromByteArray(bytes).toString()}/64`;
}
