/** Variables of the log and its witnesses. */
import { z } from 'zod';
import { booleanText, fault, httpUrl } from './fields.ts';

const NAME = String.raw`[^\s+,=]{1,200}`;
/** A verifier key of C2SP, and the address behind it. A key of 33 bytes has no padding in base64. */
const WITNESS = new RegExp(String.raw`^(${NAME}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44})=(https?:\S{1,500})$`);
/** Witnesses that a note has room for beside the log's own two keys. */
const WITNESSES_MAX = 14;

/** `quorum`: how many of them must countersign a checkpoint. */
type Witnesses = { quorum: number; list: { key: string; url: string }[] };

/** `2 of name+id+key=https://…,…` → verifier keys and addresses; without a number, all of them must countersign. */
const witnessList = z.string().transform((text, context): Witnesses => {
  const [, count, names = ''] = /^(?:(\d{1,2}) of )?(.*)$/s.exec(text.trim()) ?? [];
  const parts = names.split(',').filter((part) => part.trim() !== '');
  const witnesses = parts.flatMap((part) => {
    const [, key = '', url = ''] = WITNESS.exec(part.trim()) ?? [];
    return httpUrl.safeParse(url).success ? [{ key, url: url.replace(/\/$/, '') }] : [];
  });
  if (witnesses.length !== parts.length || witnesses.length > WITNESSES_MAX)
    return fault(context, `must be up to ${WITNESSES_MAX} witnesses with commas: name+id+key=https://…`);
  const quorum = count === undefined ? witnesses.length : Number(count);
  const fits = quorum <= witnesses.length && (quorum > 0 || witnesses.length === 0);
  return fits
    ? { quorum, list: witnesses }
    : fault(context, 'must begin with a number from 1 to that of the witnesses: 2 of …');
});

export const logFields = {
  LOG_ORIGIN: z
    .string()
    .regex(new RegExp(`^${NAME}$`), 'must be a name without spaces and plus: log.example.com/confere')
    .optional(),
  LOG_PUBLIC: booleanText.prefault('false'),
  WITNESSES: witnessList.prefault(''),
};
