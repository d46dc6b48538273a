import { CHALLENGE_TYPE, EXPECTED_TYPE, MANIFEST_TYPE, TEST_TYPE } from '../../callbacks/render/renderable.ts';
import { OPERATIONS, STATUSES } from '../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../expected/decide/decide-state.ts';

/** The types of messages by name, as they are sent. An unknown status of the provider has a type of its own. */
export const MESSAGE_TYPES: readonly string[] = [
  ...OPERATIONS.flatMap((operation) => [...STATUSES, 'corrected'].map((end) => `pix.${operation}.${end}`)),
  ...EXPECTED_STATES.filter((state) => state !== 'not_proven').map((state) => `${EXPECTED_TYPE}${state}`),
  MANIFEST_TYPE,
  TEST_TYPE,
  CHALLENGE_TYPE,
];

/** Types that a merchant gets an example of: a test is one by itself. */
export const EXAMPLE_TYPES = MESSAGE_TYPES.filter((type) => !type.startsWith('confere.'));
