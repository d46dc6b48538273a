/** The names of platforms, for people. Everything else names a platform by its id. */
import { z } from 'zod';
import { listPlatformNames } from '../../database/shared/list-platform-names.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { setPlatformName } from '../../ledger/stated/platform-names.ts';
import { defineChange } from '../define-change.ts';
import { defineItem } from '../define-item.ts';
import { ok } from '../describe-operation.ts';
import { platform } from '../fields.ts';
import { presentPlatformName } from '../mask-texts.ts';
import { platformNames } from '../rows/ledger.ts';

export const platforms = defineItem({
  route: '/platforms',
  summary: 'The names of platforms',
  item: platformNames,
  async read({ db }, { caller }) {
    return { platforms: (await listPlatformNames(db)).map((one) => presentPlatformName(caller, one)) };
  },
});

export const namePlatform = defineChange({
  name: 'platforms.name',
  roles: ['operator', 'accountant'],
  route: 'PUT /platforms',
  summary: 'Name a platform, or take its name back',
  input: z.strictObject({
    platform,
    name: z.string('must be a text, or null').nullable().describe('null takes the name back'),
  }),
  answers: ok('All names', platformNames),
  refuses: ['platform_name_taken'],
  change: (inner, named, { caller }) => setPlatformName(inner, { ...named, actor: caller.id }),
  target: (_made, _by, named) => maskPlatform(named.platform),
  answer: (context, _made, { by }) => platforms.read(context, by),
});
