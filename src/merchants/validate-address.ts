import ipaddr from 'ipaddr.js';

/** Where callbacks never go, whatever is configured: metadata services that stand outside the link-local range. */
const METADATA = [
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '169.254.169.254',
].map((text) => ipaddr.parse(text).toNormalizedString());
const PRIVATE_RANGES: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'];
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
const V4_COMPATIBLE = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number];
const V4_COMPATIBLE_AT = 12;
/** The well-known NAT64 prefix; another (64:ff9b:1::/48) puts the IPv4 address where its network wants it. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number];

/**
 * Whether a callback may connect to an address. An IPv6 form that stands for an IPv4 address (mapped, translated,
 * NAT64, compatible) is judged as that address; a tunnel (6to4, Teredo) is refused.
 * @param address what is connected to: an address, not a name.
 * @returns why not, or undefined when it may.
 */
export function validateAddress(address: string, allowPrivate: boolean): string | undefined {
  if (!ipaddr.isValid(address)) return 'no address';
  const judged = unwrap(ipaddr.parse(address));
  if (METADATA.includes(judged.toNormalizedString())) return 'a metadata service';
  const range = judged.range();
  if (PRIVATE_RANGES.includes(range)) return allowPrivate ? undefined : `a ${range} address`;
  if (range !== 'unicast') return `a ${range} address`;
  // what the registry has not given out yet may be routed inside a network
  if (judged instanceof ipaddr.IPv6 && !judged.match(GLOBAL_UNICAST_V6)) return 'no global unicast address';
  return undefined;
}

function unwrap(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const range = address.range();
  const compatible = range === 'unicast' && address.match(V4_COMPATIBLE);
  if (range === 'rfc6145' || address.match(NAT64) || compatible) {
    return new ipaddr.IPv4(address.toByteArray().slice(V4_COMPATIBLE_AT));
  }
  return address;
}
