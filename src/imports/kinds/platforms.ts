import { PLATFORM_NAME_CHARS_MAX, setPlatformName } from '../../ledger/stated/platform-names.ts';
import { textColumn } from '../columns.ts';
import { defineTable } from '../define-table.ts';
import { PLATFORM_COLUMN } from './shared-columns.ts';

/** The names of platforms. An empty name takes the name back. */
export const PLATFORMS = defineTable({
  titles: { 'pt-BR': 'Nomes de plataformas', en: 'Names of platforms' },
  roles: ['operator', 'accountant'],
  columns: {
    platform: PLATFORM_COLUMN,
    name: textColumn({
      titles: { 'pt-BR': 'nome', en: 'name' },
      charsMax: PLATFORM_NAME_CHARS_MAX,
      example: 'Loja Centro',
    }),
  },
  toValue: ({ platform, name }) => (platform === null ? undefined : { value: { platform, name } }),
  columnOf: { platform: 'platform', name: 'name', conflict: 'name' },
  applyRow: (inner, named: { platform: string; name: string | null }, { actor }) =>
    setPlatformName(inner, { ...named, actor }),
});
