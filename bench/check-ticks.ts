/** Evaluates the history of `job_ticks` that a soak recorded: whether each tick ran once, and which due times had none. */

/** One version of a row of `job_ticks`, in the order in which the database wrote them. */
export type TickVersion = {
  job: string;
  dueAt: Date;
  holder: string;
  tries: number;
  leaseUntil: Date;
  finishedAt: Date | null;
  /** When the database wrote it. */
  at: Date;
};

/** What must hold: `dueAt` has all due times of a job in the window that is checked, `nextAt` is the first one after it. */
export type Timetable = { job: string; dueAt: Date[]; nextAt: Date; isMadeUp: boolean };

export type TickVerdict = {
  due: number;
  ran: number;
  /** Ticks that another process ran again after their holder was killed. */
  takenOver: number;
  /** The jobs of due times without a tick, because the job's tick before was held then: one name for each. */
  leftOut: string[];
  faults: string[];
};

/** A try of a tick, from its claim to its end: finished, released, taken over, or the end of a dead process's lease. */
type Hold = { version: TickVersion; fromMs: number; toMs: number; isOpen: boolean };

/** Clocks of processes and the database differ by milliseconds, and a busy machine fires late. */
const TOLERANCE_MS = 2_000;
/** Each process searches for missed ticks every 20 s, and at its start. */
const SEARCH_MS = 20_000;

/**
 * Faults: a tick that was claimed while its holder, or that of another tick of the job, was alive or still had its lease; an
 * end that another process wrote; a tick that never ended; a due time without a tick although the job was free.
 * @param killed when each killed process died, by the name that it has in leases.
 * @param until when the history ends.
 */
export function checkTicks(
  versions: TickVersion[],
  timetables: Timetable[],
  killed: ReadonlyMap<string, Date>,
  until: Date,
): TickVerdict {
  const verdict: TickVerdict = { due: 0, ran: 0, takenOver: 0, leftOut: [], faults: [] };
  for (const timetable of timetables) {
    const own = versions.filter(({ job }) => job === timetable.job);
    const holds = followHolds(own, killed, until, verdict);
    checkDueTimes(timetable, holds, verdict);
  }
  return verdict;
}

/** Follows one job through its history. */
function followHolds(
  versions: TickVersion[],
  killed: ReadonlyMap<string, Date>,
  until: Date,
  verdict: TickVerdict,
): Hold[] {
  const holds: Hold[] = [];
  const current = new Map<number, Hold>();
  const fault = ({ job, dueAt, holder }: TickVersion, what: string): void => {
    verdict.faults.push(`${job} of ${dueAt.toISOString()}: ${holder} ${what}`);
  };
  for (const version of versions) {
    const known = current.get(version.dueAt.getTime());
    const isClaim = version.finishedAt === null && (!known?.isOpen || version.tries > known.version.tries);
    if (isClaim) {
      if (known?.version.finishedAt) fault(version, 'claimed a tick that had ended');
      if (known) verdict.takenOver++;
      for (const other of current.values()) if (other.isOpen) end(other, version, killed, fault);
      const hold = { version, fromMs: version.at.getTime(), toMs: version.leaseUntil.getTime(), isOpen: true };
      current.set(version.dueAt.getTime(), hold);
      holds.push(hold);
      continue;
    }
    if (!known?.isOpen) {
      fault(version, 'wrote about a tick that it did not hold');
      continue;
    }
    if (version.holder !== known.version.holder) fault(version, `wrote about a tick of ${known.version.holder}`);
    const isReleased = version.tries < known.version.tries;
    known.isOpen = version.finishedAt === null && !isReleased;
    known.toMs = known.isOpen ? version.leaseUntil.getTime() : Math.min(known.toMs, version.at.getTime());
    known.version = version;
  }
  for (const { version, isOpen } of current.values())
    if (version.finishedAt === null)
      fault(version, `had not ended it at ${until.toISOString()}${isOpen ? '' : ' (released)'}`);
  return holds;
}

/** Ends the try of a process that must be dead, with its lease run out, before another claim of its job. */
function end(
  hold: Hold,
  by: TickVersion,
  killed: ReadonlyMap<string, Date>,
  fault: (version: TickVersion, what: string) => void,
): void {
  const { holder, leaseUntil, dueAt } = hold.version;
  const diedAt = killed.get(holder);
  if (!diedAt || diedAt > by.at) fault(by, `claimed it while ${holder}, alive, held that of ${dueAt.toISOString()}`);
  else if (by.at.getTime() < leaseUntil.getTime() - TOLERANCE_MS)
    fault(by, `claimed it before the lease of ${holder} ran out`);
  hold.toMs = Math.min(hold.toMs, by.at.getTime());
  if (by.dueAt.getTime() === dueAt.getTime()) hold.isOpen = false;
}

function checkDueTimes({ job, dueAt, nextAt, isMadeUp }: Timetable, holds: Hold[], verdict: TickVerdict): void {
  const ran = new Set(holds.map(({ version }) => version.dueAt.getTime()));
  verdict.due += dueAt.length;
  for (const [index, due] of dueAt.entries()) {
    const fromMs = due.getTime();
    if (ran.has(fromMs)) {
      verdict.ran++;
      continue;
    }
    const isHeld = holds.some((hold) => hold.fromMs <= fromMs + TOLERANCE_MS && hold.toMs >= fromMs - TOLERANCE_MS);
    const toMs = (dueAt[index + 1] ?? nextAt).getTime();
    if (isHeld && !(isMadeUp && longestFreeMs(holds, fromMs, toMs) > SEARCH_MS + 2 * TOLERANCE_MS))
      verdict.leftOut.push(job);
    else verdict.faults.push(`${job} of ${due.toISOString()}: did not run although the job was free`);
  }
  const known = new Set(dueAt.map((due) => due.getTime()));
  for (const ms of ran) {
    const isWithin = dueAt[0] && ms >= dueAt[0].getTime() && ms <= (dueAt.at(-1)?.getTime() ?? 0);
    if (isWithin && !known.has(ms)) verdict.faults.push(`${job} of ${new Date(ms).toISOString()}: was not due`);
  }
}

/** The longest time from `fromMs` to `toMs` in which no tick of the job was held. */
function longestFreeMs(holds: Hold[], fromMs: number, toMs: number): number {
  let longest = 0;
  let freeSinceMs = fromMs;
  for (const hold of holds.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (hold.toMs < fromMs || hold.fromMs > toMs) continue;
    longest = Math.max(longest, hold.fromMs - freeSinceMs);
    freeSinceMs = Math.max(freeSinceMs, hold.toMs);
  }
  return Math.max(longest, toMs - freeSinceMs);
}
