import { createSecretKey, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { toProviderBody } from '../../callbacks/render/provider-body.ts';
import { TEST_TYPE } from '../../callbacks/render/renderable.ts';
import { sign } from '../../callbacks/render/sign.ts';
import { ConfereError, wrongUse } from '../../domain/errors.ts';
import { CALLBACK_FORMATS } from '../../merchants/callback-formats.ts';
import { EXAMPLE_TYPES } from '../../operations/merchants/message-types.ts';
import { parseInstant, readSecretIn } from './read-place.ts';

/** Where `npm start` listens. */
const LOCAL_URL = 'http://127.0.0.1:3000';
const PAGE = 200;
const POLL_MS = 1_000;
const FORWARD_TIMEOUT_MS = 30_000;
const SECRET_BYTES = 24;
const SECRET_PREFIX = 'whsec_';

type Options = {
  token?: string;
  server: string;
  forward: string;
  since?: string;
  types?: string;
  secret?: string;
  format: string;
  bearerToken?: string;
  once?: boolean;
};
type Event = { id: string; type: string; timestamp: string };
type Page = { events: Event[]; next_cursor: string };
type Forwarded = { isAccepted: boolean; says: string };
/** How events are posted. */
type Sending = { forward: URL; key: ReturnType<typeof readKey>; format: string; headers: Record<string, string> };

/** `confere listen …`: posts a merchant's events to an address on a developer's machine. It needs no database. */
export function listenCommand(program: Command): void {
  program
    .command('listen')
    .description(
      "fetch a merchant's events with its token of the portal or its pull token and post them, signed, to a local address; acknowledges none",
    )
    .option(
      '--token <file>',
      'the file with the token of the portal, cfm_…, or the pull token, mpt_…: operators give both; - for standard input; by default CONFERE_PULL_TOKEN or CONFERE_PORTAL_TOKEN',
    )
    .option('--server <url>', 'where Confere runs; by default PUBLIC_URL', process.env.PUBLIC_URL || LOCAL_URL)
    .requiredOption('--forward <url>', 'where to post, such as http://localhost:8080/pix')
    .option(
      '--since <when>',
      'also events that Confere made at or after, such as 2026-11-21T00:00:00-03:00, or from the event with this id on: msg_…',
    )
    .option('--types <types>', 'only these, with commas: pix.cashin.paid,pix.cashin.refund')
    .option(
      '--secret <file>',
      'sign with the whsec_… in this file; - for standard input; by default a new one, which is shown',
    )
    .option('--format <format>', 'standard; provider: the flat body of the provider', 'standard')
    .option('--bearer-token <file>', 'also send Authorization: Bearer … with what it holds; - for standard input')
    .option('--once', 'end once all events are posted; exit code 1 if one was not accepted')
    .addHelpText(
      'after',
      `
Example:
  ${program.name()} listen --server https://confere.example --token portal-token.txt --forward http://localhost:8080/pix
prints a line for each message, with what your address answered:
  2026-11-21T11:00:00.734Z  pix.cashin.paid  msg_5d3f6a0c1b2e4f8d9a7c6b5e4d3c2b1a  200 in 12 ms

Your address checks signatures with the whsec_… that is shown at the start, not with your production secret.
A message that it refuses is not posted again: run it with --since once more.

How many were not accepted is said at the end.
Exit code 0: ended by Ctrl-C, or with --once all were accepted; 1: with --once one was refused, or the server
does not answer or refuses the token; 2: a wrong option.`,
    )
    .action(listen);
}

async function listen(options: Options): Promise<void> {
  const given = (option: string, place: string | undefined) => (place ? readSecretIn(option, place) : undefined);
  const token =
    (await given('--token', options.token)) ?? process.env.CONFERE_PULL_TOKEN ?? process.env.CONFERE_PORTAL_TOKEN;
  if (!token)
    throw new ConfereError(
      'wrong_use',
      'give the token of the portal or the pull token: CONFERE_PORTAL_TOKEN, CONFERE_PULL_TOKEN, or a file with --token',
    );
  const feed = parseUrl('--server', options.server);
  const forward = parseUrl('--forward', options.forward);
  const types = readTypes(options.types);
  const since = readSince(options.since);
  const secret =
    (await given('--secret', options.secret)) ?? `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
  const bearerToken = await given('--bearer-token', options.bearerToken);
  const sending = { forward, key: readKey(secret), ...readFormat(options.format, bearerToken) };
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  if (!options.secret) process.stderr.write(`the events are signed with ${secret}\n`);
  let [isReady, posted, refused] = [false, 0, 0];
  for (let after = '0'; !stop.signal.aborted; ) {
    const page = await readPage(feed, { token, after, since });
    // the token is accepted; the query of an address may hold a secret
    if (!isReady)
      process.stderr.write(`ready: events from ${since} on are posted to ${forward.origin}${forward.pathname}\n`);
    isReady = true;
    for (const event of page.events) {
      if (stop.signal.aborted) break;
      if (types && !types.includes(event.type)) continue;
      const { isAccepted, says } = await postEvent(sending, event);
      posted++;
      if (!isAccepted) refused++;
      process.stdout.write(`${event.timestamp}  ${event.type}  ${event.id}  ${says}\n`);
    }
    // an empty page that brings the cursor further has only passed older events
    const isRead = page.events.length === 0 && page.next_cursor === after;
    after = page.next_cursor;
    if (!isRead) continue;
    if (options.once) break;
    await sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  if (refused > 0) process.stderr.write(`${refused} of ${posted} were not accepted: run it with --since once more\n`);
  process.exitCode = options.once && refused > 0 ? 1 : 0;
}

/** An instant, or the id of an event. */
function readSince(given: string | undefined): string {
  return given?.startsWith('msg_') ? given : (parseInstant('--since', given) ?? new Date()).toISOString();
}

/** The types of events that a feed has; a challenge is none. */
const FEED_TYPES = [...EXAMPLE_TYPES, TEST_TYPE];

function readTypes(given: string | undefined): string[] | undefined {
  const types = given?.split(',').map((type) => type.trim());
  const unknown = types?.find((type) => !FEED_TYPES.includes(type));
  if (unknown === undefined) return types;
  throw wrongUse(`--types: ${unknown} is none of ${FEED_TYPES.join(', ')}`);
}

function parseUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new ConfereError('wrong_use', `${option} must be an address: http://localhost:8080/pix`);
}

export function readKey(secret: string) {
  const bytes = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  if (secret.startsWith(SECRET_PREFIX) && bytes.length > 0) return createSecretKey(bytes);
  throw new ConfereError('wrong_use', '--secret must be whsec_ and base64');
}

function readFormat(format: string, bearerToken: string | undefined): Pick<Sending, 'format' | 'headers'> {
  if (!CALLBACK_FORMATS.some((one) => one === format))
    throw new ConfereError('wrong_use', `--format is ${CALLBACK_FORMATS.join(' or ')}`);
  return { format, headers: bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` } };
}

/** @throws ConfereError when the server refuses the token, or answers anything else than a page. */
async function readPage(
  server: URL,
  { token, after, since }: { token: string; after: string; since: string },
): Promise<Page> {
  const url = new URL('/api/v1/events', server);
  const query = { after, since, peek: 'true', limit: String(PAGE) };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  for (;;) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).catch((error: unknown) => {
      throw new ConfereError('unavailable', `${server.origin} does not answer: ${sayFailure(error)}`);
    });
    const body = await answer.text();
    if (answer.status === 200) return JSON.parse(body) as Page;
    if (answer.status !== 429)
      throw new ConfereError('unavailable', `${server.origin} answered ${answer.status}: ${detailOf(body)}`);
    await sleep(POLL_MS);
  }
}

function detailOf(body: string): string {
  try {
    return (JSON.parse(body) as { detail?: string }).detail ?? '';
  } catch {
    return 'no problem details: is this Confere?';
  }
}

/** Posts one event as the service would, with the headers of Standard Webhooks. A failure is reported, not repeated. */
async function postEvent({ forward, key, format, ...own }: Sending, { id, ...event }: Event): Promise<Forwarded> {
  const message = format === 'provider' ? toProviderBody(event, id) : event;
  if (!message) return { isAccepted: true, says: 'not posted: the format of the provider has no such message' };
  const body = JSON.stringify(message);
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    ...own.headers,
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign([key], { id, timestamp, body }),
  };
  const beganMs = performance.now();
  try {
    const signal = AbortSignal.timeout(FORWARD_TIMEOUT_MS);
    const answer = await fetch(forward, { method: 'POST', headers, body, signal, redirect: 'manual' });
    await answer.arrayBuffer();
    return { isAccepted: answer.ok, says: `${answer.status} in ${Math.round(performance.now() - beganMs)} ms` };
  } catch (error) {
    return { isAccepted: false, says: `not answered: ${sayFailure(error)}` };
  }
}

/** The cause of a request that failed: that of `fetch` says only that it did. */
export function sayFailure(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}
