/** Variables of the log. */
import { z } from 'zod';
import { booleanText } from './fields.ts';

const NAME = /^[^\s+,=]{1,200}$/;

export const logFields = {
  LOG_ORIGIN: z.string().regex(NAME, 'must be a name without spaces and plus: log.example.com/confere').optional(),
  LOG_PUBLIC: booleanText.prefault('false'),
};
