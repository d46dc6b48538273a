/** The tools of the MCP server: one for each GET of the API that `src/operations` declares, by the name that its document has. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { SUBJECTS } from '../../operations/catalogue.ts';
import { listReads, type Read } from '../list-reads.ts';
import { describeInput, nameOperation } from '../openapi/build-document.ts';
import { describeDeclared } from '../openapi/describe-declared.ts';

export type ReadTool = Read & {
  tool: Tool;
  /** The arguments that the address names; the others are of the query. */
  inPath: readonly string[];
  names: readonly string[];
};

/** By name. */
export const READ_TOOLS: ReadonlyMap<string, ReadTool> = new Map(
  SUBJECTS.flatMap((subject) => {
    const reads = new Map(listReads(subject).map((read) => [`/api/v1${read.route}`, read]));
    return describeDeclared(subject).flatMap(({ method, path, summary, query }): [string, ReadTool][] => {
      const read = method === 'get' ? reads.get(path) : undefined;
      if (!read) return [];
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const name = nameOperation('get', path);
      const { properties = {}, required = [] } = query ? (describeInput(query) as InputSchema) : {};
      const tool: Tool = {
        ...{ name, description: `${summary}. GET ${path}` },
        inputSchema: {
          type: 'object',
          properties: { ...Object.fromEntries(inPath.map((one) => [one, { type: 'string' }])), ...properties },
          required: [...inPath, ...required],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
      };
      return [[name, { ...read, tool, inPath, names: [...inPath, ...Object.keys(properties)] }]];
    });
  }),
);

/** The part of a JSON schema that a tool takes over. */
type InputSchema = { properties?: Record<string, object>; required?: string[] };
