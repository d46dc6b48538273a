import { z } from 'zod';
import { STATUSES } from '../domain/statuses.ts';
import { isDay } from '../domain/wall-clock.ts';
import { REFERENCE_LENGTH_MAX, uuidSchema } from './creation-schema.ts';

const PAGE_MAX = 1_000_000;
const day = z.string().refine(isDay, 'must be a date YYYY-MM-DD').meta({ format: 'date' }).optional();
const shortText = (lengthMax: number) =>
  z
    .string('must be given once')
    .refine((value) => [...value].length <= lengthMax, `must be at most ${lengthMax} characters`)
    .meta({ maxLength: lengthMax })
    .optional();

/** The query of the list; filters can be combined. */
export const listSchema = z.object({
  identifier: uuidSchema.optional(),
  reference: shortText(REFERENCE_LENGTH_MAX),
  status: z.enum(STATUSES, 'is not a status').optional(),
  name_document: shortText(255),
  phone: shortText(32),
  initial_date: day.describe('earliest day of creation'),
  final_date: day.describe('latest day of creation'),
  platform: uuidSchema.optional(),
  pix_key: shortText(77),
  page: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(PAGE_MAX, 'is too large')
    .default(1),
});

export type ListQuery = z.infer<typeof listSchema>;
