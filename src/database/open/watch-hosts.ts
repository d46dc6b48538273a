/**
 * Several hosts of one database: a group with a primary, or a server and its copies. One of them takes writes, and says so. Where
 * two servers take writes, what is booked on one may be missing on the other: processes that run stay on their host, and none
 * starts.
 */
import { areRivals, examineHosts, type HostReport, listRivals } from '../../../embedded/examine-hosts.ts';
import type { HostChoice } from '../../../embedded/fail-over.ts';
import { type ConnectionTarget, listHosts } from '../../../embedded/open-database.ts';
import { refusalError } from '../../../embedded/watch-refusals.ts';
import { ConfereError } from '../../domain/errors.ts';
import { describeError, type Log } from '../../log.ts';
import type { Timers } from '../../timers.ts';

export const WATCH_HOSTS_EVERY_MS = 10_000;

/** @throws ConfereError if a host is a node of a Galera cluster, or several servers take writes. A single host is not asked. */
export async function refuseRivals(target: ConnectionTarget): Promise<void> {
  if (listHosts(target).length === 1) return;
  const reports = await examineHosts(target);
  const node = reports.find(({ state }) => state?.isGalera);
  if (node)
    throw new ConfereError(
      'config_invalid',
      `DATABASE_URL names several hosts, and ${node.name} is a node of a Galera cluster, which can lose commits: name one host; docs/scaling.md says why`,
    );
  const rivals = listRivals(reports);
  if (rivals.length === 0) return;
  // serve waits, as for a database that is away
  throw new ConfereError('unavailable', describeRivals(rivals), { cause: refusalError('not ready') });
}

/** Says that these hosts take writes, and what to do. */
export function describeRivals(hosts: string[]): string {
  return `${hosts.join(' and ')} take writes, and are different servers: make all but one read-only; docs/scaling.md says how`;
}

/**
 * Asks all hosts every WATCH_HOSTS_EVERY_MS until it is disposed, and keeps the pools from moving to a rival, and from staying on one
 * that became a copy.
 */
export function watchHosts(
  target: ConnectionTarget,
  { choice, timers, log }: { choice: HostChoice; timers: Timers; log: Log },
): Disposable {
  let isAsking = false;
  const ask = async (): Promise<void> => {
    const before = choice.rivals;
    const reports = await examineHosts(target);
    choice.rivals = decideRivals(choice, reports);
    choice.refusing = new Set(reports.flatMap(({ name, state }) => (state?.refusal ? [name] : [])));
    const found = [...choice.rivals].filter((name) => !before.has(name));
    if (found.length > 0)
      log.error({ host: choice.current, rivals: found }, describeRivals([`${choice.current}`, ...found]));
  };
  const asking = timers.every(WATCH_HOSTS_EVERY_MS, () => {
    // a host that hangs delays the answer
    if (isAsking) return;
    isAsking = true;
    ask()
      .catch((error: unknown) => log.debug({ error: describeError(error) }, 'the database hosts could not be asked'))
      .finally(() => {
        isAsking = false;
      });
  });
  return { [Symbol.dispose]: () => asking.cancel() };
}

/**
 * Decides which hosts must not be moved to: another server that takes writes while the one in use does. It stays one, also while
 * the one in use is away, until one of both says that it is read-only. Members of a group are none: its old primary, back from a
 * freeze or a cut, may take writes for seconds, and can commit nothing; at the next fail-over it may be the primary again.
 */
export function decideRivals(
  { current, rivals }: Pick<HostChoice, 'current' | 'rivals'>,
  reports: HostReport[],
): HostChoice['rivals'] {
  const used = reports.find(({ name }) => name === current)?.state;
  if (used?.refusal === 'read only') return new Set();
  const next = new Set(rivals);
  for (const { name, state } of reports) {
    if (!state) continue;
    if (state.refusal || name === current) next.delete(name);
    else if (used && !used.refusal)
      if (areRivals(used, state)) next.add(name);
      else next.delete(name);
  }
  return next;
}
