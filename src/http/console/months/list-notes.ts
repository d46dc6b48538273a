/** Lists what does not keep a month open, and matters to the person who closes it. */
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { addDays, boundsOfMonth, type Day } from '../../../domain/calendar.ts';
import { OF_FEES } from '../../../domain/mismatch.ts';
import { countOrders } from '../../../expected/read/count-orders.ts';
import { type BankAccount, summarizeBank, sumOpenLines } from '../../../ledger/bank/summarize-bank.ts';
import { listContracts } from '../../../ledger/stated/commission-contracts.ts';
import { readNewestStatements } from '../../../ledger/stated/state-balance.ts';
import { concernsDays } from '../../../mismatches/concerns-day.ts';
import { readOpenMismatches } from '../../../mismatches/read-open-mismatches.ts';
import type { ShownMonth } from '../../../reports/months/list-months.ts';
import { listReportDays } from '../../../reports/serve/list-report-days.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t } from '../../../texts/translate.ts';
import { BANK, FEES, LISTS } from '../balances/describe-stated.ts';
import { BANK_LISTS, describeOpen } from '../bank/describe-bank.ts';
import { EXPECTED } from '../expected/describe-expected.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { formatCount, formatDay, formatMoney } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import type { PlatformMonth } from './render-balances.ts';

/** Says whose statements do not reach the end of a month. */
function notesOfBank(accounts: BankAccount[], to: Day): Html[] {
  const item = (text: string): Html => html`<li><a href="${BANK.address}">${text}</a></li>`;
  if (accounts.every(({ lastDay }) => lastDay === null))
    return [item(t('Nenhum extrato do banco foi importado: nada compara os saques e depósitos do mês.'))];
  return accounts.flatMap(({ account, name, lastDay, balance }) => {
    if (lastDay === null) return [];
    // a balance stands for the days without a movement before it
    const day = balance && balance.day > lastDay ? balance.day : lastDay;
    return day < to
      ? item(t('O extrato de {name} só vai até {day}.', { name: name ?? account, day: formatDay(day) }))
      : [];
  });
}

/** Names the open mismatches of a month's fees, by kind. */
async function notesOfFees({ db, calendar }: Pick<Context, 'db' | 'calendar'>, days: { from: Day; to: Day }) {
  const open = await readOpenMismatches(db, { kinds: OF_FEES, days: concernsDays(calendar, days) });
  return open.map(({ kind, count, stakeCents }) => {
    const said = plural(
      count,
      '{title}: uma divergência em aberto, em jogo {sum}.',
      '{title}: {n} divergências em aberto, em jogo {sum}.',
      { title: describeCode(MISMATCH_TITLES, kind), sum: formatMoney(stakeCents) },
    );
    return html`<li><a href="/mismatches?kind=${kind}&amp;from=${days.from}&amp;to=${days.to}">${said}</a></li>`;
  });
}

/** @param rows the month's balances: each platform's should be stated. */
export async function notesList(context: Context, { month }: ShownMonth, rows: PlatformMonth[]): Promise<Part> {
  const { from, to } = boundsOfMonth(month);
  const newest = await readNewestStatements(context, `${addDays(to, 1)} 00:00:00`);
  const isOfMonth = (at: string): boolean => context.calendar.toWallTime(new Date(at)) > `${from} 00:00:00`;
  const stated = new Set(newest.filter(({ at }) => isOfMonth(at)).map(({ platform }) => platform));
  const unstated = rows.filter(({ platform }) => !stated.has(platform)).length;
  const unmade = (await listReportDays(context, { from, to })).filter(({ state }) => state === 'missing').length;
  const db = limitStatementTime(context.db);
  const { accounts } = await summarizeBank(db);
  const openLines = await sumOpenLines(db, to);
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
      html`<li><a href="${BANK_LISTS.lines.address}?state=open&amp;to=${to}">${t('Linhas do extrato em aberto')}</a>: ${describeOpen(openLines)}</li>`,
    ...notesOfBank(accounts, to),
    ...(await notesOfFees({ ...context, db }, { from, to })),
    (await listContracts(context.db, 1, undefined)).length === 0 &&
      link(FEES.address, t('Nenhum contrato de tarifas foi informado: nada compara as tarifas do mês.')),
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
