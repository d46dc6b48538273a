/** Checkpoints: signed once a minute at most, recorded in the database and in DATA_DIR. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { sealLedger, sealNow } from '../../../src/seal/seal-ledger.ts';
import { CHECKPOINT_LIMITS, makeCheckpoint, readVerifiers } from '../../../src/tlog/checkpoints.ts';
import { listPublicKeys, rotateManifestKey } from '../../../src/tlog/keys.ts';
import { isSignedNote, parseCheckpoint } from '../../../src/tlog/note.ts';
import { beginOrigin, nameRestored, readOrigin, requireOrigin } from '../../../src/tlog/origins.ts';
import { readRoot } from '../../../src/tlog/tree.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const env = closeAfterAll(await openEnvironment({ PUBLIC_URL: 'https://confere.example.com' }));

const write = (target: string) => audit(env.context, { actor: 'command', action: 'test', target });

test('an empty log has none; then each names the tree, and all keys that sign verify it', async () => {
  const { context } = env;
  expect(await makeCheckpoint(context)).toBeUndefined();
  await write('a');
  await sealNow(context);
  const first = await makeCheckpoint(context);
  expect(await makeCheckpoint(context)).toEqual(first);
  await rotateManifestKey(context);
  await write('b');
  await sealNow(context);
  const second = parseCheckpoint((await makeCheckpoint(context))?.note ?? '');
  expect(second).toMatchObject({ origin: 'confere.example.com/log', size: 2, root: await readRoot(context.db, 2) });
  const verifiers = await readVerifiers(context.db, second?.origin ?? '');
  expect(second?.signatures).toHaveLength(2);
  expect(second && isSignedNote(second.text, second.signatures, verifiers)).toBe(true);
  expect(second && isSignedNote(second.text.replace('\n2\n', '\n3\n'), second.signatures, verifiers)).toBe(false);
});

test('the sealer records one a minute in DATA_DIR, and keeps eight files', async () => {
  const { context, timers, dataDir } = env;
  const directory = path.join(dataDir, 'manifests');
  const read = () => {
    const files = readdirSync(directory).filter((name) => name.startsWith('checkpoints-'));
    const lines = readFileSync(path.join(directory, files.sort().at(-1) ?? ''), 'utf8').matchAll(/"checkpoint":/g);
    return { files: files.length, checkpoints: [...lines].length };
  };
  mkdirSync(directory, { recursive: true });
  for (let day = 1; day <= CHECKPOINT_LIMITS.files; day++)
    writeFileSync(path.join(directory, `checkpoints-2020-01-0${day}.jsonl`), '\n{"checkpoint":');
  const stop = new AbortController();
  const loop = sealLedger({ ...context, signal: stop.signal });
  try {
    await eventually('the first checkpoint', () => read().checkpoints === 1);
    await write('c');
    await sealNow(context);
    await eventually('the second checkpoint', async () => {
      await timers.advance(CHECKPOINT_LIMITS.everyMs);
      return read().checkpoints === 2;
    });
  } finally {
    stop.abort();
    await loop;
  }
  expect(read()).toEqual({ files: CHECKPOINT_LIMITS.files, checkpoints: 2 });
});

test('another LOG_ORIGIN begins another origin with the same leaves; a name that was left does not come back', async () => {
  const named = await env.replica({ LOG_ORIGIN: 'log.example.com/confere' });
  expect(await readOrigin(named)).toMatchObject({ seq: 2, origin: 'log.example.com/confere', from_size: 3 });
  expect(parseCheckpoint((await makeCheckpoint(named))?.note ?? '')).toMatchObject({ size: 3 });
  expect(await readOrigin(env.context)).toMatchObject({ seq: 2 });
  expect(await beginOrigin(named, 'confere.example.com/log')).toMatchObject({ seq: 2 });
  await expect(requireOrigin(named)).resolves.toBeUndefined();
});

test('a LOG_ORIGIN that the name before begins with takes effect, one that was left is refused, and all names keep their keys', async () => {
  const named = await env.replica({ LOG_ORIGIN: 'log.example.com' });
  await requireOrigin(named);
  expect(await readOrigin(named)).toMatchObject({ seq: 3, origin: 'log.example.com' });
  const left = await env.replica({ LOG_ORIGIN: 'log.example.com/confere' });
  await expect(requireOrigin(left)).rejects.toThrow(
    'LOG_ORIGIN: the log had the name log.example.com/confere before, and has the name log.example.com now',
  );
  await beginOrigin(named, nameRestored(named, await readOrigin(named), new Date('2026-11-27T01:02:03Z')));
  expect(await readOrigin(named)).toMatchObject({ seq: 4, origin: 'log.example.com/20261127010203' });
  await requireOrigin(named);
  const [key] = await listPublicKeys(named);
  const nameOf = (vkey: string | undefined) => vkey?.split('+')[0];
  expect([key?.vkey, ...(key?.earlier_vkeys ?? [])].map(nameOf)).toEqual([
    'log.example.com/20261127010203',
    'log.example.com',
    'log.example.com/confere',
    'confere.example.com/log',
  ]);
});
