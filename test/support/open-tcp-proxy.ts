/** A TCP proxy to the database server of the run: it can be cut, and answer as a server that refuses to work does. */
import net, { type AddressInfo, type Socket } from 'node:net';

/**
 * `not ready` as a Galera 26.4 node that was isolated from the two others does: SET, SHOW and SELECT without a table are
 * answered, all else, also COMMIT and ROLLBACK, is refused. `read only`: what writes is refused.
 */
export type ProxiedServerState = 'well' | 'not ready' | 'read only';

const HEADER_BYTES = 4;
const COM_QUERY = 0x03;
const COM_STMT_PREPARE = 0x16;
const COM_STMT_EXECUTE = 0x17;
const TAKEN_WHEN_NOT_READY = /^(set |show |select (1|@@|connection_id))/i;
const WRITES = /^(insert|update|delete|replace|create|alter|drop) /i;
const READ_ONLY_VARIABLES = 'SELECT @@global.read_only AS first, @@global.innodb_read_only AS second';

export async function openTcpProxy(socketPath: string) {
  const sockets = new Set<Socket>();
  let taken = 0;
  let mood: ProxiedServerState = 'well';
  let isGone = false;
  let isLast: (text: string) => boolean = () => false;
  const server = net.createServer((socket) => {
    taken++;
    const onward = net.connect(socketPath);
    for (const end of [socket, onward]) {
      sockets.add(end);
      end
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(end);
          socket.destroy();
          onward.destroy();
        });
    }
    let isSilent = false;
    onward.on('data', (chunk) => {
      if (!isSilent) socket.write(chunk);
    });
    socket.on(
      'data',
      cutPackets((packet) => {
        if (isGone) return;
        isSilent ||= isLast(packet.toString('utf8', HEADER_BYTES + 1));
        const answer = answerOf(mood, packet);
        if (answer) socket.write(answer);
        else onward.write(mood === 'read only' ? sayReadOnly(packet) : packet);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** Connections that came in so far. */
    taken: () => taken,
    become(next: ProxiedServerState) {
      mood = next;
    },
    /** As a host that lost its power: what is open to it stays open and is not answered, and nothing new is. */
    vanish() {
      isGone = true;
      server.close();
    },
    /** The server does what such a packet of a client asks for; neither it nor what follows it is answered. */
    silenceFrom(isSuch: (text: string) => boolean) {
      isLast = isSuch;
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

function answerOf(mood: ProxiedServerState, packet: Buffer): Buffer | undefined {
  // only a command begins a sequence: the rest is the greeting
  if (mood === 'well' || packet[3] !== 0) return undefined;
  const command = packet[HEADER_BYTES];
  const text = packet.toString('utf8', HEADER_BYTES + 1);
  const isText = command === COM_QUERY || command === COM_STMT_PREPARE;
  if (mood === 'not ready') {
    const isRefused = command === COM_STMT_EXECUTE || (isText && !TAKEN_WHEN_NOT_READY.test(text));
    return isRefused ? error(1047, '08S01', 'WSREP has not yet prepared node for application use') : undefined;
  }
  return isText && WRITES.test(text) ? error(1290, 'HY000', 'The server is running with --read-only') : undefined;
}

function sayReadOnly(packet: Buffer): Buffer {
  const isAsked = packet.toString('utf8', HEADER_BYTES + 1) === READ_ONLY_VARIABLES;
  return isAsked ? frame(0, Buffer.from(`${String.fromCharCode(COM_QUERY)}SELECT 1 AS first, 0 AS second`)) : packet;
}

function error(errno: number, state: string, says: string): Buffer {
  const payload = Buffer.from(`\0\0\0#${state}${says}`, 'latin1');
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
