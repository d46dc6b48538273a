import type { Reader } from '../../database/reader.ts';

/** Callbacks that are counted at most. */
const WAITING_MAX = 1000;

/** `failed`: the row number of a callback whose last failed attempt is named. `page`: the address of the page that shows it. */
export type Undelivered = { merchantSeq: number; failed: number | null; page: string };

/** Writes the facts of a mail to a merchant, in Portuguese and English: its answer, how many callbacks wait, and where to see them. */
export async function describeUndelivered(db: Reader, { merchantSeq, failed, page }: Undelivered): Promise<string> {
  const attempt = await db
    .selectFrom('callback_attempts')
    .select(['response_status', 'error_class'])
    .where('callback_seq', '=', failed ?? 0)
    .where('error_class', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { n } = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('callbacks')
        .select('seq')
        .where('merchant_seq', '=', merchantSeq)
        .where('state', 'in', ['pending', 'held'])
        // tests and manifests have none; an order has a negative one
        .where('transaction_seq', 'is not', null)
        .limit(WAITING_MAX + 1)
        .as('few'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  const [pt, en] = Number(n) > WAITING_MAX ? ['mais de 1.000', 'more than 1,000'] : [String(n), String(n)];
  const status = attempt?.response_status ?? null;
  const answer = attempt && ` (${attempt.error_class})\n`;
  return [
    answer && `Última falha: ${status === null ? 'sem resposta HTTP' : `HTTP ${status}`}${answer}`,
    `Callbacks que aguardam: ${pt}\n`,
    answer && `Last failure: ${status === null ? 'no answer by HTTP' : `HTTP ${status}`}${answer}`,
    `Callbacks that wait: ${en}\n`,
    `Portal: ${page}\n`,
  ]
    .filter(Boolean)
    .join('');
}
