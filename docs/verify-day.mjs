// Verifies the manifest of a day offline, and names the messages of the day that you lack. Needs Node alone.
//   node verify-day.mjs manifest.json key.txt ids.txt kept.txt
// key.txt: the vkey of the log, stored when you began. Exit code: 0 nothing is missing; 1 something is; 2 the manifest or the ids are not genuine; 3 cannot be checked: a file is missing, empty, cut off or another, or there is no proof yet.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const require = (holds, text, code = 2) => holds || (console.error(text), process.exit(code));
require(process.argv.length === 6, 'usage: node verify-day.mjs manifest.json key.txt ids.txt kept.txt', 3);
process.on('uncaughtException', ({ message }) => require(false, `cannot be checked: ${message}`, 3));
const files = process.argv.slice(2);
const attempt = (act) => { try { return act(); } catch { return undefined; } };
const read = (file) => attempt(() => readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
const [manifest, vkey, ids, kept] = files.map(read);
const need = (at, holds, text) => require(holds, `cannot be checked: ${files[at]} ${text}: get it again`, 3);
[manifest, vkey, ids, kept].forEach((text, at) => need(at, text !== undefined, 'cannot be read'));
[manifest, vkey].forEach((text, at) => need(at, text !== '', 'is empty'));
const hash = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
// each file has its form
const answer = attempt(() => JSON.parse(manifest));
const { payload, proof } = answer?.data ?? answer ?? {};
need(0, typeof payload === 'string' && proof !== undefined, 'is cut off or no manifest with a proof');
need(0, proof !== null, 'has no proof yet');
const statement = Buffer.from(payload, 'base64url');
const { messages, ids_sha256: digest } = attempt(() => JSON.parse(statement)) ?? {};
need(0, Number.isInteger(messages) && /^[0-9a-f]{64}$/.test(digest), 'is cut off or no manifest with a proof');
const form = /^c2sp\.org\/tlog-proof@v1\nindex ([0-9]{1,15})\n((?:[A-Za-z0-9+/]{43}=\n)*)\n(([^\n]+)\n([0-9]{1,15})\n([A-Za-z0-9+/]{43}=)\n)\n((?:— [^ \n]+ [A-Za-z0-9+/]+={0,2}\n)+)$/;
const parts = form.exec(proof);
need(0, parts, 'is cut off or no manifest with a proof');
const [, index, path, text, origin, size, root, signatures] = parts;
const [, name, id, base64] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})\s*$/.exec(vkey) ?? [];
const keyBytes = Buffer.from(base64 ?? '', 'base64');
need(1, hash(Buffer.from(`${name}\n`), keyBytes).toString('hex', 0, 4) === id, 'is cut off or no key of a log');
const lines = signatures.trim().split('\n').map((line) => line.split(' '));
const own = lines.filter(([, who]) => who === name).map(([, , line]) => Buffer.from(line, 'base64'));
const signed = own.find((bytes) => bytes.toString('hex', 0, 4) === id);
need(0, !signed || signed.length === 68, 'is cut off or no manifest with a proof');
const split = (list) => list.split(/[ \t\r\n]+/).filter((one) => one !== '');
const [all, mine] = [split(ids), split(kept)];
[all, mine].forEach((list, at) => {
  need(at + 2, list.length > 0 || messages === 0, 'is empty');
  need(at + 2, list.every((one) => /^[\w.:-]+$/.test(one)), 'is no list of ids');
});
need(2, ids === all.map((one) => `${one}\n`).join('') && all.length >= messages, 'is cut off or no list of ids');
// the log signed the checkpoint
const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: keyBytes.toString('base64url', 1) } });
require(origin === name && signed && verify(null, Buffer.from(text), key, signed.subarray(4)), 'not signed by the log');
// the statement is in the tree of the checkpoint (RFC 9162, section 2.1.3.2)
let [at, last, found] = [Number(index), Number(size) - 1, hash(Buffer.from([0]), statement)];
require(at <= last, 'not in the log');
for (const sibling of split(path).map((line) => Buffer.from(line, 'base64'))) {
  require(last > 0, 'not in the log');
  const isRight = at % 2 === 1 || at === last;
  found = isRight ? hash(Buffer.from([1]), sibling, found) : hash(Buffer.from([1]), found, sibling);
  if (isRight) while (at % 2 === 0 && at > 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
}
require(last === 0 && found.toString('base64') === root, 'not in the log');
// the ids are those of the statement
require(hash(Buffer.from(ids)).toString('hex') === digest, 'not the ids of this manifest');
const known = new Set(mine);
const missing = all.filter((one) => !known.has(one));
console.log(missing.map((one) => `missing ${one}`).join('\n') || 'nothing is missing');
process.exit(missing.length > 0 ? 1 : 0);
