import express from 'express';
import mysql from 'mysql2/promise';
import { Agent } from 'undici';
import { listenForBench, postCallback, readOptions } from './chain-server.ts';

/**
 * What the chain cannot go below with one statement at a time: commit the body, answer 200, fetch the transaction, commit
 * one row, post the callback. No signature, no ledger, no order, no second try. The database and its durability are ours.
 */
const CONNECTIONS = 30;
const { secret, socketPath, database, providerUrl, apiKey, merchantUrl } = readOptions();
const pool = mysql.createPool({ socketPath, user: 'root', database, connectionLimit: CONNECTIONS });
await pool.query('CREATE TABLE IF NOT EXISTS bodies (seq BIGINT AUTO_INCREMENT PRIMARY KEY, body LONGBLOB NOT NULL)');
await pool.query(
  'CREATE TABLE IF NOT EXISTS shown (seq BIGINT AUTO_INCREMENT PRIMARY KEY, id VARCHAR(36) NOT NULL UNIQUE, status VARCHAR(20) NOT NULL)',
);
const agent = new Agent({ connections: CONNECTIONS });

async function handle(id: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  const answer = await agent.request({
    origin: providerUrl,
    path: `/api/v1/transaction/${id}`,
    method: 'GET',
    headers,
  });
  if (answer.statusCode !== 200)
    throw new Error(`the sandbox answered ${answer.statusCode}: ${await answer.body.text()}`);
  const { transaction: shown } = (await answer.body.json()) as { transaction: { status: string }[] };
  const [transaction] = shown;
  if (!transaction) throw new Error(`the sandbox knows no transaction ${id}`);
  await pool.execute('INSERT INTO shown (id, status) VALUES (?, ?)', [id, transaction.status]);
  await postCallback(agent, merchantUrl, { ...transaction, id });
}

const app = express();
app.use(express.raw({ type: () => true }));
app.post('/webhooks/pix', async (request, response) => {
  if (request.headers.authorization !== `Bearer ${secret}`) {
    response.status(401).end();
    return;
  }
  const { transaction_id: id } = JSON.parse(String(request.body)) as { transaction_id: string };
  await pool.execute('INSERT INTO bodies (body) VALUES (?)', [request.body]);
  response.end();
  await handle(id);
});
listenForBench(app);
