import type { Expression, Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { createBatcher } from './batch.ts';
import { withTimeLimit } from './time-limit.ts';

/** Timers that are due at the same time fire up to some ms apart. */
const GATHER_MS = 5;
const QUESTIONS_MAX = 50;
/** A question that takes longer is asked alone, so the others don't wait for it. */
const TOGETHER_MS_MAX = 1_000;

/** An idle loop's wait: selects without locks, each through an index. Called when it is asked, for the time of then. */
export type Question = () => Expression<unknown>[];

/** Whether any of the question's selects finds a row. */
export type Poll = (question: Question) => Promise<boolean>;

/**
 * Idle loops ask for what other processes wrote, or what has become due. Questions that are asked at the same time go in one
 * statement: a statement costs this process far more than what it asks (docs/decisions/0078). If it fails, each is asked alone,
 * so that a question that can't be answered fails only for its own loop.
 */
export function createPoll(db: Kysely<Database>, togetherMsMax = TOGETHER_MS_MAX): Poll {
  async function askTogether(questions: Question[]): Promise<boolean[]> {
    // loops of one kind share a question
    const distinct = [...new Set(questions)];
    const row: Record<string, unknown> = await db
      .selectNoFrom((eb) =>
        distinct.map((question, index) => eb.or(question().map((select) => eb.exists(select))).as(`found_${index}`)),
      )
      .executeTakeFirstOrThrow();
    return questions.map((question) => row[`found_${distinct.indexOf(question)}`] === 1);
  }

  const ask = createBatcher<Question, boolean>({
    ...{ itemsMax: QUESTIONS_MAX, bytesMax: 0, sizeOf: () => 0, inFlightMax: QUESTIONS_MAX, gatherMs: GATHER_MS },
    work: (questions) => withTimeLimit(togetherMsMax, () => askTogether(questions)),
  });
  return async (question) => {
    try {
      return await ask(question);
    } catch {
      const [found = false] = await askTogether([question]);
      return found;
    }
  };
}
