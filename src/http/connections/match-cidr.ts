import ipaddr from 'ipaddr.js';

/** Whether an address is in one of these CIDR blocks or is one of these addresses. False for text that is no address. */
export function matchesCidr(blocks: string[], address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return blocks.some((block) => {
    const [range, bits] = block.includes('/') ? ipaddr.parseCIDR(block) : [ipaddr.process(block), undefined];
    if (range.kind() !== parsed.kind()) return false;
    return parsed.match(range, bits ?? (range.kind() === 'ipv4' ? 32 : 128));
  });
}
