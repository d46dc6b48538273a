import { timingSafeEqual } from 'node:crypto';
import type { Command } from 'commander';
import { sign } from '../../callbacks/render/sign.ts';
import { wrongUse } from '../../domain/errors.ts';
import { readKey } from './listen.ts';
import { readPlace, readSecretIn } from './read-place.ts';

/** As libraries of Standard Webhooks: an older message may be replayed. */
const TOLERANCE_S = 300;

const WRONG = 'the signature is wrong: another secret, or another body than the bytes that came';

type Options = { secret: string; id: string; timestamp: string; signature: string; body: string; anyAge?: boolean };

/** `confere verify …`: checks a message's signature, byte by byte as it came. It needs no database. */
export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check the signature of a message that your system got; exit code 1 if it is wrong')
    .requiredOption('--secret <file>', 'the file with whsec_…')
    .requiredOption('--id <id>', 'the header webhook-id')
    .requiredOption('--timestamp <seconds>', 'the header webhook-timestamp')
    .requiredOption('--signature <text>', 'the header webhook-signature')
    .option('--body <file>', 'the body, as it came; - for standard input', '-')
    .option('--any-age', 'also a message that is older than five minutes')
    .addHelpText(
      'after',
      `
Example, with the headers and the body as your system got them:
  ${program.name()} verify --secret secret.txt --id msg_5d3f6a0c1b2e4f8d9a7c6b5e4d3c2b1a --timestamp 1795431600 \\
    --signature 'v1,K5oZ…' --body body.json
  the signature is right

A wrong one says: ${WRONG}.
A body that was parsed and written again has other bytes: save it before it is parsed.

Exit code 0: right; 1: wrong, or older than five minutes; 2: a wrong option, or a file that can't be read.`,
    )
    .action(verify);
}

async function verify({
  secret: file,
  id,
  timestamp: seconds,
  signature,
  body: place,
  anyAge,
}: Options): Promise<void> {
  const timestamp = Number(seconds);
  if (!/^\d{1,12}$/.test(seconds)) throw wrongUse('--timestamp is in seconds since 1970');
  const key = readKey(await readSecretIn('--secret', file));
  const body = (await readPlace(place)).toString('utf8');
  const expected = Buffer.from(sign([key], { id, timestamp, body }));
  const isRight = signature.split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  const ageS = Math.round(Date.now() / 1000) - timestamp;
  const isTimely = anyAge === true || Math.abs(ageS) <= TOLERANCE_S;
  const says = isRight
    ? isTimely
      ? 'the signature is right'
      : `the signature is right, but the message is ${ageS} s old: refuse it, or give --any-age`
    : WRONG;
  process.stdout.write(`${says}\n`);
  process.exitCode = isRight && isTimely ? 0 : 1;
}
