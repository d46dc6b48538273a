// Verifies the manifest of a day offline, and names the messages of the day that you lack. Needs Node alone.
//   node verify-day.mjs manifest.json key.txt ids.txt kept.txt
// key.txt: the vkey of the log, stored when you began. Exit code: 0 nothing is missing; 1 something is; 2 the manifest is not genuine; 3 cannot be checked: a file is empty, or there is no proof yet.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

if (process.argv.length !== 6) process.exit((console.error('usage: node verify-day.mjs manifest.json key.txt ids.txt kept.txt'), 2));
process.on('uncaughtException', ({ message }) => (console.error(`cannot be checked: ${message}`), process.exit(3)));
const [manifest = '', vkey = '', ids = '', kept = ''] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'));
const hash = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const require = (holds, text) => holds || (console.error(text), process.exit(2));
const answer = JSON.parse(manifest);
const { payload, proof } = answer.data ?? answer;
if (!proof) throw new Error('there is no proof yet');
const statement = Buffer.from(payload, 'base64url');
const [head, text, signatures] = proof.split('\n\n');
const [, index, ...path] = head.split('\n');
const [origin, size, root] = text.split('\n');
// the log signed the checkpoint
const [, name, id, base64] = /^([^+]+)\+([0-9a-f]{8})\+(.+)/.exec(vkey.trim());
const x = Buffer.from(base64, 'base64').subarray(1).toString('base64url');
const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
const lines = signatures.split('\n').map((line) => line.split(' '));
const own = lines.map(([, who, line = '']) => [who, Buffer.from(line, 'base64')]);
const [, signed] = own.find(([who, bytes]) => who === name && bytes.toString('hex', 0, 4) === id) ?? [];
require(origin === name && signed && verify(null, Buffer.from(`${text}\n`), key, signed.subarray(4)), 'not signed by the log');
// the statement is in the tree of the checkpoint (RFC 9162, section 2.1.3.2)
let [at, last, found] = [Number(index.slice('index '.length)), Number(size) - 1, hash(Buffer.from([0]), statement)];
require(at <= last, 'not in the log');
for (const sibling of path.map((line) => Buffer.from(line, 'base64'))) {
  require(last > 0, 'not in the log');
  const isRight = at % 2 === 1 || at === last;
  found = isRight ? hash(Buffer.from([1]), sibling, found) : hash(Buffer.from([1]), found, sibling);
  if (isRight) while (at % 2 === 0 && at > 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
}
require(last === 0 && found.toString('base64') === root, 'not in the log');
// the ids are those of the statement
require(hash(Buffer.from(ids)).toString('hex') === JSON.parse(statement).ids_sha256, 'not the ids of this manifest');
const mine = new Set(kept.split(/\s+/));
const missing = ids.split('\n').filter((one) => one !== '' && !mine.has(one));
console.log(missing.map((one) => `missing ${one}`).join('\n') || 'nothing is missing');
process.exit(missing.length > 0 ? 1 : 0);
