/** A TCP proxy to the run's database server. It can close connections, stop answering, and refuse statements. */
import net, { type AddressInfo, type Socket } from 'node:net';
import { MEMBERS_QUERY, VARIABLES_QUERY } from '../../embedded/server-state.ts';

/**
 * `not ready`: like a Galera 26.4 node that is isolated from the two others, it answers SET, SHOW and SELECT without a table
 * and refuses everything else, also COMMIT and ROLLBACK. `read only`: it refuses writes. `no rollback`: it refuses ROLLBACK. `no session`: it refuses SET.
 * `cut off`: like the primary of a MySQL group that does not reach the two others, it answers all but COMMIT. `another server`: it takes writes under another identity. `galera`: a
 * node of a cluster.
 */
export type ProxiedServerState =
  | 'well'
  | 'not ready'
  | 'read only'
  | 'no rollback'
  | 'no session'
  | 'cut off'
  | 'another server'
  | 'galera';

const HEADER_BYTES = 4;
const COM_QUERY = 0x03;
const COM_STMT_PREPARE = 0x16;
const COM_STMT_EXECUTE = 0x17;
const ALLOWED_WHEN_NOT_READY = /^(set |show |select (1|@@|connection_id))/i;
const WRITES = /^(insert|update|delete|replace|create|alter|drop) /i;
const variables = (rows: Record<string, string>): string =>
  Object.entries(rows)
    .map(([name, value]) => `SELECT '${name}' AS Variable_name, '${value}' AS Value`)
    .join(' UNION ALL ');
/** The bytes sent in place of a query, by state. */
const REWRITTEN: Partial<Record<ProxiedServerState, Record<string, string>>> = {
  'read only': { [VARIABLES_QUERY]: variables({ read_only: 'ON' }) },
  galera: { [VARIABLES_QUERY]: variables({ wsrep_on: 'ON', read_only: 'OFF' }) },
  'another server': { [VARIABLES_QUERY]: variables({ server_uuid: 'another' }) },
  'cut off': {
    [VARIABLES_QUERY]: variables({ server_uuid: 'a', group_replication_group_name: 'g' }),
    [MEMBERS_QUERY]:
      "SELECT 'a' AS id, 'ONLINE' AS state UNION ALL SELECT 'b', 'UNREACHABLE' UNION ALL SELECT 'c', 'UNREACHABLE'",
  },
};
const COMMIT = /^commit$/i;

export async function openTcpProxy(socketPath: string) {
  const sockets = new Set<Socket>();
  let taken = 0;
  let state: ProxiedServerState = 'well';
  let isGone = false;
  let isFrozen = false;
  let isLast: (text: string) => boolean = () => false;
  const server = net.createServer((socket) => {
    taken++;
    const upstream = net.connect(socketPath);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(end);
          socket.destroy();
          upstream.destroy();
        });
    }
    let isSilent = false;
    upstream.on('data', (chunk) => {
      if (!isSilent && !isFrozen) socket.write(chunk);
    });
    socket.on(
      'data',
      cutPackets((packet) => {
        if (isGone || isFrozen) return;
        isSilent ||= isLast(textOf(packet));
        if (state === 'cut off' && packet[3] === 0 && COMMIT.test(textOf(packet))) return;
        const answer = answerOf(state, packet);
        if (answer) socket.write(answer);
        else upstream.write(rewrite(state, packet));
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** Number of accepted connections. */
    taken: () => taken,
    become(next: ProxiedServerState) {
      state = next;
    },
    /** Acts like a host that lost power: open connections stay open without answers, and new ones fail. */
    vanish() {
      isGone = true;
      server.close();
    },
    /** Acts like a stopped process: the system goes on accepting connections, and nothing is answered. */
    freeze() {
      isFrozen = true;
    },
    /** The server executes the first packet that matches; neither it nor a later one is answered. */
    silenceFrom(matches: (text: string) => boolean) {
      isLast = matches;
    },
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.dispose]() {
      this.cut();
    },
  };
}

function cutPackets(onPacket: (packet: Buffer) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + rest.readUIntLE(0, 3);
      if (rest.length < end) return;
      onPacket(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}

function answerOf(state: ProxiedServerState, packet: Buffer): Buffer | undefined {
  // a command has sequence number 0; other packets belong to the handshake
  if (state === 'well' || packet[3] !== 0) return undefined;
  const command = packet[HEADER_BYTES];
  const text = textOf(packet);
  const isText = command === COM_QUERY || command === COM_STMT_PREPARE;
  if (state === 'not ready') {
    const isRefused = command === COM_STMT_EXECUTE || (isText && !ALLOWED_WHEN_NOT_READY.test(text));
    return isRefused ? error(1047, '08S01', 'WSREP has not yet prepared node for application use') : undefined;
  }
  const refused = { 'no rollback': /^rollback$/i, 'no session': /^set /i }[state as string];
  if (refused) return isText && refused.test(text) ? error(1105, 'HY000', 'Unknown error') : undefined;
  const isRefused = state === 'read only' && isText && WRITES.test(text);
  return isRefused ? error(1290, 'HY000', 'The server is running with --read-only') : undefined;
}

function rewrite(state: ProxiedServerState, packet: Buffer): Buffer {
  const text = REWRITTEN[state]?.[textOf(packet)];
  return text === undefined
    ? packet
    : frame(0, Buffer.concat([packet.subarray(HEADER_BYTES, startOfText(packet)), Buffer.from(text)]));
}

function textOf(packet: Buffer): string {
  return packet.toString('utf8', startOfText(packet));
}

/** To MySQL a query begins with the numbers of its attributes and of their sets: 0 and 1. */
function startOfText(packet: Buffer): number {
  const begins = HEADER_BYTES + 1;
  return packet[begins] === 0 && packet[begins + 1] === 1 ? begins + 2 : begins;
}

function error(errno: number, state: string, message: string): Buffer {
  const payload = Buffer.from(`\0\0\0#${state}${message}`, 'latin1');
  payload[0] = 0xff;
  payload.writeUInt16LE(errno, 1);
  return frame(1, payload);
}

function frame(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUIntLE(payload.length, 0, 3);
  header[3] = sequence;
  return Buffer.concat([header, payload]);
}
