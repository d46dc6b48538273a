/** Variables of the log and its witnesses. */
import { z } from 'zod';
import { booleanText, fault, httpUrl } from './fields.ts';

const NAME = String.raw`[^\s+,=]{1,200}`;
/** A verifier key of C2SP, and the address behind it. A key of 33 bytes has no padding in base64. */
const WITNESS = new RegExp(String.raw`^(${NAME}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44})=(https?:\S{1,500})$`);
/** Witnesses that a note has room for beside the log's own two keys. */
const WITNESSES_MAX = 14;

/** `name+id+key=https://…,…` → verifier keys and addresses. */
const witnessList = z.string().transform((text, context): { key: string; url: string }[] => {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const witnesses = parts.flatMap((part) => {
    const [, key = '', url = ''] = WITNESS.exec(part.trim()) ?? [];
    return httpUrl.safeParse(url).success ? [{ key, url: url.replace(/\/$/, '') }] : [];
  });
  if (witnesses.length !== parts.length) return fault(context, 'must be witnesses with commas: name+id+key=https://…');
  return witnesses.length <= WITNESSES_MAX ? witnesses : fault(context, `must be at most ${WITNESSES_MAX} witnesses`);
});

export const logFields = {
  LOG_ORIGIN: z
    .string()
    .regex(new RegExp(`^${NAME}$`), 'must be a name without spaces and plus: log.example.com/confere')
    .optional(),
  LOG_PUBLIC: booleanText.prefault('false'),
  WITNESSES: witnessList.default([]),
  WITNESS_QUORUM: z
    .string()
    .regex(/^[1-9]\d?$/, 'must be a whole number from 1')
    .transform(Number)
    .optional(),
};
