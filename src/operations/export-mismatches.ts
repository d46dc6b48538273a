/** The workbook of open mismatches, in which people write their decisions and which comes back as an import. */
import type { z } from 'zod';
import { maySeePersons } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import { readActorNames } from '../access/users.ts';
import type { Context } from '../context.ts';
import { listPlatformNames } from '../database/shared/list-platform-names.ts';
import { readOrderKeys } from '../database/shared/read-parties.ts';
import type { Language } from '../domain/language/language.ts';
import { nameOrder } from '../expected/read/read-story.ts';
import { readCases } from '../imports/decisions/read-cases.ts';
import { renderCases, type ShownCase } from '../imports/decisions/render-cases.ts';
import { DECISIONS_MAX } from '../imports/kinds/decisions.ts';
import { readList } from './define-list.ts';
import { maskMismatches, presentPlatformName } from './mask-texts.ts';
import { mismatches, mismatchFilters } from './mismatches.ts';

/** The filters of the list: the workbook has those alone that are to be decided. */
export const decisionFilters = mismatchFilters.omit({ state: true, decided: true });

type Wanted = { filter: z.infer<typeof decisionFilters>; caller: Caller; language: Language; via?: 'console' };

/** Makes the workbook: up to 500 mismatches, the most at stake first unless the filter sorts otherwise; masked as the list is. */
export async function renderDecisionWorkbook(context: Context, { language, ...wanted }: Wanted): Promise<Buffer> {
  const filter = { sort: 'at_stake', ...wanted.filter, state: 'unresolved' } as const;
  const page = { limit: DECISIONS_MAX, after: undefined };
  const { rows, next } = await readList(context, mismatches, { ...wanted, filter, page });
  const cases = await readCases(
    context,
    rows.map(({ id }) => id),
  );
  const full = maySeePersons(wanted.caller.role);
  // not the rows of the list: what is shown is what is hashed, also where it changed between the two
  const hashed = rows.flatMap(({ id }) => cases.get(id)?.mismatch ?? []);
  const seen = full ? hashed : await maskMismatches(context.db, hashed);
  const owners = await readActorNames(
    context.db,
    rows.flatMap(({ owner }) => owner ?? []),
  );
  const named = await listPlatformNames(context.db);
  const platforms = new Map(named.map((one) => [one.platform, presentPlatformName(wanted.caller, one).name]));
  const orders = await readOrderKeys(
    context.db,
    rows.flatMap(({ expected_payment_id: id }) => id ?? []),
    { mask: !full },
  );
  const shown = seen.flatMap((mismatch): ShownCase[] => {
    const { transaction_id, expected_payment_id: order, owner, platform } = mismatch;
    const found = cases.get(mismatch.id);
    if (!found) return [];
    return [
      {
        ...{ mismatch, hash: found.hash, about: transaction_id ?? nameOrder(orders, order) },
        owner: owner && (owners.get(owner) ?? owner),
        platform: platform && (platforms.get(platform) ?? platform),
        candidates: found.candidates.map(({ id, names, cents }) => ({ name: full ? names[0] : id, cents })),
      },
    ];
  });
  return await renderCases(context, shown, { language, isCut: next !== undefined });
}
