import type { Duplex } from 'node:stream';
import type { PoolConnection } from 'mysql2';
import { hearStatements } from './hear-statements.ts';

/** A statement that has no answer after so long has its host asked whether it still answers anybody. */
const SILENT_MS = 10_000;
const LOOK_EVERY_MS = 2_000;

/** Connects anew to a host, and hangs up; tells why it could not. */
export type Greet = (callback: (error: NodeJS.ErrnoException | null) => void) => void;

/**
 * Ends what waits for a host that no longer answers: one that lost its power, was cut off or hangs sends nothing that
 * would end a connection, and a statement would wait for it for a quarter of an hour, or for ever. A host that greets
 * is only slow, and is waited for.
 */
export function watchSilence(
  greet: Greet,
  onSilence: () => void,
  now: () => number,
): { watch(connection: PoolConnection): void; stop(): void } {
  const waiting = new Map<PoolConnection, number>();
  let isAsking = false;
  const look = (): void => {
    // what was given up by its asker is never answered
    for (const connection of waiting.keys()) if (streamOf(connection).writableEnded) waiting.delete(connection);
    const late = [...waiting].filter(([, sinceMs]) => now() - sinceMs >= SILENT_MS);
    if (isAsking || late.length === 0) return;
    isAsking = true;
    greet((error) => {
      isAsking = false;
      if (isAnswer(error)) {
        // asked again once they have waited for as long again
        for (const [connection] of late) if (waiting.has(connection)) waiting.set(connection, now());
        return;
      }
      onSilence();
      for (const [connection, sinceMs] of late) if (waiting.get(connection) === sinceMs) breakOff(connection);
    });
  };
  const looking = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    watch(connection) {
      let asked = 0;
      hearStatements(connection, {
        asked() {
          if (asked++ === 0) waiting.set(connection, now());
        },
        answered() {
          if (--asked === 0) waiting.delete(connection);
          else waiting.set(connection, now());
        },
      });
    },
    stop: () => clearInterval(looking),
  };
}

/** A server that says no, for having too many connections for instance, does answer. */
function isAnswer(error: NodeJS.ErrnoException | null): boolean {
  return error === null || error.code?.startsWith('ER_') === true;
}

function breakOff(connection: PoolConnection): void {
  const lost = Object.assign(new Error('the database host does not answer'), { code: 'PROTOCOL_CONNECTION_LOST' });
  // mysql2 tells everything that waits on it of its stream's error
  streamOf(connection).destroy(lost);
}

function streamOf(connection: PoolConnection): Duplex {
  return (connection as unknown as { stream: Duplex }).stream;
}
