import type { Calendar } from '../../domain/calendar.ts';
import { formatDay, formatWallTime } from '../../domain/language/language.ts';
import { formatMoney, parseSum } from '../../domain/money.ts';
import { describeCode } from '../../texts/fill.ts';
import { language } from '../../texts/language.ts';
import { textsOf } from '../../texts/reports/texts.ts';
import { plural, type Translated, t, words } from '../../texts/translate.ts';
import type { PaymentProof } from '../rows/payment-proof.ts';
import { daysToRead } from './conclude-proof.ts';

const REASONS = words<NonNullable<PaymentProof['list']['reason']>>({
  not_over: 'o dia ainda não terminou no provedor',
  not_read: 'ela não foi lida inteira desde o fim do dia',
  only_counted: 'desde o fim do dia ela só foi contada, e uma contagem não diz de quem é cada transação',
  reopened: 'a leitura mais nova já não conseguiu prová-la',
  not_listed: 'o Confere conhece um pagamento que uma leitura inteira dela não tinha',
  late_entry: 'depois da leitura apareceu uma transação que ela não tinha',
  before_books: 'o dia é de antes dos livros, e ela não foi lida',
  time_zone: 'o fuso horário do provedor está em dúvida, e com ele o dia de cada pagamento',
  rows_refused: 'ela tem linhas que o Confere não conseguiu ler',
  names_left: 'ela tem mais nomes do que os que se comparam; escreva também o valor, a hora ou o id E2E',
  rows_hidden: 'ela tem pagamentos sem nome, sem id E2E ou com outras maiúsculas nele, e um deles pode ser este',
  id_malformed: 'o id E2E não tem a forma de um; confira cada caractere',
});

const CONCLUSIONS = words<Exclude<PaymentProof['conclusion'], 'has'>>({ none: 'Não tem', unknown: 'Não se sabe' });

/** `Lista do provedor de 24/11/2026: R$ 150,00`: the question, as the headline has it. */
export function sayQuestion(proof: PaymentProof): Translated {
  return t('Lista do provedor de {day}: {asked}', {
    day: formatDay(proof.list.day, language()),
    asked: sayAsked(proof),
  });
}

/**
 * The verdicts of a headline, each once: what became of the payments of the list, and of older ones; `code` names its colour.
 * Absence is said only where each day concerned was read whole, and nothing was found.
 */
export function listVerdicts(proof: PaymentProof): { code: string; text: Translated }[] {
  const { list, payments } = proof;
  const own = payments.filter((one) => !one.is_older);
  const older = proof.older.conclusion === 'has' ? payments.filter((one) => one.is_older) : [];
  const absence = list.conclusion === 'none' && proof.conclusion === 'none' ? 'none' : 'unknown';
  const absent = proof.other_hours?.length
    ? t('Não nesta hora')
    : proof.other_names
      ? t('Não com este nome')
      : undefined;
  // outgoing payments have no end-to-end id in the provider's list: an absence is of incoming ones
  const unreceived = proof.asked.e2e_id !== null && t('Não entrou');
  const ofList =
    list.conclusion === 'has'
      ? own.map((one) => ({
          code: one.outcome,
          text: t('Está na lista, {outcome}', { outcome: sayOutcome(one) }),
        }))
      : list.conclusion === 'none' && older.length > 0
        ? []
        : list.conclusion === 'none' && absence === 'unknown'
          ? [
              { code: 'none', text: absent ?? t('Não nesta lista') },
              { code: 'unknown', text: t('Criado antes: não se sabe') },
            ]
          : [{ code: absence, text: (absence === 'none' && (absent ?? unreceived)) || CONCLUSIONS[absence] }];
  // what the provider showed to us stands, also where nothing is known of the whole list
  const known = list.conclusion === 'unknown' && list.reason !== 'not_listed' ? own : [];
  const ofKnown = known.map((one) => ({
    code: one.outcome,
    text: t('No Confere: {outcome}', { outcome: sayOutcome(one) }),
  }));
  const ofOlder = older.map((one) => ({
    code: one.outcome,
    text: t('Criado antes, {outcome}', { outcome: sayOutcome(one) }),
  }));
  return [...new Map([...ofKnown, ...ofList, ...ofOlder].map((one) => [one.text, one])).values()];
}

function sayOutcome({
  outcome,
  status,
  status_at: at,
  refunded_at: refundedAt,
}: PaymentProof['payments'][number]): Translated {
  const day = formatDay(at.slice(0, 10), language());
  if (outcome === 'paid') return t('pago em {day}', { day });
  if (outcome === 'refunded')
    return t('devolvido em {at}', { at: formatWallTime(toWall(refundedAt ?? at), language()) });
  const word = describeCode(textsOf(language()).statuses, status).toLowerCase();
  return outcome === 'money_out'
    ? t('saída de dinheiro ({status} em {day})', { status: word, day })
    : t('não pago ({status} em {day})', { status: word, day });
}

/** The wall time of an instant as the API has it, at the provider. */
function toWall(at: string): string {
  return at.slice(0, 'YYYY-MM-DD HH:mm:ss'.length).replace('T', ' ');
}

/** Says in the language of the request what the list of the day says, what those of the days before say, and in which other hours. */
export function sayPaymentProof(calendar: Calendar, proof: PaymentProof): Translated[] {
  const { list, older } = proof;
  const spell = (at: string | Date): string => formatWallTime(calendar.toWallTime(new Date(at)), language());
  const day = formatDay(list.day, language());
  const since = spell(calendar.provableFrom(list.day));
  const own = proof.payments.filter((one) => !one.is_older);
  const values = { day, asked: sayAsked(proof), has: sayCount(own.length) };
  const ofList = list.reason
    ? t(
        'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere {has} assim ({asked}), e isso pode não ser tudo.',
        { ...values, reason: REASONS[list.reason] },
      )
    : t('A lista do provedor de {day} foi lida inteira em {at} e {has} assim: {asked}.', {
        ...values,
        at: spell(list.reading?.read_at ?? ''),
      });
  const { e2e_id: e2eId, amount } = proof.asked;
  const ofId = e2eId !== null &&
    proof.payments.length === 0 && [
      t('Saídas de dinheiro não se procuram assim: a lista do provedor não traz o id E2E delas.'),
      list.reason === 'rows_hidden' && amount === null && t('Com o valor, talvez se possa concluir.'),
    ];
  const early =
    list.early &&
    t('A leitura inteira mais nova dela começou em {at}, cedo demais: só vale uma começada a partir de {since}.', {
      at: spell(list.early.read_at),
      since,
    });
  const hours = (proof.other_hours ?? []).map((hour) => t('entre {from} e {to} h', { from: hour, to: hour + 1 }));
  const asked = sayAsked({ asked: { ...proof.asked, hour: null } });
  const elsewhere =
    hours.length > 0 && t('Neste dia há assim ({asked}), em outra hora: {hours}.', { asked, hours: hours.join('; ') });
  // a payment that was found leaves no question about older ones
  const isAnswered = list.conclusion === 'has' && older.conclusion !== 'has';
  const ofOlder = isAnswered ? [] : sayOlder(proof, since, spell);
  const wanted = daysToRead(proof);
  const toConclude =
    wanted &&
    t('Para concluir, um operador inicia uma conferência de {from} a {to}.', {
      from: formatDay(wanted.from, language()),
      to: formatDay(wanted.to, language()),
    });
  const next =
    list.next_at !== null &&
    t('A próxima leitura inteira dela começa em {at}; se ela a provar, a partir daí se pode concluir.', {
      at: spell(list.next_at),
    });
  const said = [ofList, ...(ofId || []), early, next, ...ofOlder, toConclude, elsewhere, ...sayOthers(proof)];
  return [...new Set(said.filter((one) => typeof one === 'string'))];
}

/** Why days that were not read since are no doubt. */
const ALL_LISTED =
  'A lista de cada um desses dias foi lida inteira depois do seu fim, e nenhuma cobrança deste valor ficou sem pagamento e sem ser vista de novo depois de {day}.';

function sayOlder(
  { asked, older, payments }: PaymentProof,
  since: string,
  spell: (at: string) => string,
): (Translated | null | false)[] {
  const day = formatDay(asked.day, language());
  const { days, unread: n, counted, early_at: earlyAt, charges, next_at: nextAt } = older;
  const next =
    nextAt !== null &&
    t('A próxima leitura inteira desses dias começa em {at}; se ela os provar, a partir daí se pode concluir.', {
      at: spell(nextAt),
    });
  if (older.conclusion !== 'unknown') {
    const has = sayCount(payments.filter((one) => one.is_older).length);
    const said = t('O que foi criado nos {days} dias antes {has} assim, paga em {day}.', { day, days, has });
    return older.conclusion === 'has' || n === 0 ? [said] : [said, t(ALL_LISTED, { day })];
  }
  if (n === 0 || charges?.length === 0)
    return [t('Sobre o que foi criado antes e pago em {day} também nada se conclui.', { day })];
  if (charges)
    return [
      plural(
        older.charges_count ?? charges.length,
        'Só uma cobrança deste valor, criada antes, pode ter sido paga em {day}: não consta como paga e não foi vista desde {since}.',
        'Só {n} cobranças deste valor, criadas antes, podem ter sido pagas em {day}: não constam como pagas e não foram vistas desde {since}.',
        { day, since },
      ),
      next,
    ];
  return [
    t(
      'Sobre o que foi criado antes e pago em {day} nada se conclui: dos {days} dias antes, {n} não foram lidos inteiros desde {since}.',
      { day, days, n, since },
    ),
    counted === 0
      ? null
      : t('Contados, sem serem lidos: {n}; isso prova os totais dos livros, não de quem é cada transação.', {
          n: counted,
        }),
    earlyAt === null
      ? null
      : t('A leitura inteira mais nova desses dias começou antes disso, em {at}.', { at: spell(earlyAt) }),
    older.unlisted === 0 && asked.amount === null ? t('Com o valor, talvez se possa concluir.') : null,
    next,
  ];
}

/** Says what else may be the payment that was asked for: of another name on the day, or of a day beside it. */
function sayOthers({ other_names: others, other_days: days }: PaymentProof): Translated[] {
  const named =
    others &&
    plural(
      others,
      'Com outro nome há uma transação deste valor neste dia.',
      'Com outro nome há ao menos {n} transações deste valor neste dia.',
    );
  const beside = days.map((day) => t('Há em {day}.', { day: formatDay(day, language()) }));
  return [...(named ? [named] : []), ...beside];
}

function sayCount(count: number): Translated {
  return count === 0 ? t('não tem nenhuma transação') : plural(count, 'tem uma transação', 'tem {n} transações');
}

/** `R$ 150,00, entre 14 e 15 h`. */
function sayAsked({ asked: { amount, hour, name, e2e_id: id } }: Pick<PaymentProof, 'asked'>): string {
  const cents = amount === null ? undefined : parseSum(amount);
  const parts = [
    cents === undefined ? '' : formatMoney(cents, language()),
    name === null ? '' : t('nome com “{name}”', { name }),
    id === null ? '' : t('id E2E {id}', { id }),
    hour === null ? '' : t('entre {from} e {to} h', { from: hour, to: hour + 1 }),
  ];
  return parts.filter(Boolean).join(', ');
}
