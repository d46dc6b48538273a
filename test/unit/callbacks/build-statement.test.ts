import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  digestIds,
  hashFacts,
  listIds,
  type ManifestFacts,
  sumTypes,
  writeStatement,
} from '../../../src/callbacks/render/build-statement.ts';
import { inventExample } from '../../../src/callbacks/render/invent-example.ts';
import { MANIFEST_TYPE } from '../../../src/callbacks/render/renderable.ts';
import { hashLeaf } from '../../../src/tlog/merkle.ts';

const FACTS: ManifestFacts = {
  ...{ merchant: 'mer_1', day: '2026-11-21', zone: 'America/Sao_Paulo', messages: 2 },
  ...{ types: [{ type: 'pix.cashin.paid', count: 2, sumCents: 9_007_199_254_740_993n }], idsDigest: digestIds([]) },
  ...{ proven: true, closed: false },
};
const REVISION = {
  revision: 2,
  madeAt: new Date('2026-11-22T09:30:00Z'),
  chain: undefined,
  messagesDigest: Buffer.from('11', 'hex'),
  salt: '22',
};

test('the digest covers the ids in the order of their bytes, each with a line feed', () => {
  const ids = ['msg_b', 'msg_a', 'msg_B', 'msg_é', 'msg_'];
  expect(listIds(ids)).toBe('msg_\nmsg_B\nmsg_a\nmsg_b\nmsg_é\n');
  expect(digestIds(ids)).toEqual(createHash('sha256').update(listIds(ids)).digest());
  expect(digestIds([...ids].reverse())).toEqual(digestIds(ids));
  expect(digestIds(ids.slice(1))).not.toEqual(digestIds(ids));
});

test('a day without a message has the digest of nothing', () => {
  expect(digestIds([]).toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('types are counted and summed in exact cents, by the bytes of their names', () => {
  const huge = 2n ** 53n;
  const members = [
    { id: 'a', type: 'pix.cashout.paid', cents: 1n },
    { id: 'b', type: 'pix.cashin.paid', cents: huge },
    { id: 'c', type: 'pix.cashin.paid', cents: 1n },
  ];
  expect(sumTypes(members)).toEqual([
    { type: 'pix.cashin.paid', count: 2, sumCents: huge + 1n },
    { type: 'pix.cashout.paid', count: 1, sumCents: 1n },
  ]);
});

test('the signed text is one line of JSON, with cents as texts that no reader rounds', () => {
  const chain = { position: 7, hash: Buffer.from('00ff', 'hex') };
  const text = writeStatement(FACTS, { ...REVISION, chain });
  expect(text).toMatchInlineSnapshot(
    `"{"version":2,"merchant":"mer_1","day":"2026-11-21","zone":"America/Sao_Paulo","revision":2,"made_at":"2026-11-22T09:30:00.000Z","messages":2,"types":[{"type":"pix.cashin.paid","count":2,"sum_cents":"9007199254740993"}],"ids_sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","proven":true,"closed":false,"messages_sha256":"11","chain":{"position":7,"hash":"00ff"},"salt":"22"}"`,
  );
  expect(JSON.parse(writeStatement(FACTS, REVISION))).toMatchObject({ chain: null });
});

test('each fact makes another revision', () => {
  const changes: Partial<ManifestFacts>[] = [
    ...[{ messages: 3 }, { types: [] }, { idsDigest: digestIds(['msg_a']) }, { proven: false }, { closed: true }],
    ...[{ merchant: 'mer_2' }, { day: '2026-11-22' }, { zone: 'UTC' }],
  ];
  const hashes = [FACTS, ...changes.map((change) => ({ ...FACTS, ...change }))].map((one) =>
    hashFacts(one).toString('hex'),
  );
  expect(new Set(hashes).size).toBe(changes.length + 1);
  expect(hashFacts({ ...FACTS })).toEqual(hashFacts(FACTS));
});

test('the example of a manifest has the form of a real one, and verifies nothing', () => {
  const { data } = inventExample(MANIFEST_TYPE, '2026-11-21T08:00:00-03:00') as {
    data: { manifest: Record<string, unknown>; payload: string; proof: string };
  };
  const real = JSON.parse(writeStatement(FACTS, REVISION)) as Record<string, unknown>;
  expect(Object.keys(data)).toEqual(['manifest', 'payload', 'proof']);
  expect(Object.keys(data.manifest)).toEqual(Object.keys(real));
  expect(data.manifest).toMatchObject({
    version: real.version,
    day: '2026-11-21',
    made_at: '2026-11-21T11:00:00.000Z',
  });
  expect(JSON.parse(Buffer.from(data.payload, 'base64url').toString())).toEqual(data.manifest);
  const [head, checkpoint, signatures] = data.proof.split('\n\n');
  expect(head).toBe('c2sp.org/tlog-proof@v1\nindex 0');
  expect(checkpoint?.split('\n')[2]).toBe(hashLeaf(Buffer.from(data.payload, 'base64url')).toString('base64'));
  expect(signatures).toBe('');
});
