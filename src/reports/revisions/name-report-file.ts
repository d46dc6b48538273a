import type { Language } from '../../domain/language/language.ts';
import type { FileFormat } from '../plan/report-plan.ts';
import { platformAccountSegment } from '../read/read-accounts.ts';
import { FORMAT_FACTS } from '../render/formats/formats.ts';

/** `confere-2026-11-20-r3.xlsx`; another language, a mask and a platform are part of the name. A range has no revision. */
export function nameReportFile(of: {
  /** A day, or a range as `2026-11-01-2026-11-20`. */
  day: string;
  revision?: number;
  format: FileFormat;
  otherLocale?: Language | undefined;
  platform: string | undefined;
  masked?: boolean;
  group?: 'day' | undefined;
}): string {
  // the platform last, spelled as in its accounts: so no two files share a name
  const parts = [
    of.day,
    of.revision === undefined ? undefined : `r${of.revision}`,
    of.otherLocale,
    of.masked ? 'masked' : undefined,
    of.group && `by-${of.group}`,
    of.platform === undefined ? undefined : `platform-${platformAccountSegment(of.platform)}`,
  ].filter((part) => part !== undefined);
  return `confere-${parts.join('-')}.${FORMAT_FACTS[of.format].extension}`;
}
