import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  errorResponseSchema,
  listResponseSchema,
  transactionResponseSchema,
} from '../../../sandbox/http/response-schemas.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { anyCharacter, propertyOptions } from '../../support/property.ts';
import { CASHIN, CASHOUT, startTestSandbox } from '../../support/start-test-sandbox.ts';

// bench/sandbox-fuzz.ts does the same for a minute

const sandbox = closeAfterAll(await startTestSandbox());

const anything = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(null, true, '', ' ', 0, -1, 1e300, '\u0000', '\ud800', '%', "' OR 1=1 --"),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A valid request with some of its fields replaced by random values. */
const bodies = fc
  .tuple(
    fc.constantFrom(CASHIN, CASHOUT),
    fc.dictionary(fc.constantFrom(...Object.keys(CASHOUT), 'reference', 'extra', '__proto__'), anything),
  )
  .map(([good, wrong]) => ({ ...good, ...wrong }));

describe('random requests', () => {
  it('to create are accepted or refused as specified, never a 500', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 4, arbitrary: bodies }, { weight: 1, arbitrary: anything }),
        fc.boolean(),
        async (body, out) => {
          const path = `/api/v1/transaction/pix/${out ? 'cashout' : 'cashin'}`;
          const { status, json } = await sandbox.request('POST', path, JSON.stringify(body) ?? 'undefined');
          expect([200, 400, 422]).toContain(status);
          const schema = status === 200 ? transactionResponseSchema : errorResponseSchema;
          expect(schema.safeParse(json).error).toBeUndefined();
        },
      ),
      propertyOptions(100, 400),
    );
  });

  it('that are not JSON are refused, never a 500', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 200 }), async (text) => {
        const { status } = await sandbox.request('POST', '/api/v1/transaction/pix/cashin', text);
        expect([400, 422]).toContain(status);
      }),
      propertyOptions(25, 100),
    );
  });

  it('to list are answered or refused, never a 500', async () => {
    const names = [
      'identifier',
      'reference',
      'status',
      'name_document',
      'phone',
      'initial_date',
      'final_date',
      'platform',
      'pix_key',
      'page',
      'x[]',
    ];
    const query = fc.array(fc.tuple(fc.constantFrom(...names), fc.string({ maxLength: 60 })), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(query, async (pairs) => {
        const { status, json } = await sandbox.request(
          'GET',
          `/api/v1/transactions?${new URLSearchParams(pairs).toString()}`,
        );
        expect([200, 422]).toContain(status);
        const schema = status === 200 ? listResponseSchema : errorResponseSchema;
        expect(schema.safeParse(json).error).toBeUndefined();
      }),
      propertyOptions(100, 400),
    );
  });

  it('to show and to the admin routes are answered or refused, never a 500', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 60 }), anything, async (id, body) => {
        const at = encodeURIComponent(id.toWellFormed()) || '-';
        const text = JSON.stringify(body) ?? '';
        const answers = await Promise.all([
          sandbox.request('GET', `/api/v1/transaction/${at}`),
          sandbox.request('GET', `/checkout/transaction/${at}/change/${at}`),
          sandbox.request('POST', '/sandbox/transactions', text),
          sandbox.request('POST', `/sandbox/transactions/${at}/events`, text),
          sandbox.request('PATCH', `/sandbox/transactions/${at}`, text),
          sandbox.request('DELETE', `/sandbox/transactions/${at}`),
          sandbox.request('GET', `/sandbox/books?from=${at}&to=${at}`),
        ]);
        for (const { status } of answers) expect(status).toBeLessThan(500);
      }),
      propertyOptions(25, 100),
    );
  });
});
