import { expect, test } from 'vitest';
import type { ResolveHost } from '../../../src/callbacks/deliver/guard-connect.ts';
import { openSender } from '../../../src/callbacks/deliver/send-attempt.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';

const METADATA = '169.254.169.254';
const HERE = '127.0.0.1';

/** A name server that answers otherwise each time it is asked. */
function answerInTurn(...answers: string[][]): { resolve: ResolveHost; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    resolve(_hostname, _options, onResolved) {
      const addresses = answers[Math.min(asked++, answers.length - 1)] ?? [];
      onResolved(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    },
  };
}

async function sendTo(resolve: ResolveHost, url: string, times: number) {
  const sender = openSender({ allowPrivate: true, resolve });
  await using _ = sender;
  const answers = [];
  for (let i = 0; i < times; i++) {
    // closed by the shop each time, so that the next one has to connect anew
    answers.push(await sender.send(url, { 'content-type': 'application/json', connection: 'close' }, '{}'));
  }
  return answers.map((answer) => answer?.errorClass ?? answer?.status);
}

test('a name that leads to an allowed address first and to a forbidden one later is refused later', async () => {
  await using shop = await openMerchantServer();
  const names = answerInTurn([HERE], [METADATA], [HERE]);
  const url = `http://rebinds.example:${new URL(shop.url).port}/a`;
  expect(await sendTo(names.resolve, url, 3)).toEqual([200, 'forbidden_address', 200]);
  expect(names.asked()).toBe(3);
  expect(shop.calls).toHaveLength(2);
});

test('of the addresses that a name leads to, only allowed ones are tried', async () => {
  await using shop = await openMerchantServer();
  const url = `http://mixed.example:${new URL(shop.url).port}/a`;
  expect(await sendTo(answerInTurn([METADATA, HERE]).resolve, url, 1)).toEqual([200]);
  expect(await sendTo(answerInTurn([METADATA, '0.0.0.0']).resolve, url, 1)).toEqual(['forbidden_address']);
  expect(await sendTo(answerInTurn([]).resolve, url, 1)).toEqual(['forbidden_address']);
  expect(shop.calls).toHaveLength(1);
});
