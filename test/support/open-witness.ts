import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rootsOfConsistency } from './verify-tree.ts';

/** A witness of tlog-witness, small: one log, whose signature it does not check. Shares no code with Confere. */
export type TestWitness = AsyncDisposable & {
  /** A part of WITNESSES. */
  setting: string;
  /** Checkpoints that it countersigned, in their order. */
  seen: { size: number; root: string }[];
  /** While set, it answers this alone. */
  status: number | undefined;
  requests: number;
};

export async function openWitness(name: string): Promise<TestWitness> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const key = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url')]);
  const keyId = createHash('sha256').update(`${name}\n`).update(key).digest().subarray(0, 4);
  const origins = new Map<string, { size: number; root: string }>();
  const witness = { seen: [], status: undefined, requests: 0 } as Pick<TestWitness, 'seen' | 'status' | 'requests'>;

  function answer(body: string): [status: number, text: string] {
    witness.requests++;
    if (witness.status !== undefined) return [witness.status, ''];
    const [head = '', ...rest] = body.split('\n\n');
    const note = rest.join('\n\n');
    const [old = '', ...proof] = head.split('\n');
    const [origin = '', size = '', root = ''] = note.split('\n');
    const text = `${origin}\n${size}\n${root}\n`;
    const last = origins.get(origin) ?? { size: 0, root: '' };
    if (Number(old.slice(4)) !== last.size) return [409, `${last.size}\n`];
    if (last.size > 0) {
      const before = Buffer.from(last.root, 'base64');
      const hashes = proof.map((line) => Buffer.from(line, 'base64'));
      const roots =
        last.size === Number(size) ? [before, before] : rootsOfConsistency(last.size, Number(size), before, hashes);
      if (roots[0]?.toString('base64') !== last.root || roots[1]?.toString('base64') !== root) return [422, ''];
    }
    const one = { size: Number(size), root };
    origins.set(origin, one);
    witness.seen.push(one);
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(1_700_000_000n);
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime 1700000000\n${text}`), privateKey);
    return [200, `— ${name} ${Buffer.concat([keyId, time, signature]).toString('base64')}\n`];
  }

  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const [status, text] = answer(body);
      response.writeHead(status).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const setting = `${name}+${keyId.toString('hex')}+${key.toString('base64')}=http://127.0.0.1:${port}`;
  return Object.assign(witness, {
    setting,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()),
  });
}
