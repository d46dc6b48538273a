/** One row: begins a fault, waits until it is seen, ends it, and waits until nothing is left of it. */
import { setTimeout } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import type { Installation } from './start-installation.ts';

const POLL_MS = 1_000;
const MINUTE_MS = 60_000;
/** The least time that a fault lasts: rules that notice it later must be silent. */
const FAULT_MS_MIN = Number(process.env.NIGHT_FAULT_SECONDS ?? 240) * 1000;
const NOTICED_MS_MAX = 2 * MINUTE_MS;
const ENDED_MS_MAX = 2 * MINUTE_MS;
const GREEN_MS_MAX = MINUTE_MS;
/** How long after its limit a row is given up. */
const PATIENCE_MS = 3 * MINUTE_MS;
/** The time after the end in which nothing more may come. */
const QUIET_MS = 90_000;

export type Row = {
  name: string;
  noticed: string;
  pages: string;
  verdict: string;
  ended: string;
  /** Each verdict of the first page, and the second from which it stood. */
  verdicts: string;
  /** The conditions that do not hold. */
  faults: string[];
};

type Seen = { atMs: number; verdict: string };

export async function runFault(installation: Installation, fault: Fault): Promise<Row> {
  const { receiver, signal } = installation;
  const sleep = (ms: number) => setTimeout(ms, undefined, { signal });
  await untilGood(installation);
  const watching = watchVerdict(installation);
  const beganMs = Date.now();
  const endFault = await fault.begin(installation);
  const findAlert = () =>
    receiver.listSince(beganMs).find((one) => one.name === fault.alert && one.path === `/${fault.to}`);
  const hiddenMs = fault.hiddenMs ?? 0;
  await until(signal, beganMs + hiddenMs + NOTICED_MS_MAX + PATIENCE_MS, () => findAlert() !== undefined);
  await sleep(Math.max(0, beganMs + hiddenMs + FAULT_MS_MIN - Date.now()));
  const stoppingMs = Date.now();
  await endFault();
  const endedMs = Date.now();
  await until(signal, endedMs + (fault.lastsMs ?? 0) + ENDED_MS_MAX + PATIENCE_MS, async () => {
    const isEnded = receiver.listSince(beganMs).every((one) => one.endedAtMs !== undefined);
    return isEnded && watching.seen.at(-1)?.verdict === 'good' && (await listActive(installation)).length === 0;
  });
  await sleep(QUIET_MS);
  watching.stop();
  const times = { beganMs, stoppingMs, endedMs };
  return describeRow(fault, times, { notified: receiver.listSince(beganMs), seen: watching.seen });
}

function describeRow(
  fault: Fault,
  { beganMs, stoppingMs, endedMs }: { beganMs: number; stoppingMs: number; endedMs: number },
  { notified, seen }: { notified: ReturnType<Installation['receiver']['listSince']>; seen: Seen[] },
): Row {
  const faults: string[] = [];
  const expect = (holds: boolean, what: string): void => void (holds || faults.push(what));
  const hiddenMs = fault.hiddenMs ?? 0;
  const own = notified.find((one) => one.name === fault.alert && one.path === `/${fault.to}`);
  expect(own !== undefined && own.atMs - beganMs <= hiddenMs + NOTICED_MS_MAX, 'noticed in time');
  const of = (target: string) => notified.filter((one) => one.path === `/${target}`).map(({ name }) => name);
  const wantedPages = fault.to === 'pager' ? [fault.alert] : [];
  expect(of('pager').join() === wantedPages.join(), 'pages');
  const wantedTickets = [...(fault.tickets ?? []), ...(fault.to === 'tickets' ? [fault.alert] : [])];
  expect(
    of('tickets').every((name) => wantedTickets.includes(name)),
    'tickets',
  );
  const ends = notified.map((one) => one.endedAtMs);
  const lastEndMs = Math.max(...ends.map((ms) => ms ?? Number.POSITIVE_INFINITY));
  expect(lastEndMs - endedMs <= ENDED_MS_MAX + (fault.lastsMs ?? 0), 'ended in time');

  const isRight = ({ verdict }: Seen): boolean => fault.verdicts.includes(verdict);
  const during = seen.filter(({ atMs }) => atMs >= beganMs && atMs < stoppingMs);
  const wrongDuring = during.filter((one) => !isRight(one)).at(-1);
  const rightAfterMs = wrongDuring ? wrongDuring.atMs - beganMs : 0;
  expect(rightAfterMs <= (fault.greenMs ?? GREEN_MS_MAX), 'verdict in time');
  expect(
    during.every((one) => isRight(one) || one.verdict === 'good'),
    'no other verdict meanwhile',
  );
  const lastBad = seen.filter(({ atMs, verdict }) => atMs >= endedMs && verdict !== 'good').at(-1);
  const goodAfterMs = lastBad ? lastBad.atMs - endedMs : 0;
  expect(goodAfterMs <= GREEN_MS_MAX + (fault.lastsMs ?? 0), 'verdict good again in time');
  const names = (list: string[]): string => (list.length === 0 ? '' : `: ${list.join(', ')}`);
  const tickets = of('tickets');
  return {
    name: fault.name,
    noticed: own ? seconds(own.atMs - beganMs) : 'never',
    pages: `${of('pager').length}${names(of('pager'))}${tickets.length > 0 ? `; tickets${names(tickets)}` : ''}`,
    verdict: `${[...new Set(during.filter(isRight).map(({ verdict }) => verdict))].join(', ')} after ${seconds(rightAfterMs)}, good again after ${seconds(goodAfterMs)}`,
    verdicts: listChanges(seen, beganMs),
    ended: Number.isFinite(lastEndMs) && ends.length > 0 ? seconds(lastEndMs - endedMs) : 'never',
    faults,
  };
}

function listChanges(seen: Seen[], beganMs: number): string {
  const changes = seen.filter((one, n) => one.verdict !== seen[n - 1]?.verdict);
  return changes.map(({ atMs, verdict }) => `${verdict} ${seconds(atMs - beganMs)}`).join(', ');
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** Reads the verdict each second. */
function watchVerdict({ readVerdict }: Installation): { seen: Seen[]; stop(): void } {
  const seen: Seen[] = [];
  let goesOn = true;
  void (async () => {
    for (; goesOn; await setTimeout(POLL_MS)) {
      const atMs = Date.now();
      const verdict = await readVerdict().catch(() => 'no answer');
      seen.push({ atMs, verdict });
    }
  })();
  return {
    seen,
    stop() {
      goesOn = false;
    },
  };
}

async function untilGood(installation: Installation): Promise<void> {
  const isGood = async () =>
    (await installation.readVerdict().catch(() => '')) === 'good' && (await listActive(installation)).length === 0;
  if (!(await until(installation.signal, Date.now() + 5 * MINUTE_MS, isGood)))
    throw new Error(
      `the service is not well: ${await installation.readVerdict()}, ${(await listActive(installation)).join(', ')}`,
    );
}

/** Names of the alerts that Alertmanager has, but those that page nobody. */
async function listActive({ listAlerts }: Installation): Promise<string[]> {
  return (await listAlerts('pages!=no')).map(({ labels }) => labels.alertname);
}

/** @returns whether it came true before the deadline. */
async function until(signal: AbortSignal, deadlineMs: number, ask: () => boolean | Promise<boolean>): Promise<boolean> {
  for (; Date.now() < deadlineMs; await setTimeout(POLL_MS, undefined, { signal })) if (await ask()) return true;
  return false;
}
