import { z } from 'zod';
import { cashinSchema, cashoutSchema } from './creation-schema.ts';
import { listSchema } from './list-schema.ts';
import {
  errorResponseSchema,
  listResponseSchema,
  shownCashinSchema,
  shownCashoutSchema,
  transactionResponseSchema,
  webhookSchema,
} from './response-schemas.ts';

type Json = Record<string, unknown>;

/** Describes the provider's interface as OpenAPI 3.1, from the schemas that check requests here and answers in the tests. */
export function describeApi(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Instant payments',
      version: '1',
      description:
        'PIX transactions: cashin (money received by QR code or payment link) and cashout (money sent to a key).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:4000', description: 'the sandbox' }],
    security: [{ bearer: [] }],
    tags: [{ name: 'transactions' }],
    paths: {
      '/api/v1/transaction/pix/cashin': { post: creation('createCashin', 'Creates a cashin', cashinSchema) },
      '/api/v1/transaction/pix/cashout': { post: creation('createCashout', 'Creates a cashout', cashoutSchema) },
      '/api/v1/transaction/{id}': { get: show() },
      '/api/v1/transactions': { get: list() },
    },
    webhooks: { changed: { post: webhook() } },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Cashin: schemaOf(shownCashinSchema),
        Cashout: schemaOf(shownCashoutSchema),
        Error: schemaOf(errorResponseSchema),
      },
    },
  };
}

function creation(operationId: string, summary: string, schema: z.ZodType): Json {
  return {
    operationId,
    summary,
    tags: ['transactions'],
    requestBody: { required: true, content: json(schemaOf(schema)) },
    responses: {
      200: { description: 'the transaction, pending', content: json(schemaOf(transactionResponseSchema)) },
      ...refusals({
        400: 'the body is not JSON',
        415: 'the body is not said to be JSON',
        422: 'a field is wrong, or the provider refuses',
      }),
    },
  };
}

function show(): Json {
  return {
    operationId: 'showTransaction',
    summary: 'One transaction by its id',
    tags: ['transactions'],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    responses: {
      200: { description: 'the transaction with its events', content: json(schemaOf(transactionResponseSchema)) },
      ...refusals({ 404: 'there is none' }),
    },
  };
}

function list(): Json {
  const { properties = {} } = schemaOf(listSchema);
  const parameters = Object.entries(properties as Record<string, Json>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    ...(description === undefined ? {} : { description }),
    schema,
  }));
  return {
    operationId: 'listTransactions',
    summary: 'Transactions, a hundred a page, by any filters together',
    tags: ['transactions'],
    parameters,
    responses: {
      200: { description: 'one page', content: json(schemaOf(listResponseSchema)) },
      ...refusals({ 422: 'a filter is wrong' }),
    },
  };
}

function webhook(): Json {
  return {
    operationId: 'transactionChanged',
    summary: 'Reports that the status of a transaction changed',
    requestBody: { required: true, content: json(schemaOf(webhookSchema)) },
    responses: { '2XX': { description: 'taken; anything else is sent again' } },
  };
}

function refusals(own: Record<number, string>): Json {
  const all: Record<number, string> = {
    ...own,
    401: 'the key is missing or wrong',
    406: 'the header Accept does not ask for JSON',
    429: 'too many requests; Retry-After says when to come back',
    503: 'away for a moment',
  };
  const error = json({ $ref: '#/components/schemas/Error' });
  return Object.fromEntries(
    Object.entries(all).map(([status, description]) => [status, { description, content: error }]),
  );
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}
