import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { nameSender } from '../../inbox/receive/name-sender.ts';

const SITE_PREFIX_BYTES = 6;

export type SourceLimits = {
  /** Open connections of one source. */
  connectionsPerSourceMax: number;
  /** Open connections of one IPv6 /48: one customer may have all its 65,536 sources. */
  connectionsPerSiteMax: number;
};

/** The open sockets of one source or of one IPv6 /48, oldest first. */
export type SocketGroup = { name: string; max: number; sockets: Set<Socket> };

/** Groups open sockets by source and, for IPv6, by /48. Empty groups are removed. */
export function createSocketGroups(limits: SourceLimits) {
  const groups = new Map<string, SocketGroup>();

  function groupOf(name: string, max: number): SocketGroup {
    return groups.get(name) ?? { name, max, sockets: new Set() };
  }

  return {
    /** @returns the groups that an address counts in, the narrowest first. */
    find(address: string): SocketGroup[] {
      const source = groupOf(nameSender(address), limits.connectionsPerSourceMax);
      const site = nameSite(address);
      return site === undefined ? [source] : [source, groupOf(site, limits.connectionsPerSiteMax)];
    },
    add(socket: Socket, to: SocketGroup[]): void {
      for (const group of to) {
        group.sockets.add(socket);
        groups.set(group.name, group);
      }
    },
    remove(socket: Socket, from: SocketGroup[]): void {
      for (const { name, sockets } of from) {
        sockets.delete(socket);
        if (sockets.size === 0) groups.delete(name);
      }
    },
  };
}

/** The /48 of an IPv6 address; undefined for any other. */
export function nameSite(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return undefined;
  const bytes = parsed.toByteArray().fill(0, SITE_PREFIX_BYTES);
  return `${ipaddr.fromByteArray(bytes).toString()}/48`;
}
