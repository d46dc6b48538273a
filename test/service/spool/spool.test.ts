import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, utimesSync } from 'node:fs';
import { readFile, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSpool, type Spool } from '../../../src/inbox/spool/spool.ts';
import { decodeSegment, encodeRecord, type SpooledWebhook } from '../../../src/inbox/spool/spool-format.ts';
import { numRuns, propertyOptions } from '../../support/property.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

function record(text: string): SpooledWebhook {
  return {
    receivedAt: new Date(1_700_000_000_000),
    address: '127.0.0.1',
    headers: { 'x-a': 'é' },
    body: Buffer.from(text),
  };
}

/** Takes what may be taken. @returns its bodies. */
async function drain(spool: Spool): Promise<string[]> {
  const bodies: string[] = [];
  for (const name of await spool.claimSegments()) {
    const segment = spool.readSegment(name);
    if (!segment) continue;
    bodies.push(...segment.records.map((one) => one.body.toString()));
    await spool.removeSegment(name, segment);
  }
  return bodies;
}

describe('the spool', () => {
  it('reads back all records, and skips a record that a crash cut off at the end', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array(), { minLength: 1 }), fc.nat(), (bodies, cut) => {
        const records = bodies.map((body) => ({ ...record(''), body: Buffer.from(body) }));
        const encoded = records.map(encodeRecord);
        const whole = Buffer.concat(encoded);
        expect(decodeSegment(whole)).toEqual({ records, truncatedBytes: 0, damagedBytes: 0 });
        const last = encoded.at(-1)?.length ?? 0;
        const incomplete = whole.subarray(0, whole.length - 1 - (cut % last));
        const truncatedBytes = incomplete.length - (whole.length - last);
        expect(decodeSegment(incomplete)).toEqual({ records: records.slice(0, -1), truncatedBytes, damagedBytes: 0 });
      }),
      propertyOptions(30, 300),
    );
  });

  it('loses nothing but the record in which a byte was changed, and knows that it is damaged', () => {
    const bodies = fc.array(fc.uint8Array(), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(bodies, fc.nat(), fc.integer({ min: 1, max: 255 }), (of, where, change) => {
        const records = of.map((one) => ({ ...record(''), body: Buffer.from(one) }));
        const encoded = records.map(encodeRecord);
        // not in the last record: with a changed length, that one would count as cut off
        const hit = where % (encoded.length - 1);
        const flipped = encoded[hit] ?? Buffer.alloc(0);
        const at = where % flipped.length;
        flipped[at] = (flipped[at] ?? 0) ^ change;
        expect(decodeSegment(Buffer.concat(encoded))).toEqual({
          records: records.filter((_, index) => index !== hit),
          truncatedBytes: 0,
          damagedBytes: flipped.length,
        });
      }),
      propertyOptions(30, 300),
    );
  });

  it('knows a last record with a changed body from one that was cut off', () => {
    const last = encodeRecord(record('last'));
    last[last.length - 1] = 0;
    expect(decodeSegment(Buffer.concat([encodeRecord(record('first')), last]))).toEqual({
      records: [record('first')],
      truncatedBytes: 0,
      damagedBytes: last.length,
    });
  });

  it('knows the same bytes again, also after a restart, and forgets them once they are drained', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    expect(await Promise.all([spool.append(record('a')), spool.append(record('b'))])).toEqual([false, false]);
    expect(await spool.append(record('a'))).toBe(true);
    await using again = openSpool(home.path);
    expect(await again.append(record('b'))).toBe(true);
    await drain(spool);
    expect(spool.bytes).toBe(0);
    expect(await spool.append(record('a'))).toBe(false);
  });

  it('refuses a webhook beyond its limit in bytes', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path, 400);
    await spool.append(record('x'.repeat(200)));
    await expect(spool.append(record('y'.repeat(200)))).rejects.toThrow(/the spool is full: /);
    expect(await spool.append(record('z'))).toBe(false);
  });

  it('makes its directory again where it was removed, says so, and keeps what it answers then', async () => {
    using home = temporaryDirectory();
    const directory = path.join(home.path, 'spool');
    let removed = 0;
    await using spool = openSpool(directory, undefined, () => removed++);
    await spool.append(record('lost'));
    for (const body of ['a', 'b']) {
      rmSync(directory, { recursive: true });
      expect(await spool.append(record(body))).toBe(false);
      expect(await drain(spool)).toEqual([body]);
    }
    expect(removed).toBe(2);
    rmSync(directory, { recursive: true });
    expect([await spool.claimSegments(), spool.bytes, removed]).toEqual([[], 0, 3]);
    await spool.probe();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('lets no more wait for the disk than its bound, and keeps all that it takes', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    const answers = await Promise.allSettled(Array.from({ length: 8_200 }, (_, n) => spool.append(record(`${n}`))));
    expect(answers.filter((answer) => answer.status === 'rejected')).toHaveLength(8);
    expect(await drain(spool)).toHaveLength(8_192);
  });

  it('skips an incomplete end and drains the rest', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    await spool.append(record('first'));
    await spool.append(record('second'));
    const [name = ''] = readdirSync(home.path);
    truncateSync(path.join(home.path, name), spool.bytes - 3);
    await using again = openSpool(home.path);
    expect(again.readSegment(name)).toMatchObject({ records: [record('first')], damagedBytes: 0 });
    expect(again.readSegment(name)?.truncatedBytes).toBeGreaterThan(0);
  });
});

describe('a spool that two processes use', () => {
  /** As another container would have named it. */
  const nameElsewhere = (home: string): string => {
    const [name = ''] = readdirSync(home);
    const elsewhere = name.replace(/-[0-9a-f]{12}\./, '-000000000000.');
    expect(elsewhere).not.toBe(name);
    renameSync(path.join(home, name), path.join(home, elsewhere));
    return path.join(home, elsewhere);
  };

  it('leaves alone for minutes what a process writes that it can not see', async () => {
    using home = temporaryDirectory();
    {
      await using writer = openSpool(home.path);
      await writer.append(record('first'));
    }
    const segment = nameElsewhere(home.path);
    await using spool = openSpool(home.path);
    expect(await drain(spool)).toEqual([]);
    expect(spool.isEmpty()).toBe(false);
    const longAgo = new Date(Date.now() - 10 * 60_000);
    utimesSync(segment, longAgo, longAgo);
    expect(await drain(spool)).toEqual(['first']);
    expect(spool.isEmpty()).toBe(true);
  });

  it('takes at once what a process left that is gone', async () => {
    using home = temporaryDirectory();
    {
      await using writer = openSpool(home.path);
      await writer.append(record('first'));
    }
    const [name = ''] = readdirSync(home.path);
    renameSync(path.join(home.path, name), path.join(home.path, name.replace(/\.\d+-\d+-/, '.4194304-1-')));
    await using spool = openSpool(home.path);
    expect(await drain(spool)).toEqual(['first']);
  });

  it('does not acknowledge a webhook written to a segment that another process has claimed', async () => {
    using home = temporaryDirectory();
    await using writer = openSpool(home.path);
    const found: string[] = [];
    const answered: string[] = [];
    let isWriting = true;
    const taking = (async () => {
      while (isWriting) {
        for (const name of readdirSync(home.path)) {
          const taken = path.join(home.path, `${name}.taken`);
          await rename(path.join(home.path, name), taken);
          found.push(...decodeSegment(await readFile(taken)).records.map((one) => one.body.toString()));
          await unlink(taken);
        }
        await sleep(1);
      }
    })();
    for (let n = 0; n < numRuns(100, 400); n++) {
      await writer.append(record(`${n}`)).then(
        () => answered.push(`${n}`),
        () => undefined,
      );
    }
    isWriting = false;
    await taking;
    found.push(...(await drain(writer)));
    expect(answered.length).toBeGreaterThan(0);
    expect(answered.filter((one) => !found.includes(one))).toEqual([]);
  });
});

describe('a disk that is full', () => {
  it('is left as it was by a webhook that did not fit', async () => {
    using home = temporaryDirectory();
    const directory = path.join(home.path, 'spool');
    const script = `
      import { openSpool } from '${path.resolve('src/inbox/spool/spool.ts')}';
      const spool = openSpool(process.argv[1]);
      const append = (bytes) => spool.append({ receivedAt: new Date(), address: '', headers: {}, body: Buffer.alloc(bytes) });
      await append(1);
      for (let n = 0; n < 5; n++) await append(200_000).then(() => process.exit(1), () => undefined);
      await append(2);
    `;
    // no file may grow beyond 64 KiB
    const limited = [
      '-c',
      'ulimit -f 64 && exec "$@"',
      'limited',
      process.execPath,
      '--input-type=module',
      '-e',
      script,
    ];
    await promisify(execFile)('bash', [...limited, directory]);
    const segments = readdirSync(directory).map((name) => decodeSegment(readFileSync(path.join(directory, name))));
    expect(segments.map(({ records }) => records.map((one) => one.body.length))).toEqual([[1], [2]]);
    expect(segments.map(({ truncatedBytes, damagedBytes }) => truncatedBytes + damagedBytes)).toEqual([0, 0]);
  });
});
