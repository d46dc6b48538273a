import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Counts the texts that `work` has this process send to the server, without those of `ignored`. */
export async function countTrips(work: () => Promise<unknown>, ignored?: RegExp): Promise<number> {
  let trips = 0;
  const count = (message: unknown): void => {
    if (!ignored?.test((message as { query: string }).query)) trips++;
  };
  subscribe('tracing:mysql2:query:start', count);
  await work();
  unsubscribe('tracing:mysql2:query:start', count);
  return trips;
}
