import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { readCredentials } from '../../../src/merchants/secrets.ts';
import { copyEmbeddedData } from '../../support/copy-embedded-data.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { DEEP } from '../../support/property.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

/** The embedded database, with its key in DATA_DIR. */
const embeddedEnv = (dataDir: string) => ({ DATABASE_URL: '', SECRET_KEY: '', DATA_DIR: dataDir });

async function readSecret({ context }: TestEnvironment): Promise<string | undefined> {
  const { seq } = await context.db.selectFrom('merchants').select('seq').executeTakeFirstOrThrow();
  return (await readCredentials(context, context.db, [seq])).get(seq)?.keys[0]?.export().toString('base64');
}

// each start of a new embedded server takes seconds
describe.runIf(DEEP).each<'dump' | 'copy'>(['dump', 'copy'])('an embedded database, backed up as %s', (method) => {
  it('is restored with its key into an empty DATA_DIR, while the old one still runs', async () => {
    using home = temporaryDirectory();
    const [old, fresh, to] = ['old', 'fresh', 'backup'].map((name) => path.join(home.path, name)) as [
      string,
      string,
      string,
    ];
    await copyEmbeddedData(old);
    await using before = await openEnvironment(embeddedEnv(old));
    const { merchant } = await createMerchant(before.context, { name: 'Loja', url: 'https://loja.example/pix' });
    const made = await runCommandInProcess(['backup', '--to', to, '--method', method, '--json'], embeddedEnv(old));
    expect({ ...made, out: JSON.parse(made.out) as unknown }).toMatchObject({
      code: 0,
      err: '',
      out: { method, has_key: true },
    });

    const restored = await runCommandInProcess(['restore', '--from', to], embeddedEnv(fresh));
    expect(restored).toMatchObject({ code: 0, err: expect.stringMatching(/^confere: without --sum, .+\n$/) });
    const keyFile = path.join(fresh, 'secret.key');
    expect(readFileSync(keyFile, 'utf8')).toBe(readFileSync(path.join(old, 'secret.key'), 'utf8'));
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    await using after = await openEnvironment(embeddedEnv(fresh));
    expect(await after.context.db.selectFrom('merchants').select('id').execute()).toEqual([{ id: merchant.id }]);
    expect(await readSecret(after)).toBe(await readSecret(before));
    expect(existsSync(path.join(fresh, 'mariadb', 'data.new'))).toBe(false);
  });
});
