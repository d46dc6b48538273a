/**
 * Removes the ports of the addresses of an X-Forwarded-For, as Azure, IIS and some balancers write them: `203.0.113.7:51234`,
 * `[2001:db8::7]:443`. An address with a port would match no CIDR block, and each port would be a sender of its own.
 */
export function stripPorts(forwardedFor: string): string {
  return forwardedFor
    .split(',')
    .map((part) => {
      const text = part.trim();
      if (text.startsWith('[')) return text.slice(1).split(']', 1)[0];
      const [address, port, ...more] = text.split(':');
      return port !== undefined && more.length === 0 && /^\d{1,5}$/.test(port) ? address : text;
    })
    .join(', ');
}
