/** The words of a proof, in the language of the request. */
import type { Calendar } from '../../domain/calendar.ts';
import { formatDay, formatWallTime } from '../../domain/language/language.ts';
import { formatMoney, parseSum } from '../../domain/money.ts';
import { language } from '../../texts/language.ts';
import { plural, type Translated, t, words } from '../../texts/translate.ts';
import type { PaymentProof } from '../rows/payment-proof.ts';

type Reason = NonNullable<PaymentProof['list']['reason']>;

const REASONS: Record<Reason, string> = words({
  not_over: 'o dia ainda não terminou no provedor',
  not_read: 'ela não foi lida inteira desde o fim do dia',
  only_counted: 'desde o fim do dia ela só foi contada, e uma contagem não diz de quem é cada transação',
  reopened: 'a leitura mais nova já não conseguiu prová-la',
  late_entry: 'depois da leitura apareceu uma transação que ela não tinha',
  before_books: 'o dia é de antes dos livros, e ela não foi lida',
  time_zone: 'o fuso horário do provedor está em dúvida, e com ele o dia de cada pagamento',
  rows_refused: 'ela tem linhas que o Confere não conseguiu ler',
  rows_hidden: 'ela tem pagamentos sem nome ou sem id E2E, e um deles pode ser este',
});

/** Says what the list of the day says, and what those of the days before say. */
export function sayPaymentProof(calendar: Calendar, proof: PaymentProof): [list: Translated, older: Translated] {
  return [sayList(calendar, proof), sayOlder(proof)];
}

function sayList(calendar: Calendar, proof: PaymentProof): Translated {
  const { list, payments } = proof;
  const own = payments.filter((one) => !one.is_older).length;
  const day = formatDay(list.day, language());
  const asked = sayAsked(proof);
  const at = list.reading && formatWallTime(calendar.toWallTime(new Date(list.reading.read_at)), language());
  if (list.conclusion === 'unknown' || at === null) {
    const reason = list.reason === null ? '' : REASONS[list.reason];
    return own === 0
      ? t(
          'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere não conhece nenhuma transação assim ({asked}), o que não prova que não exista.',
          { day, reason, asked },
        )
      : plural(
          own,
          'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere conhece uma transação assim ({asked}); pode haver outras.',
          'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere conhece {n} transações assim ({asked}); pode haver outras.',
          { day, reason, asked },
        );
  }
  if (list.conclusion === 'none')
    return t('A lista do provedor de {day} foi lida inteira em {at}: não tem nenhuma transação assim: {asked}.', {
      day,
      at,
      asked,
    });
  return plural(
    own,
    'A lista do provedor de {day} foi lida inteira em {at}: tem uma transação assim: {asked}.',
    'A lista do provedor de {day} foi lida inteira em {at}: tem {n} transações assim: {asked}.',
    { day, at, asked },
  );
}

function sayOlder({ asked, older, payments }: PaymentProof): Translated {
  const day = formatDay(asked.day, language());
  const n = payments.filter((one) => one.is_older).length;
  if (older.conclusion === 'none')
    return t(
      'Das transações criadas nos {days} dias antes, nenhuma assim foi paga em {day}: as suas listas foram lidas ou contadas depois desse dia.',
      { day, days: older.days },
    );
  if (older.conclusion === 'has')
    return plural(
      n,
      'Uma transação assim, criada antes de {day}, foi paga nesse dia.',
      '{n} transações assim, criadas antes de {day}, foram pagas nesse dia.',
      { day },
    );
  return plural(
    older.unread,
    'Sobre transações criadas antes e pagas em {day} nada se conclui: a lista de um dos {days} dias antes não foi lida depois desse dia.',
    'Sobre transações criadas antes e pagas em {day} nada se conclui: as listas de {n} dos {days} dias antes não foram lidas depois desse dia.',
    { day, days: older.days },
  );
}

/** `R$ 150,00, entre 14 e 15 h`. */
function sayAsked({ asked: { amount, hour, name, e2e_id: e2eId } }: PaymentProof): string {
  const cents = amount === null ? undefined : parseSum(amount);
  return [
    cents === undefined ? '' : formatMoney(cents, language()),
    name === null ? '' : t('nome {name}', { name }),
    e2eId === null ? '' : t('id E2E {id}', { id: e2eId }),
    hour === null ? '' : t('entre {from} e {to} h', { from: hour, to: hour + 1 }),
  ]
    .filter((part) => part !== '')
    .join(', ');
}
