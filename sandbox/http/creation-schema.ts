import { z } from 'zod';
import { KEY_TYPES } from '../pix/check-key.ts';

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
export const uuidSchema = z.string().regex(UUID, 'must be a UUID').meta({ format: 'uuid' });

const text = (lengthMax: number) =>
  z
    .string('must be a string')
    .min(1, 'is required')
    .refine((value) => [...value].length <= lengthMax, `must be at most ${lengthMax} characters`)
    .refine((value) => value.trim() !== '', 'is required')
    .meta({ minLength: 1, maxLength: lengthMax });

const optionalText = (lengthMax: number) =>
  z
    .string('must be a string')
    .refine((value) => [...value].length <= lengthMax, `must be at most ${lengthMax} characters`)
    .meta({ maxLength: lengthMax })
    .nullish();

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;

export const REFERENCE_LENGTH_MAX = 50;
export const EXTRA_LENGTH_MAX = 255;

/** The fields of both creates. `amount` is the decimal text of the JSON number, see read-body.ts. */
export const cashinSchema = z.object({
  name: text(255),
  email: text(255).regex(EMAIL, 'must be an e-mail address'),
  phone: text(32),
  description: text(1_000),
  document: text(20).describe('CPF or CNPJ'),
  amount: z.string('must be a number with a dot as decimal separator').meta({ type: 'number', exclusiveMinimum: 0 }),
  platform: uuidSchema,
  reference: optionalText(REFERENCE_LENGTH_MAX).describe('unique among transactions'),
  extra: optionalText(EXTRA_LENGTH_MAX).describe('comes back in the webhook'),
});

export const cashoutSchema = cashinSchema.extend({
  pix_key: text(77),
  key_type: z.enum(KEY_TYPES, 'must be one of CPF, PHONE, EMAIL, EVP, CNPJ'),
});

export type CashinRequest = z.infer<typeof cashinSchema>;
export type CashoutRequest = z.infer<typeof cashoutSchema>;
