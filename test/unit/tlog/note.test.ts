import { createPrivateKey, createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  findCosignature,
  formatCheckpoint,
  formatVerifier,
  isSignedNote,
  parseCheckpoint,
  parseSignatures,
  parseWitnessKey,
  signNote,
  verifierOf,
} from '../../../src/tlog/note.ts';

/** The example of C2SP's signed-note. */
const FOO = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const TEXT = 'This is an example message.\n';
const LINE =
  '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=';
/** A checkpoint of the Go checksum database, as a test of litewitness has it. */
const SUM_KEY = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';
const SUM = `go.sum database tree
35225469
vt5T6GaLCXvyHFl9VUvvItR43XZxfLgftEcTyO3eJCQ=

— sum.golang.org Az3grpukl5AXaVfYkLiDGORx/DN2nlcS5kZHR5uYOBV2KA2HgXpD+gu9HHONebHLAyaKbbTM75QTtPydhKCExixSfwQ=
`;

const keyOf = (vkey: string): Buffer => Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1);

test('the published example of a signed note verifies, and no other text', () => {
  const verifier = verifierOf('example.com/foo', keyOf(FOO));
  expect(formatVerifier('example.com/foo', keyOf(FOO))).toBe(FOO);
  expect(isSignedNote(TEXT, parseSignatures(LINE), [verifier])).toBe(true);
  expect(isSignedNote(TEXT.replace('an', 'a'), parseSignatures(LINE), [verifier])).toBe(false);
  expect(isSignedNote(TEXT, parseSignatures(LINE), [verifierOf('example.com/bar', keyOf(FOO))])).toBe(false);
});

test('a published checkpoint is read and verifies', () => {
  const verifier = verifierOf('sum.golang.org', keyOf(SUM_KEY));
  const parsed = parseCheckpoint(SUM.replace('go.sum database tree', 'go.sum'));
  expect(parsed).toMatchObject({ origin: 'go.sum', size: 35225469 });
  const [text = '', lines = ''] = SUM.split('\n\n');
  expect(isSignedNote(`${text}\n`, parseSignatures(lines), [verifier])).toBe(true);
  for (const wrong of ['', 'x', 'a\n1\n', 'a\n01\nAAAA\n\n', SUM.replace('35225469', '-1')])
    expect(parseCheckpoint(wrong)).toBeUndefined();
});

test('what is signed verifies; a cosignature needs its witness, its time and the text', () => {
  const seed = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 7)]);
  const privateKey = createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const publicKey = Buffer.from(x, 'base64url');
  const log = { ...verifierOf('example.com/log', publicKey), privateKey };
  const text = formatCheckpoint({ origin: 'example.com/log', size: 3, root: Buffer.alloc(32, 1) });
  const note = parseCheckpoint(signNote(text, [log]));
  expect(note && isSignedNote(note.text, note.signatures, [log])).toBe(true);
  const key = Buffer.concat([Buffer.from([4]), publicKey]);
  const { keyId } = verifierOf('w', publicKey, 4);
  const witness = parseWitnessKey(`w+${keyId.toString('hex')}+${key.toString('base64')}`);
  expect(witness).toBeDefined();
  expect(parseWitnessKey(`w+00000000+${key.toString('base64')}`)).toBeUndefined();
  expect(parseWitnessKey(FOO)).toBeUndefined();
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(1_700_000_000n);
  const [signed] = parseSignatures(signNote(`cosignature/v1\ntime 1700000000\n${text}`, [log]).split('\n\n')[1] ?? '');
  const line = `— w ${Buffer.concat([keyId, time, signed?.bytes ?? time]).toString('base64')}`;
  expect(witness && findCosignature(text, parseSignatures(line), witness)).toBe(line);
  expect(witness && findCosignature(`${text}x\n`, parseSignatures(line), witness)).toBeUndefined();
});
