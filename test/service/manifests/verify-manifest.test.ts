/** docs/verify-manifest.sh, with the real openssl and jq, on manifests that the pure parts make. */
import { spawnSync } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestIds, listIds, sumTypes, writeStatement } from '../../../src/manifests/build-statement.ts';
import { generateSigningKey, presentPublicKey, signStatement } from '../../../src/tlog/sign-statement.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const SCRIPT = path.resolve(import.meta.dirname, '../../../docs/verify-manifest.sh');
const IDS = ['msg_c0', 'msg_a1', 'msg_b2'];
const [OLD, NEW, STRANGE] = [generateSigningKey(), generateSigningKey(), generateSigningKey()];

let home: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  home = temporaryDirectory();
});
afterAll(() => home[Symbol.dispose]());

function makeManifest(keys = [NEW, OLD], ids = IDS) {
  const members = ids.map((id) => ({ id, type: 'pix.cashin.paid', cents: 100n }));
  const facts = {
    ...{ merchant: 'mer_1', day: '2026-11-21', zone: 'America/Sao_Paulo', messages: ids.length },
    ...{ types: sumTypes(members), idsDigest: digestIds(ids), proven: true, closed: true },
  };
  const made = { revision: 1, madeAt: new Date('2026-11-22T09:30:00Z'), chain: undefined };
  return signStatement(writeStatement(facts, made), keys);
}

type Files = { manifest?: object; keys?: (typeof OLD)[]; kept?: string; ids?: string };

function run({ manifest = makeManifest(), keys = [OLD], kept = IDS.join('\n'), ids }: Files) {
  const write = (name: string, text: string): string => {
    const file = path.join(home.path, name);
    writeFileSync(file, text);
    return file;
  };
  const known = { keys: keys.map(({ publicKey }) => presentPublicKey(publicKey)) };
  const files = [
    write('manifest.json', JSON.stringify(manifest)),
    write('keys.json', JSON.stringify(known)),
    write('kept.txt', kept),
    ...(ids === undefined ? [] : [write('ids.txt', ids)]),
  ];
  const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, ...files], { encoding: 'utf8' });
  return { status, out: stdout.split('\n').slice(1, -1), err: stderr.trim() };
}

test('the script verifies a manifest by either key of a rotation, as a message or as an answer', () => {
  expect(run({})).toEqual({ status: 0, out: ['nothing is missing'], err: '' });
  const message = { type: 'pix.day.manifest', data: { manifest: {}, ...makeManifest() } };
  expect(run({ manifest: message, keys: [NEW], kept: `${[...IDS].reverse().join('\r\n')}\r\n` }).status).toBe(0);
  expect(run({ manifest: makeManifest([OLD], []), kept: '' })).toMatchObject({ status: 0 });
});

test('the script names the message that a merchant deleted, among ids of other days', () => {
  const ids = listIds(IDS);
  const kept = `msg_of_another_day\n${IDS.filter((id) => id !== 'msg_a1').join('\n')}\n`;
  expect(run({ kept, ids })).toEqual({ status: 1, out: ['missing msg_a1'], err: '' });
  expect(run({ kept: `${kept}msg_a1\n`, ids })).toMatchObject({ status: 0, out: ['nothing is missing'] });
  expect(run({ kept })).toMatchObject({ status: 1, out: [expect.stringContaining('fetch')] });
});

test('the script refuses what is not signed, changed, or of a key that it does not know', () => {
  const { payload, signatures } = makeManifest();
  const forged = { payload: Buffer.from('{"messages":0}').toString('base64url'), signatures };
  expect(run({ manifest: forged })).toMatchObject({ status: 2, err: expect.stringContaining('is wrong') });
  expect(run({ keys: [STRANGE] })).toMatchObject({
    status: 2,
    err: expect.stringContaining('no signature is of a key'),
  });
  expect(run({ manifest: { payload, signatures: [] } })).toMatchObject({ status: 2 });
  expect(run({ manifest: {} })).toMatchObject({ status: 2, err: expect.stringContaining('is no manifest') });
  // a list of ids that does not match the signed digest
  expect(run({ ids: 'msg_a1\n' })).toMatchObject({ status: 2, err: expect.stringContaining('not the list') });
});

test('a signature is a JWS of Ed25519 over the header and the payload, by the key that the header names', () => {
  const { payload, signatures } = makeManifest([NEW]);
  const [first] = signatures;
  const header = JSON.parse(Buffer.from(first?.protected ?? '', 'base64url').toString()) as object;
  expect(header).toEqual({ alg: 'EdDSA', kid: presentPublicKey(NEW.publicKey).kid });
  const signed = Buffer.from(`${first?.protected}.${payload}`);
  const key = createPublicKey(presentPublicKey(NEW.publicKey).pem);
  expect(verify(null, signed, key, Buffer.from(first?.signature ?? '', 'base64url'))).toBe(true);
});

test('the key id is the thumbprint of RFC 7638, as RFC 8037 shows it', () => {
  const published = Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url');
  expect(presentPublicKey(published).kid).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
});
