/** The English of every text of the console, by its text in pt-BR. A text stands in the file of the room that uses it most. */
import { BALANCES_EN } from './balances.ts';
import { NOTICES_EN } from './notices.ts';
import { PAGES_EN } from './pages.ts';
import { PARTS_EN } from './parts.ts';
import { WORDS_EN } from './words.ts';

export const EN = { ...PARTS_EN, ...WORDS_EN, ...NOTICES_EN, ...PAGES_EN, ...BALANCES_EN };
