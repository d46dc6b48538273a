import { randomUUID } from 'node:crypto';
import { createCalendar } from '../../src/domain/calendar.ts';
import type { CashinRequest } from '../../src/provider/client.ts';

export const PLATFORM = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
/** A payment to ask the provider for. */
export const CHARGE: CashinRequest = {
  ...{ name: 'Maria', email: 'm@exemplo.com.br', phone: '+5511999990000', document: '52998224725' },
  ...{ description: 'Pedido 1', amountCents: 1005n, platform: PLATFORM, reference: 'ord-create' },
};
const calendar = createCalendar('America/Sao_Paulo');
export const wallAgo = (ms: number): string => calendar.toWallTime(new Date(Date.now() - ms));
export const dayAgo = (days: number): string => calendar.dayOf(new Date(Date.now() - days * 86_400_000));

export type ProviderRow = Record<string, unknown> & {
  id: string;
  operation: string;
  status: string;
  amount: unknown;
  date_created: string;
  reference: string;
  platform: string;
  events: { status: string; date_created: string }[];
};

let made = 0;

/** A row as the provider shows one: pending when created, then each of `history` a minute after the one before. */
export function makeRow(facts: Partial<ProviderRow> & { created?: string; history?: string[] } = {}): ProviderRow {
  const { created = wallAgo(0), history = [], ...rest } = facts;
  made++;
  const at = (minutes: number): string =>
    new Date(Date.parse(`${created.replace(' ', 'T')}Z`) + minutes * 60_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
  const events = ['pending', ...history].map((status, index) => ({ status, date_created: at(index) })).reverse();
  return {
    id: randomUUID(),
    operation: 'cashin',
    status: events[0]?.status ?? 'pending',
    amount: '10.00',
    commission: '0.10',
    date_created: created,
    finished: '',
    name: 'Conceição Figueirôa',
    email: 'c@exemplo.com.br',
    phone: '+5511987654321',
    document: '52998224725',
    description: 'Pedido',
    platform: PLATFORM,
    reference: `ord-${made}`,
    extra: '',
    events,
    ...rest,
  };
}

/** `count` paid rows of a day, spread over it. */
export function makeDay(
  day: string,
  count: number,
  facts: Partial<ProviderRow> & { history?: string[] } = {},
): ProviderRow[] {
  return Array.from({ length: count }, (_, index) => {
    const second = Math.floor((index * 80_000) / count);
    const time = new Date(second * 1000).toISOString().slice(11, 19);
    return makeRow({ created: `${day} ${time}`, history: ['paid'], ...facts });
  });
}
