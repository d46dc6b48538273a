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
  const writers = new Map<string, string>();
  for (const { name, state } of reports)
    if (state && !state.refusal && !writers.has(state.id)) writers.set(state.id, name);
  return writers.size > 1 ? [...writers.values()] : [];
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
