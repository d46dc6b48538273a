/** The hosts of a list, each asked on a connection of its own. One of them takes writes. */
import { TRY_MS_MAX } from './fail-over.ts';
import { type ConnectionTarget, listHosts, nameHost, poolOptions } from './open-database.ts';
import { askHost, type ServerState } from './server-state.ts';
import { refusalError } from './watch-refusals.ts';

export type HostReport<Target = ConnectionTarget> = { name: string; target: Target } & (
  | { state: ServerState; error?: undefined }
  | { state?: undefined; error: NodeJS.ErrnoException }
);

/** Asks all hosts at once. */
export async function examineHosts<Target extends ConnectionTarget>(target: Target): Promise<HostReport<Target>[]> {
  const ask = (host: ConnectionTarget): Promise<HostReport<Target>> =>
    new Promise((resolve) => {
      // cast: one host of the target
      const about = { name: nameHost(host), target: host as Target };
      askHost(
        poolOptions(host),
        (error, state) =>
          resolve(state ? { ...about, state } : { ...about, error: error ?? refusalError('not ready') }),
        TRY_MS_MAX,
      );
    });
  return await Promise.all(listHosts(target).map(ask));
}

/**
 * Lists the hosts that take writes and are different servers: what is written to one may never reach the other.
 * @returns their names, if there are two or more.
 */
export function listRivals(reports: HostReport[]): string[] {
  const writers = reports.filter(({ state }) => state && !state.refusal);
  const rivals = writers.filter((one) => writers.some((other) => areRivals(one.state, other.state)));
  const isFirst = ({ state }: HostReport, index: number) =>
    rivals.findIndex((other) => other.state?.id === state?.id) === index;
  return rivals.filter(isFirst).map(({ name }) => name);
}

/**
 * Whether two servers that take writes are different ones, and no members of one group: its old primary, which hung or was cut off, may
 * say for some seconds that it still is the primary. It can commit nothing.
 */
export function areRivals(one: ServerState | undefined, other: ServerState | undefined): boolean {
  if (!one || !other || one.id === other.id) return false;
  return !one.members.includes(other.id) && !other.members.includes(one.id);
}

/**
 * Chooses the host that takes writes. Programs beside our own connections use it: they do not fail over. A single host is not
 * asked.
 * @throws the error of the first host if none takes writes.
 */
export async function chooseHost<Target extends ConnectionTarget>(target: Target): Promise<Target> {
  if (listHosts(target).length === 1) return target;
  const reports = await examineHosts(target);
  const writer = reports.find(({ state }) => state && !state.refusal);
  if (writer) return writer.target;
  throw reports[0]?.error ?? refusalError('read only');
}
