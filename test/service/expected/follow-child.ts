import { startDelivery } from '../../../src/callbacks/deliver/deliver.ts';
import { readConfig } from '../../../src/config.ts';
import { openContext } from '../../../src/context.ts';
import { followPayments } from '../../../src/expected/follow/follow-payments.ts';
import { createLog } from '../../../src/log.ts';

/** A worker that follows payments and delivers, in a process of its own: to be killed. Its environment is the test's. */
const log = createLog('silent', process.stderr);
const stop = new AbortController();
process.on('disconnect', () => process.exit(0));
const context = await openContext(readConfig(process.env), { log, signal: stop.signal, migrates: false });
process.send?.('started');
await Promise.all([startDelivery(context), followPayments(context)]);
