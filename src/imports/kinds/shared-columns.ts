import { isPlatform, PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { flagColumn, textColumn } from '../columns.ts';

export const PLATFORM_COLUMN = textColumn({
  titles: { 'pt-BR': 'plataforma', en: 'platform' },
  isRequired: true,
  charsMax: PLATFORM_CHARS_MAX,
  check: (text) => (isPlatform(text) ? undefined : { kind: 'too_long', value: PLATFORM_CHARS_MAX }),
  example: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
});

/** Whether a platform that no transaction shows yet is meant. */
export const NEW_PLATFORM_COLUMN = flagColumn({
  titles: { 'pt-BR': 'plataforma nova', en: 'new platform' },
  example: 'não',
});
