import type { MismatchKind } from '../../../domain/mismatch.ts';
import { MISMATCH_MEANINGS } from './words.ts';

type Explanation = { title: string; meaning: string; todo: string };

/** The name of a kind of mismatch, its meaning, and what to do about it in one sentence. */
export function explainMismatch(kind: string): Explanation {
  const { title, todo } = (GUIDE as Record<string, { title: string; todo: string }>)[kind] ?? { title: kind, todo: '' };
  return { title, meaning: MISMATCH_MEANINGS[kind] ?? '', todo };
}

const GUIDE: Record<MismatchKind, { title: string; todo: string }> = {
  webhook_lost: {
    title: 'Webhook perdido',
    todo: 'Nada a corrigir no razão: se a taxa de perdas subir, peça ao provedor que verifique os envios para o nosso endereço.',
  },
  webhook_contradiction: {
    title: 'Webhook contradiz o provedor',
    todo: 'Não aja pelo webhook: confira a transação no painel do provedor e, se ele não a confirma, trate o webhook como forjado e troque o segredo.',
  },
  status_differs: {
    title: 'O provedor contradiz a história',
    todo: 'Pergunte ao provedor por que um evento nosso sumiu ou por que a situação da linha não é a do último evento; só então aceite a versão dele (com estorno) ou mantenha a nossa.',
  },
  illegal_transition: {
    title: 'Transição impossível',
    todo: 'Já foi lançada como o provedor a mostra: confirme com ele qual é a situação final e resolva com a resposta na observação.',
  },
  amount_differs: {
    title: 'Valor mudou',
    todo: 'O razão mantém o primeiro valor: compare com o comprovante do pagamento e decida entre manter ou aceitar com estorno.',
  },
  commission_differs: {
    title: 'Comissão mudou',
    todo: 'Compare com o contrato e com a fatura do provedor; se a cobrança está errada, conteste-a antes de resolver.',
  },
  reference_differs: {
    title: 'Referência mudou',
    todo: 'O razão mantém a primeira: descubra quem a alterou, porque é por ela que o pedido do lojista é encontrado.',
  },
  duplicate_reference: {
    title: 'Referência repetida',
    todo: 'Veja com o lojista se o pedido foi cobrado duas vezes e cancele ou devolva a que sobra: a divergência se resolve sozinha.',
  },
  missing_at_provider: {
    title: 'Ausente no provedor',
    todo: 'Abra um chamado no provedor com o id: o dinheiro está no nosso razão e ele diz não conhecer a transação.',
  },
  list_omission: {
    title: 'Omitida na lista',
    todo: 'Nada a fazer agora: a transação existe e a próxima conferência completa deve trazê-la; se persistir, avise o provedor.',
  },
  list_unstable: {
    title: 'Dia não provado',
    todo: 'Inicie uma conferência deste dia num horário calmo; enquanto não houver prova, nada se conclui sobre ausências; se o total anunciado sobra pelo mesmo número em todas as leituras, confirme-o com o provedor e aceite-o.',
  },
  stuck: {
    title: 'Parada',
    todo: 'Num pagamento, confirme no painel do provedor antes de pagar de novo; num recebimento, cobre do provedor o fim da análise.',
  },
  row_refused: {
    title: 'Linha ilegível',
    todo: 'A linha está guardada como veio e fora do razão: mostre-a ao provedor e peça que a corrija.',
  },
  field_unreadable: {
    title: 'Campo ilegível',
    todo: 'A transação foi lançada sem esse campo e a linha está guardada como veio: peça ao provedor que o corrija; ao ser lido, a divergência se resolve sozinha.',
  },
  unknown_status: {
    title: 'Situação desconhecida',
    todo: 'Nada foi lançado por ela: pergunte ao provedor o que significa e avise quem desenvolve o Confere.',
  },
  webhook_quarantined: {
    title: 'Webhook em quarentena',
    todo: 'Abra o webhook, veja o motivo e, corrigida a causa, reprocesse-o; o que for lixo, resolva com uma observação.',
  },
  e2e_date_differs: {
    title: 'Data do E2E distante',
    todo: 'Confira no comprovante se o id E2E é mesmo deste pagamento; costuma ser erro de preenchimento no provedor.',
  },
  closed_day_changed: {
    title: 'Dia já relatado mudou',
    todo: 'Faça a nova revisão do relatório desse dia e avise a contabilidade; a aba Alterações diz o que mudou.',
  },
  balance_differs: {
    title: 'Saldo não bate',
    todo: 'Procure no painel do provedor o que a lista não mostra (tarifa, bloqueio, saque) e lance-o como ajuste, ou corrija o saldo informado.',
  },
  books_broken: {
    title: 'Razão inconsistente',
    todo: 'Pare de fechar relatórios e rode confere doctor: é um defeito nosso ou uma escrita por fora, nunca coisa do provedor.',
  },
};

/** The names by kind, for a select field. */
export const MISMATCH_TITLES: Record<string, string> = Object.fromEntries(
  Object.entries(GUIDE).map(([kind, { title }]) => [kind, title]),
);
