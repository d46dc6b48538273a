import express from 'express';
import { PgBoss } from 'pg-boss';
import { Agent } from 'undici';
import { listenForBench, postCallback, readOptions } from '../programs/chain-server.ts';

/** Express and pg-boss, as its documentation writes them: a job for each webhook, and workers that post what they fetch. */
const WORKERS = 4;
const BATCH = 64;
/** The shortest that it takes. */
const POLL_SECONDS = 0.5;
const { secret, socketPath, merchantUrl, works } = readOptions();
const boss = new PgBoss({ host: socketPath, user: 'postgres', database: 'postgres', max: 30 });
boss.on('error', (error) => process.stderr.write(`${error}\n`));
await boss.start();
await boss.createQueue('webhooks');

const agent = new Agent({ connections: BATCH });
const post = async ({ data }: { data: { body: string } }): Promise<void> => {
  const { transaction_id: id, ...rest } = JSON.parse(data.body) as { transaction_id: string };
  await postCallback(agent, merchantUrl, { ...rest, id });
};
for (let started = 0; works && started < WORKERS; started++) {
  await boss.work<{ body: string }>(
    'webhooks',
    { batchSize: BATCH, pollingIntervalSeconds: POLL_SECONDS },
    async (jobs) => {
      await Promise.all(jobs.map(post));
    },
  );
}

const app = express();
app.use(express.raw({ type: () => true }));
app.post('/webhooks/pix', async (request, response) => {
  if (request.headers.authorization !== `Bearer ${secret}`) {
    response.status(401).end();
    return;
  }
  await boss.send('webhooks', { body: String(request.body) });
  response.end();
});
listenForBench(app);
