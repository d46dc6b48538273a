import { z } from 'zod';

/** The components of the OpenAPI document, by their ids. */
export const components = z.registry<{ id: string }>();

/** The schema of an object, as a component of the document. */
export function component<Shape extends z.ZodRawShape>(id: string, shape: Shape): z.ZodObject<Shape> {
  return z.object(shape).register(components, { id });
}

/** Field types that components share. */
export const nullableText = z.string().nullable();
export const instant = z.iso.datetime({ offset: true }).describe('ISO 8601 with an offset');
export const nullableInstant = instant.nullable();
export const day = z.iso.date().describe("a day of the provider's calendar");
export const amount = z
  .string()
  .regex(/^-?\d+\.\d{2}$/)
  .describe('decimal text with two decimals, never a number');
