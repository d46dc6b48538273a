import ipaddr from 'ipaddr.js';

/** Callbacks never go to these, in any configuration: cloud metadata services outside the link-local range. */
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
/** The well-known NAT64 prefix. In 64:ff9b:1::/48 each network chooses the position of the IPv4 address. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number];

/**
 * Checks whether a callback may connect to an address. An IPv6 form of an IPv4 address (mapped, translated, NAT64,
 * compatible) is checked as that IPv4 address; a tunnel (6to4, Teredo) is refused.
 * @param address an IP address, not a name.
 * @returns the reason for refusal, or undefined if it is allowed.
 */
export function validateAddress(address: string, allowPrivate: boolean): string | undefined {
  if (!ipaddr.isValid(address)) return 'no address';
  const unwrapped = unwrap(ipaddr.parse(address));
  if (METADATA.includes(unwrapped.toNormalizedString())) return 'a metadata service';
  const range = unwrapped.range();
  if (PRIVATE_RANGES.includes(range)) return allowPrivate ? undefined : `a ${range} address`;
  if (range !== 'unicast') return `a ${range} address`;
  // addresses that are not assigned yet may be routed inside a private network
  if (unwrapped instanceof ipaddr.IPv6 && !unwrapped.match(GLOBAL_UNICAST_V6)) return 'no global unicast address';
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
