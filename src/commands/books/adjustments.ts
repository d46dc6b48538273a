import type { Command } from 'commander';
import { audit, auditChange } from '../../access/audit.ts';
import { checkNote } from '../../access/check-note.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { parseSignedAmount } from '../../domain/money.ts';
import { ADJUSTMENT_KINDS, adjustBooks, listAdjustments, reverseAdjustment } from '../../ledger/stated/adjust-books.ts';
import { compareStatements } from '../../ledger/stated/state-balance.ts';
import { parseDay, parseLimit, parsePlatform } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';

const LIST_MAX = 200;

type AddOptions = {
  platform?: string;
  day?: string;
  kind?: string;
  amount?: string;
  note?: string;
  newPlatform?: boolean;
  json?: boolean;
};
type Adjustment = Awaited<ReturnType<typeof listAdjustments>>[number];

/** `confere adjustments …`: enters what the provider's list does not show, lists it and reverses it. */
export function adjustmentsCommand(program: Command): void {
  const adjustments = program
    .command('adjustments')
    .description("movements that the provider's list does not show: withdrawals, fees, blocks");
  adjustments
    .command('add')
    .description('book an adjustment at the start of a day: a positive amount adds to what is available')
    .option('--platform <id>', 'the platform; none: transactions without one')
    .option('--day <day>', 'its day, YYYY-MM-DD; not a future one, nor before the opening')
    .option('--kind <kind>', ADJUSTMENT_KINDS.join(', '))
    .option('--amount <amount>', 'the amount, such as 1234.56; a leading - for what left the account')
    .option('--note <text>', 'why')
    .option('--new-platform', 'the platform is meant, though no transaction shows it yet')
    .option('--json', 'print one JSON object')
    .action((options: AddOptions) => add(options));
  adjustments
    .command('list')
    .description('the newest adjustments')
    .option('--limit <count>', `rows at most, up to ${LIST_MAX}`, '50')
    .option('--json', 'print one JSON object')
    .action(async ({ limit, json }: { limit: string; json?: boolean }) => {
      const count = parseLimit(limit, LIST_MAX);
      await withContext({}, async (context) => {
        await audit(context, { actor: 'command', action: 'adjustments.list', target: 'notes' });
        const rows = await listAdjustments(context.db, count, undefined);
        print(json, { adjustments: rows.map(withoutSeq) }, rows.map(describe).join('\n') || 'none');
      });
    });
  adjustments
    .command('reverse <id>')
    .description('reverse an adjustment at its own day; both stay in the list')
    .option('--note <text>', 'why')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { note?: string; json?: boolean }) => {
      const by = { note: checkNote(options.note ?? ''), actor: 'command' };
      await enter((inner) => reverseAdjustment(inner, id, by), options.json);
    });
}

async function add({ kind: kindGiven, amount = '', newPlatform, json, ...options }: AddOptions): Promise<void> {
  const kind = ADJUSTMENT_KINDS.find((one) => one === kindGiven);
  const amountCents = parseSignedAmount(amount);
  const platform = parsePlatform(options.platform);
  const day = parseDay('--day', options.day ?? '');
  if (kind === undefined) throw new ConfereError('wrong_use', `--kind must be one of ${ADJUSTMENT_KINDS.join(', ')}`);
  if (!amountCents) throw new ConfereError('wrong_use', '--amount must be an amount other than zero: 1234.56');
  const adjustment = {
    platform,
    day,
    kind,
    amountCents,
    note: checkNote(options.note ?? ''),
    actor: 'command',
    newPlatform,
  };
  await enter((inner) => adjustBooks(inner, adjustment), json);
}

/** Books and audits an adjustment, compares the statements, and prints the adjustment. */
async function enter(book: (inner: Context) => Promise<string>, json: boolean | undefined): Promise<void> {
  await withContext({}, async (context) => {
    const id = await auditChange(context, book, (target) => ({
      actor: 'command',
      action: 'adjustments.create',
      target,
    }));
    await compareStatements(context);
    const [adjustment] = await listAdjustments(context.db, 1, undefined, id);
    if (adjustment) print(json, withoutSeq(adjustment), describe(adjustment));
  });
}

function withoutSeq({ seq: _, ...adjustment }: Adjustment) {
  return adjustment;
}

function describe(row: Adjustment): string {
  const reversal = row.reverses === null ? '' : `  reverses ${row.reverses}`;
  return `${row.id}  ${row.day}  ${row.platform}  ${row.kind}  R$ ${row.amount}${reversal}  ${row.note}`;
}
