/** Lists what does not keep a month open, and matters to the person who closes it. */
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { addDays, boundsOfMonth } from '../../../domain/calendar.ts';
import { countOrders } from '../../../expected/count-orders.ts';
import { summarizeBank } from '../../../ledger/bank/summarize-bank.ts';
import { readNewestStatements } from '../../../ledger/stated/state-balance.ts';
import type { ShownMonth } from '../../../reports/months/list-months.ts';
import { listReportDays } from '../../../reports/serve/list-report-days.ts';
import { plural, t } from '../../../texts/translate.ts';
import { LISTS } from '../balances/describe-stated.ts';
import { BANK_LISTS, describeOpen } from '../bank/describe-bank.ts';
import { EXPECTED } from '../expected/describe-expected.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import type { PlatformMonth } from './render-balances.ts';

/** @param rows the month's balances: each platform's should be stated. */
export async function notesList(context: Context, { month }: ShownMonth, rows: PlatformMonth[]): Promise<Part> {
  const { from, to } = boundsOfMonth(month);
  const newest = await readNewestStatements(context, `${addDays(to, 1)} 00:00:00`);
  const isOfMonth = (at: string): boolean => context.calendar.toWallTime(new Date(at)) > `${from} 00:00:00`;
  const stated = new Set(newest.filter(({ at }) => isOfMonth(at)).map(({ platform }) => platform));
  const unstated = rows.filter(({ platform }) => !stated.has(platform)).length;
  const unmade = (await listReportDays(context, { from, to })).filter(({ state }) => state === 'missing').length;
  const { openLines } = await summarizeBank(limitStatementTime(context.db));
  const orders = await countOrders(context, { from, to });
  const link = (address: string, text: string): Html => html`<li><a href="${address}">${text}</a></li>`;
  const negative = rows.filter(({ closing }) => closing < 0n).length;
  const notes = [
    negative > 0 &&
      link(
        LISTS.adjustments.address,
        plural(
          negative,
          'O saldo de uma plataforma é negativo no fim do mês: confira o seu saldo inicial e o que não está na lista do provedor (depósitos, saques, tarifas).',
          'Os saldos de {n} plataformas são negativos no fim do mês: confira os seus saldos iniciais e o que não está na lista do provedor (depósitos, saques, tarifas).',
        ),
      ),
    unstated > 0 &&
      link(
        LISTS.statements.address,
        plural(
          unstated,
          'De uma plataforma não foi informado o saldo do provedor neste mês: nada o compara com o razão.',
          'De {n} plataformas não foi informado o saldo do provedor neste mês: nada o compara com o razão.',
        ),
      ),
    openLines.count > 0 &&
      html`<li><a href="${BANK_LISTS.lines.address}?state=open">${t('Linhas do extrato em aberto')}</a>: ${describeOpen(openLines)}</li>`,
    unmade > 0 &&
      link(
        `/reports?month=${month}`,
        plural(unmade, 'Um dia não tem relatório diário.', '{n} dias não têm relatório diário.'),
      ),
    orders.unpaid + orders.undecided > 0 &&
      link(
        `${EXPECTED.address}?due_from=${from}&due_to=${to}`,
        t('Pedidos que venceram no mês: {unpaid} não pagos, {undecided} com pagamento a casar.', {
          unpaid: formatCount(orders.unpaid),
          undecided: formatCount(orders.undecided),
        }),
      ),
  ].filter((one) => one !== false);
  return (
    notes.length > 0 &&
    html`<div class="explain open"><p>${t('Não impede o fechamento, mas importa:')}</p><ul class="reasons">${notes}</ul></div>`
  );
}
