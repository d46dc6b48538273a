import { randomBytes } from 'node:crypto';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { transact } from '../../database/transact.ts';
import { COMMIT_TIMEOUT_MS } from './write-arrivals.ts';

/** Needs a page of its own, as a large webhook: on a full disk a small row may still fit into a page that is there. */
const PROBE_BODY_BYTES = 16 * 1024;

/**
 * Commits what a webhook needs: a row of the inbox. The same transaction deletes it, so that nobody sees it. One of the
 * connections that store webhooks must answer too.
 * @throws the error that would refuse a webhook.
 */
export async function probeInbox({ db, clock, preparedStatements }: Context): Promise<void> {
  await transact(db, async (trx) => {
    const { insertId } = await trx
      .insertInto('webhooks')
      .values({
        // a new one each time: InnoDB locks the gap beside a deleted key that is inserted again
        hash: randomBytes(32),
        ...{
          body: Buffer.alloc(PROBE_BODY_BYTES),
          received_at: clock.now(),
          source_address: '',
          headers: '{}',
          state: 'probe',
        },
      })
      .executeTakeFirstOrThrow();
    await trx.deleteFrom('webhooks').where('seq', '=', requireRowNumber(insertId, 'a probe of the inbox')).execute();
  });
  await preparedStatements.execute('DO 0', [], COMMIT_TIMEOUT_MS);
}
