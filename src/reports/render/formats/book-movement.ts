import type { Day } from '../../../domain/calendar.ts';
import { fill } from '../../../texts/fill.ts';
import { formatDay, type Texts } from '../../../texts/reports/texts.ts';
import type { Movement } from '../../read/read-movements.ts';
import { nameMovement } from '../name-movement.ts';
import type { EntryBankAccount } from './read-entry-accounts.ts';

/** A movement as another program books it. */
export type Booking = {
  movement: Movement;
  day: Day;
  /** The kind of movement in words. */
  kind: string;
  /** The bank account that it went to or came from. */
  bank?: EntryBankAccount | undefined;
};

/** Books a movement on its own day. */
export function bookMovement(movement: Movement, texts: Texts): Booking {
  const { adjustment, atWall } = movement;
  const by = adjustment ? [fill(texts.enteredBy, { name: adjustment.by })] : [];
  return { movement, day: atWall.slice(0, 10), kind: [nameMovement(movement, texts), ...by].join(', ') };
}

/** Books a movement of a closed month on a day of the open one: its words name its own day. */
export function bookEarlier(movement: Movement, texts: Texts, day: Day): Booking {
  const own = bookMovement(movement, texts);
  return { movement, day, kind: fill(texts.earlierMonth, { day: formatDay(own.day), kind: own.kind }) };
}
