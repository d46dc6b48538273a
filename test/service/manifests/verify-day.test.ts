/** The scripts that verify a day: a damaged file cannot be checked (3); what is whole and false is not genuine (2). */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { digestIds } from '../../../src/callbacks/render/build-statement.ts';
import { hashLeaf, hashTile } from '../../../src/tlog/merkle.ts';
import { formatCheckpoint, formatProof, formatVerifier, signNote, verifierOf } from '../../../src/tlog/note.ts';
import { generateSigningKey } from '../../../src/tlog/signing-key.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const DOCS = path.resolve(import.meta.dirname, '../../../docs');
const SCRIPTS = { 'verify-day.mjs': process.execPath, 'verify-day.php': 'php' };
const ORIGIN = 'confere.example/log';
const IDS = ['msg_a1', 'msg_b2', 'msg_c3'];
const [{ publicKey, privateKey }, other] = [generateSigningKey(), generateSigningKey()];

/** The contents of the four files, in the order of the arguments; undefined: there is none, and null: a folder. */
type Files = Record<'manifest' | 'key' | 'ids' | 'kept', string | undefined | null>;

/** The files of a day, whose manifest is logged, and signed by a witness too. */
function makeDay(ids = IDS): Files & { manifest: string; key: string; ids: string; kept: string } {
  const statement = JSON.stringify({ messages: ids.length, ids_sha256: digestIds(ids).toString('hex') });
  const leaves = [hashLeaf('another'), hashLeaf(statement)];
  const signers = [
    { ...verifierOf('witness.example', other.publicKey, 4), privateKey: other.privateKey },
    { ...verifierOf(ORIGIN, publicKey), privateKey },
  ];
  const note = signNote(formatCheckpoint({ origin: ORIGIN, size: 2, root: hashTile(leaves) }), signers);
  const proof = formatProof(1, leaves.slice(0, 1), note);
  return {
    manifest: JSON.stringify({ data: { payload: Buffer.from(statement).toString('base64url'), proof } }),
    key: `${formatVerifier(ORIGIN, publicKey)}\n`,
    ids: ids.map((id) => `${id}\n`).join(''),
    kept: ids.join('\n'),
  };
}

/** Runs both scripts on files. @returns what they say, with their exit code: the same. */
function verify(files: Files): [number | null, string] {
  using home = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(home.path, name);
    if (text === null) mkdirSync(file);
    else if (text !== undefined) writeFileSync(file, text);
  }
  const said = Object.entries(SCRIPTS).map(([script, program]) => {
    const args = [path.join(DOCS, script), 'manifest', 'key', 'ids', 'kept'];
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: home.path, encoding: 'utf8' });
    return [status, stdout + stderr] as [number | null, string];
  });
  expect(said[1]).toEqual(said[0]);
  return said[0] ?? [null, ''];
}

const DAY = makeDay();
const HTML = '<html><body>502 Bad Gateway</body></html>\n';
const PROBLEM = '{"error":{"code":"not_found"}}\n';
const cut = (text: string, by: number) => text.slice(0, -by);
/** The manifest with a part of its payload or proof replaced. */
function change(found: RegExp, by: string): Files {
  const { data } = JSON.parse(DAY.manifest) as { data: { payload: string; proof: string } };
  const proof = data.proof.replace(found, by);
  expect(proof).not.toBe(data.proof);
  return { ...DAY, manifest: JSON.stringify({ data: { ...data, proof } }) };
}

test('a day whose files are whole is verified, that of no message too', () => {
  expect(verify(DAY)).toEqual([0, 'nothing is missing\n']);
  expect(verify({ ...DAY, kept: `msg_b2\r\nmsg_0\r\n` })).toEqual([1, 'missing msg_a1\nmissing msg_c3\n']);
  expect(verify({ ...DAY, key: `\uFEFF${DAY.key}`, kept: `\uFEFF${DAY.kept}` })[0]).toBe(0);
  expect(verify(makeDay([]))).toEqual([0, 'nothing is missing\n']);
});

test.each<[keyof Files, string, Files[keyof Files], string]>([
  ...(['manifest', 'key', 'ids', 'kept'] as const).flatMap(
    (name): [keyof Files, string, Files[keyof Files], string][] => [
      [name, 'missing', undefined, 'cannot be read'],
      [name, 'a folder', null, 'cannot be read'],
      [name, 'empty', '', 'is empty'],
    ],
  ),
  ['manifest', 'cut off', cut(DAY.manifest, 10), 'is cut off or no manifest with a proof'],
  ...[
    HTML,
    PROBLEM,
    'null',
    '5',
    '{"data":null}',
    '{"data":"x"}',
    '{"data":{"payload":5,"proof":"x"}}',
    '{"payload":"e30","proof":5}',
    '{"payload":"e30","signatures":[]}',
  ].map((text): [keyof Files, string, string, string] => [
    'manifest',
    text,
    text,
    'is cut off or no manifest with a proof',
  ]),
  ['manifest', 'not logged', DAY.manifest.replace(/"proof":".*?"/, '"proof":null'), 'has no proof yet'],
  [
    'manifest',
    'of a cut payload',
    DAY.manifest.replace(/("payload":".{20}).*?"/, '$1"'),
    'is cut off or no manifest with a proof',
  ],
  ['manifest', 'of a cut proof', DAY.manifest.replace(/.{30}"\}\}$/, '"}}'), 'is cut off or no manifest with a proof'],
  [
    'manifest',
    'of a short signature',
    change(/[\w+/]{8}={0,2}\n$/, '\n').manifest ?? '',
    'is cut off or no manifest with a proof',
  ],
  ['key', 'cut off', cut(DAY.key, 6), 'is cut off or no key of a log'],
  ['key', 'another text', HTML, 'is cut off or no key of a log'],
  ['key', 'undefined', 'undefined\n', 'is cut off or no key of a log'],
  ['key', 'changed', DAY.key.replace(/\+A/, '+B'), 'is cut off or no key of a log'],
  ['key', 'UTF-16', Buffer.from(DAY.key, 'utf16le').toString('latin1'), 'is cut off or no key of a log'],
  ['ids', 'cut within a line', cut(DAY.ids, 3), 'is cut off or no list of ids'],
  ['ids', 'cut after a line', cut(DAY.ids, 7), 'is cut off or no list of ids'],
  ['ids', 'another text', HTML, 'is no list of ids'],
  ['ids', 'a problem', PROBLEM, 'is no list of ids'],
  ['ids', 'saved with other line ends', DAY.ids.replaceAll('\n', '\r\n'), 'is cut off or no list of ids'],
  ['kept', 'another text', HTML, 'is no list of ids'],
])('%s: %s: it cannot be checked', (name, _what, text, says) => {
  expect(verify({ ...DAY, [name]: text })).toEqual([3, `cannot be checked: ${name} ${says}: get it again\n`]);
});

test.each<[string, Files, string]>([
  ['the key of another log', { ...DAY, key: formatVerifier(ORIGIN, other.publicKey) }, 'not signed by the log'],
  ['the log of another name', { ...DAY, key: formatVerifier('another/log', publicKey) }, 'not signed by the log'],
  ['another size', change(/\n2\n/, '\n3\n'), 'not signed by the log'],
  ['another place', change(/index 1/, 'index 0'), 'not in the log'],
  ['a place after the last', change(/index 1/, 'index 2'), 'not in the log'],
  [
    'another statement',
    {
      ...DAY,
      manifest: DAY.manifest.replace(
        /"payload":".*?"/,
        `"payload":"${Buffer.from(JSON.stringify({ messages: 3, ids_sha256: '0'.repeat(64) })).toString('base64url')}"`,
      ),
    },
    'not in the log',
  ],
  ['another id', { ...DAY, ids: DAY.ids.replace('a1', 'a2') }, 'not the ids of this manifest'],
  ['one more id', { ...DAY, ids: `${DAY.ids}msg_d4\n` }, 'not the ids of this manifest'],
])('%s: it is not genuine', (_what, files, says) => {
  expect(verify(files)).toEqual([2, `${says}\n`]);
});
