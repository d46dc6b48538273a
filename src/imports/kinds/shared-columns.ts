import { isPlatform, PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { flagColumn, textColumn } from '../columns.ts';

/** A platform by its id, or by the name that people gave it. */
export function platformColumn(given: { isRequired: boolean; example: string }) {
  const column = textColumn({
    ...given,
    titles: { 'pt-BR': 'plataforma', en: 'platform' },
    charsMax: PLATFORM_CHARS_MAX,
    check: (text) => (isPlatform(text) ? undefined : { kind: 'too_long', value: PLATFORM_CHARS_MAX }),
  });
  const hint = { 'pt-BR': 'o id da plataforma, ou o nome dela', en: 'the id of the platform, or its name' };
  return { ...column, hint, isPlatform: true as const };
}

export const PLATFORM_COLUMN = platformColumn({ isRequired: true, example: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff' });

/** Whether a platform that no transaction shows yet is meant. */
export const NEW_PLATFORM_COLUMN = flagColumn({
  titles: { 'pt-BR': 'plataforma nova', en: 'new platform' },
  example: 'não',
});
