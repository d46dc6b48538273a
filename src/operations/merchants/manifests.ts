/** The key that signs day manifests. The API has none of this. */
import { z } from 'zod';
import { OVERLAP_DAYS, rotateManifestKey } from '../../tlog/keys.ts';
import { defineChange } from '../define-change.ts';
import { ok } from '../describe-operation.ts';

const OVERLAP_DAYS_MAX = 3650;
const NO_DAYS = `is a whole number from 0 to ${OVERLAP_DAYS_MAX}`;
const rotated = z.object({ kid: z.string(), old_kid: z.string().nullable(), old_signs_until: z.string().nullable() });

export const rotateManifestKeys = defineChange({
  name: 'manifests.rotate_key',
  audit: 'manifests.key_rotated',
  roles: ['admin'],
  summary: 'Sign day manifests with a new key, and for some days also with the one before',
  input: z.object({
    overlap_days: z
      .string()
      .regex(/^\d{1,4}$/, NO_DAYS)
      .transform(Number)
      .refine((days) => days <= OVERLAP_DAYS_MAX, NO_DAYS)
      .default(OVERLAP_DAYS),
  }),
  answers: ok('Rotated', rotated),
  change: (inner, { overlap_days: days }) => rotateManifestKey(inner, days),
  target: ({ kid }) => `key:${kid}`,
  answer: async (_context, done) => done,
});
