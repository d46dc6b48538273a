/** A client of two replicas: it sends webhooks, books by the API under idempotency keys, and keeps what was acknowledged. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { expect } from 'vitest';
import { addDays, addMonths, boundsOfMonth, monthOf } from '../../src/domain/calendar.ts';
import { eventually } from '../support/eventually.ts';
import { makeOfx } from '../support/make-ofx.ts';
import { ADMIN_TOKEN, type Served, type startSandbox } from '../support/start-serve.ts';

const SENDERS = 4;
const SEND_EVERY_MS = 60;
const PAY_EVERY_MS = 500;
const BOOK_EVERY_MS = 200;
const REQUEST_MS_MAX = 60_000;

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;
type Json = Record<string, unknown>;
type Booked = { id: string; amount: string };

export class Load {
  /** Ids of webhooks that were answered 200. */
  readonly webhooks = new Set<string>();
  /** Texts that are stored with what was answered 2xx: FITIDs of lines, notes of all others. */
  readonly facts = { adjustments: [], lines: [], ruleMatches: [], matches: [], closes: [] } as Record<string, string[]>;
  /** Actions and targets that the audit must have, one row each. */
  readonly audited: string[] = [];
  readonly statuses: Record<number, number> = {};
  private isGoing = true;
  private lastBookedMs = 0;
  private readonly payments: string[] = [];
  private readonly work: Promise<unknown>[] = [];
  /** Rules match a line with an entry two days apart at most, a person 31. The closed month is before both. */
  private readonly day = addDays(new Date().toISOString().slice(0, 10), -5);
  private readonly farDay = addDays(this.day, -20);
  private readonly month = addMonths(addMonths(monthOf(this.day), -1), -1);
  private readonly replicas: Served[];
  private readonly platform: string;

  constructor(replicas: Served[], platform: string) {
    this.replicas = replicas;
    this.platform = platform;
  }

  /** Books an entry of a past month, proves its days, and begins. */
  async start(sandbox: Sandbox): Promise<void> {
    const bounds = boundsOfMonth(this.month);
    await this.adjust(0, bounds.from);
    const { json } = await this.insist('POST', '/reconciliations', bounds);
    this.audited.push(`reconciliations.start ${String(json.id)}`);
    await eventually(
      'the run',
      async () => (await this.get<Json>(`/reconciliations/${String(json.id)}`)).state === 'complete',
    );
    const senders = Array.from({ length: SENDERS }, (_, sender) => this.sendWebhooks(sender));
    this.work.push(this.pay(sandbox), this.book(), ...senders);
  }

  /** Waits until a request that began from now on was answered. @returns after how many milliseconds. */
  async goOn(): Promise<number> {
    const beganMs = performance.now();
    // what fails in the meantime is the error, not that nothing more is booked
    const failed = Promise.all(this.work).then(() => true);
    await Promise.race([eventually('writes go on', () => this.lastBookedMs > beganMs), failed]);
    return performance.now() - beganMs;
  }

  /** Ends after the answers to what was sent: nothing is left that may be booked, and was not acknowledged. */
  async stop(): Promise<void> {
    this.isGoing = false;
    await Promise.all(this.work);
  }

  private async pay({ api }: Sandbox): Promise<void> {
    const transactions = [{ status: 'paid', operation: 'cashin', platform: this.platform }];
    for (; this.isGoing; await sleep(PAY_EVERY_MS)) {
      const made = await api.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
        transactions,
      });
      this.payments.push(...made.transactions.map(({ id }) => id));
    }
  }

  private async sendWebhooks(sender: number): Promise<void> {
    for (let n = 0; this.isGoing; n++, await sleep(SEND_EVERY_MS)) {
      const transaction_id = this.payments.at(-1 - (n % 12));
      if (!transaction_id) continue;
      const body = { id: n, transaction_id, status: 'paid', nonce: randomUUID() };
      const answer = await this.replicas[(n + sender) % this.replicas.length]?.webhook(body).catch(() => undefined);
      if (answer?.status === 200) this.webhooks.add(String(answer.json.id));
      else if (answer) expect(answer.status).toBe(503);
    }
  }

  private async book(): Promise<void> {
    for (let n = 1; this.isGoing; n++, await sleep(BOOK_EVERY_MS)) {
      const booked = await this.adjust(n, this.day);
      if (n % 5 === 0) await this.importLine(n, this.day, booked, 'ruleMatches');
      if (n % 5 === 2) await this.match(n, booked);
      if (n % 5 === 4) await this.changeMonth(n, n % 2 === 0 ? 'close' : 'reopen');
    }
  }

  private async adjust(n: number, day: string): Promise<Booked> {
    const note = `fact ${n}`;
    const body = { platform: this.platform, day, kind: 'bank', amount: `-${n + 1}.00`, note, new_platform: true };
    const { json } = await this.insist('POST', '/adjustments', body);
    this.facts.adjustments?.push(note);
    this.audited.push(`adjustments.create ${String(json.id)}`);
    return { id: String(json.id), amount: `${n + 1}.00` };
  }

  private async importLine(n: number, day: string, { amount }: Booked, more?: 'ruleMatches'): Promise<void> {
    const line = { day, fitid: `f${n}`, amount, memo: 'TED' };
    await this.insist('POST', '/bank/imports', makeOfx({ number: '1-1', from: day, lines: [line] }));
    for (const kind of ['lines', more]) if (kind) this.facts[kind]?.push(line.fitid);
    this.audited.push('imports.create bank');
  }

  private async match(n: number, booked: Booked): Promise<void> {
    await this.importLine(n, this.farDay, booked);
    const { lines } = await this.get<{ lines: { id: string; fitid: string }[] }>('/bank/lines?state=open&limit=1');
    expect(lines[0]?.fitid).toBe(`f${n}`);
    const note = `match ${n}`;
    const body = { line_id: lines[0]?.id, adjustment_id: booked.id, note };
    const { json } = await this.insist('POST', '/bank/matches', body);
    this.facts.matches?.push(note);
    this.audited.push(`bank.match ${String(json.id)}`);
  }

  private async changeMonth(n: number, action: 'close' | 'reopen'): Promise<void> {
    const note = `${action} ${n}`;
    await this.insist('POST', `/months/${this.month}/${action}`, { note });
    this.facts.closes?.push(note);
    this.audited.push(`months.${action} ${this.month}`);
  }

  private async get<T>(target: string): Promise<T> {
    // cast: the caller names what this address answers
    return (await this.insist('GET', target)).json as T;
  }

  /** Repeats a request under its key, by turns at both replicas, as a client does that got no answer. */
  private async insist(method: 'GET' | 'POST', target: string, body?: object | string): Promise<{ json: Json }> {
    const key = randomUUID();
    for (let n = 0; ; n++, await sleep(BOOK_EVERY_MS)) {
      const beganMs = performance.now();
      const replica = this.replicas[n % this.replicas.length] as Served;
      const url = `${replica.url}/api/v1${target}`;
      const noAnswer = { status: 0, json: {}, isLater: true };
      const answer = await this.send(method, url, key, body).catch(() => noAnswer);
      this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
      if (answer.status >= 200 && answer.status < 300) {
        if (method === 'POST') this.lastBookedMs = Math.max(this.lastBookedMs, beganMs);
        return answer;
      }
      if (answer.isLater) continue;
      const logged = readFileSync(replica.program.logFile, 'utf8').split('\n');
      const failed = logged.findLast((line) => line.includes('a request failed'));
      throw new Error(`${target}: ${JSON.stringify(answer)} ${failed}`);
    }
  }

  private async send(method: 'GET' | 'POST', url: string, key: string, body: object | string | undefined) {
    const isFile = typeof body === 'string';
    const response = await request(url, {
      ...{ method, headersTimeout: REQUEST_MS_MAX, bodyTimeout: REQUEST_MS_MAX },
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body ? { 'idempotency-key': key } : {}),
        'content-type': isFile ? 'application/octet-stream' : 'application/json',
      },
      body: isFile ? body : JSON.stringify(body),
    });
    // cast: each answer of the API is an object
    const json = (await response.body.json()) as Json;
    // 503, and 409 while the first attempt under this key is at work: both say when to repeat
    return { status: response.statusCode, json, isLater: response.headers['retry-after'] !== undefined };
  }
}
