import { Queue, Worker } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import { Agent } from 'undici';
import { listenForBench, postCallback, readOptions } from '../programs/chain-server.ts';

/** Express and BullMQ, as its documentation writes them: a job for each webhook, and a worker that posts it. */
const CONCURRENCY = 64;
const { secret, socketPath, merchantUrl, works } = readOptions();
const connect = (): Redis => new Redis({ path: socketPath, maxRetriesPerRequest: null });
const queue = new Queue('webhooks', { connection: connect(), defaultJobOptions: { removeOnComplete: true } });
await queue.waitUntilReady();

const agent = new Agent({ connections: CONCURRENCY });
if (works) {
  new Worker(
    'webhooks',
    async ({ data }) => {
      const { transaction_id: id, ...rest } = JSON.parse(data.body as string) as { transaction_id: string };
      await postCallback(agent, merchantUrl, { ...rest, id });
    },
    { connection: connect(), concurrency: CONCURRENCY },
  );
}

const app = express();
app.use(express.raw({ type: () => true }));
app.post('/webhooks/pix', async (request, response) => {
  if (request.headers.authorization !== `Bearer ${secret}`) {
    response.status(401).end();
    return;
  }
  await queue.add('webhook', { body: String(request.body) });
  response.end();
});
listenForBench(app);
