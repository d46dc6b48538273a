import { z } from 'zod';
import { KEPT_DAYS } from '../../access/kept-answers.ts';
import { KEY_CHARS_MAX } from '../../access/keyed-request.ts';
import type { Operation, OperationResponse } from '../../operations/describe-operation.ts';
import { problem } from '../../operations/rows/problem.ts';
import { components } from '../../operations/rows/row-fields.ts';
import { CHANGING_METHODS } from '../access/answer-once.ts';
import { CALLBACK_HEADERS, type CallbackMessage } from './callback-messages.ts';

type Json = Record<string, unknown>;

const ABOUT_API =
  'Amounts are decimal texts in BRL, instants ISO 8601 with an offset, days those of the provider’s calendar. A list is `{<plural>: […], next_cursor}`. Errors are RFC 9457 problem details. A query parameter that an operation does not have, or that is given twice, is 422. viewer reads and downloads, masked; accountant also sees people, enters statements and adjustments, makes reports and closes months; operator also sees people, and acts; admin does all of it, reopens months, keeps merchants, openings and tokens, and reads the audit. A token of the role merchant opens /portal, and its own manifests.';

/** Builds the OpenAPI 3.1 document of operations and of the callbacks that merchants receive. Pure. */
export function buildDocument(
  operations: readonly Operation[],
  webhooks: readonly CallbackMessage[],
  about: { version: string; url: string; description?: string; isForMerchants?: true },
): Json {
  const paths = Object.create(null) as Record<string, Json>;
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation, about) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Confere',
      version: about.version,
      description: about.description ?? ABOUT_API,
    },
    servers: [{ url: about.url }],
    paths,
    webhooks: Object.fromEntries(webhooks.map((webhook) => [webhook.type, { post: describeWebhook(webhook) }])),
    components: {
      schemas: describeComponents(),
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'a token of ours: viewer, accountant, operator or admin',
        },
        merchant: { type: 'http', scheme: 'bearer', description: "a merchant's pull token" },
        portal: { type: 'http', scheme: 'bearer', description: 'a token of the role merchant' },
        provider: { type: 'http', scheme: 'bearer', description: 'the credentials that WEBHOOK_AUTH asks for' },
      },
    },
  };
}

function describe(operation: Operation, { isForMerchants }: { isForMerchants?: true }): Json {
  const { method, path, tag, summary, access, query, body, bodyType, responses, isForMerchantsToo, isForSources } =
    operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const isRole = access !== 'provider' && access !== 'merchant' && access !== 'portal' && access !== 'nothing';
  return {
    operationId: nameOperation(method, path),
    tags: [tag],
    summary,
    ...(isForMerchants && access !== 'nothing' ? { description: nameTokens(operation) } : {}),
    ...(isRole && !isForMerchants
      ? {
          description: `Takes the role ${nameRoles([access].flat())}.${isForSources ? ` Also a merchant’s token${OF_SOURCES}` : ''}`,
        }
      : {}),
    security: [
      ...(access === 'nothing' || (isRole && isForMerchants) ? [] : [{ [isRole ? 'token' : access]: [] }]),
      ...(isForSources || access === 'merchant' ? [{ portal: [] }] : []),
      ...(isForMerchantsToo ? [{ merchant: [] }, { portal: [] }] : []),
    ],
    parameters: [...inPath, ...(query ? describeQuery(query) : []), ...(isChange(operation) ? [IDEMPOTENCY_KEY] : [])],
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { [bodyType ?? 'application/json']: { schema: describeInput(body) } },
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, describeResponse(response)]),
      ),
      ...(access === 'nothing' ? {} : { default: { description: describeProblem(operation), ...content(PROBLEM) } }),
    },
  };
}

function describeProblem({ refuses = [] }: Operation): string {
  const reasons = refuses.map((reason) => `\`${reason}\``).join(', ');
  return reasons === '' ? 'What went wrong' : `What went wrong; beside its fields and roles: ${reasons}`;
}

/** An admin may do what each other role may. */
function nameRoles(roles: readonly string[]): string {
  return [roles.filter((role) => role !== 'admin').join(' or '), 'admin'].filter(Boolean).join(', or ');
}

const OF_SOURCES = ', of the sources that it was given: 403 `source_not_yours` for others.';
const PORTAL_TOKEN = 'Takes the portal’s token (cfm_…)';

/** Names the tokens that a merchant may send. */
function nameTokens({ access, isForSources, isForMerchantsToo }: Operation): string {
  if (isForSources) return `${PORTAL_TOKEN}${OF_SOURCES}`;
  if (access === 'merchant') return `${PORTAL_TOKEN} with peek=true; a pull token (mpt_…) also acknowledges.`;
  return isForMerchantsToo ? `${PORTAL_TOKEN}, or a pull token (mpt_…).` : `${PORTAL_TOKEN}.`;
}

/** Commands that take an idempotency key: all that may change something. */
function isChange({ method, path }: Operation): boolean {
  return path.startsWith('/api/v1/') && CHANGING_METHODS.includes(method.toUpperCase());
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: `The same key and request again changes nothing: it gets the first answer, with idempotency-replayed: true, for ${KEPT_DAYS} days. With another request it is 422; while the first is at work, 409 with Retry-After`,
  schema: { type: 'string', minLength: 1, maxLength: KEY_CHARS_MAX },
};

function describeWebhook({ type, summary, body, headers = {} }: CallbackMessage): Json {
  return {
    operationId: nameOperation('receive', type),
    tags: ['Callbacks'],
    summary,
    security: [],
    parameters: Object.entries({ ...CALLBACK_HEADERS, ...headers }).map(([name, description]) => ({
      ...{ name, in: 'header', required: true, description, schema: { type: 'string' } },
    })),
    requestBody: { required: true, content: { 'application/json': { schema: describeOutput(body) } } },
    responses: {
      '2XX': { description: 'Delivered, if it comes within 15 s' },
      '410': { description: 'The merchant is disabled: nothing more is sent' },
      default: { description: 'It is sent again' },
    },
  };
}

const PROBLEM: OperationResponse = { description: '', schema: problem, contentType: 'application/problem+json' };

function describeResponse(response: OperationResponse): Json {
  return { description: response.description, ...content(response) };
}

function content({ schema, contentType }: OperationResponse): Json {
  if (!schema && !contentType) return {};
  return { content: { [contentType ?? 'application/json']: schema ? { schema: describeOutput(schema) } : {} } };
}

function describeQuery(query: z.ZodObject): Json[] {
  const { properties = {}, required = [] } = describeInput(query) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

export function describeInput(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return json;
}

/** The JSON schema of a response. Components become references to `#/components/schemas/<id>`. */
export function describeOutput(schema: z.ZodType): Json {
  const named = components.get(schema);
  if (named) return { $ref: refTo(named.id) };
  const { $schema: _, $defs: __, ...json } = z.toJSONSchema(schema, { ...OUTPUT, metadata: components });
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}

/** The JSON schema of a message by itself, with all that it consists of. */
export function describeWhole(schema: z.ZodType): Json {
  return { ...z.toJSONSchema(schema, OUTPUT) };
}

function describeComponents(): Json {
  const { schemas } = z.toJSONSchema(components, { ...OUTPUT, uri: refTo });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema as Json]),
  );
}

const OUTPUT = { io: 'output', unrepresentable: 'any', override: openUp } as const;

/** Responses may gain fields in later versions, so their schemas allow unknown ones. */
function openUp({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`;
}

/** Names an operation: `get /api/v1/mismatches/{id}` is `getMismatchesById`. */
export function nameOperation(method: string, path: string): string {
  const words = path
    .replace('/api/v1', '')
    .replace(/\{(\w+)\}/g, 'by $1')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  return [method, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}
