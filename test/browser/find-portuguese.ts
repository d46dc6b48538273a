import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { EN } from '../../src/texts/console/catalogue.ts';

/** Words that English does not have, and how Portuguese writes amounts and days. */
const PORTUGUESE =
  /[ãõçáéíóúâêôà]|\b(?:de|da|dos|das|uma?|nenhuma?|ainda|agora|hoje|pelo|pela|para|por|sem|seu)\b|\d\d\/\d\d\/\d{4}|R\$ [\d.]*\d,\d\d\b/i;
/** Texts whose English differs, and the parts between their values. A single word may be data: it must be a whole text. */
const SOURCES = Object.entries(EN)
  .flatMap(([source, english]) => splitText(source).filter((part) => !english.includes(part)))
  .filter((part) => /\p{L}{3}/u.test(part));
const WHOLE = new Set(SOURCES);
const PHRASES = SOURCES.filter((part) => part.includes(' ') && part.length > 8);

function splitText(text: string): string[] {
  return text.split(/\{\w+\}|<[^>]+>/).map((part) => part.trim());
}

/** Each text of a document, and of its attributes that people read or hear. */
const READ_TEXTS = `((document) => {
  const nodes = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (nodes.nextNode())
    if (!nodes.currentNode.parentElement.closest('script, textarea, .brand, [lang="pt-BR"]')) texts.push(nodes.currentNode.data);
  for (const name of ['aria-label', 'title', 'placeholder', 'data-label', 'data-text-copy', 'data-text-copied', 'data-text-failed'])
    for (const element of document.querySelectorAll('[' + name + ']')) texts.push(element.getAttribute(name));
  return [document.title, ...texts].map((text) => text.replace(/\\s+/g, ' ').trim()).filter((text) => text !== '');
})`;

/** The texts of the English page that is open, and are Portuguese. @param data of the test that is Portuguese itself. */
export async function findPortuguese(shown: Page, data: readonly string[]): Promise<string[]> {
  expect(await shown.locator('html').getAttribute('lang')).toBe('en');
  return listPortuguese(await shown.evaluate(`${READ_TEXTS}(document)`), data);
}

/** The same of an address, which the browser requests and parses, but does not draw. */
export async function findPortugueseAt(
  shown: Page,
  address: string,
  data: readonly string[],
): Promise<{ status: number; found: string[] }> {
  type Read = { status: number; lang: string; texts: string[] };
  const { status, lang, texts } = await shown.evaluate<Read>(`(async () => {
    const answer = await fetch(${JSON.stringify(address)}, { headers: { accept: 'text/html' } });
    const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
    return { status: answer.status, lang: parsed.documentElement.lang, texts: ${READ_TEXTS}(parsed) };
  })()`);
  expect(lang, address).toBe('en');
  return { status, found: listPortuguese(texts, data) };
}

function listPortuguese(texts: string[], data: readonly string[]): string[] {
  expect(texts.length).toBeGreaterThan(5);
  return [...new Set(texts)].filter((text) => isPortuguese(text, data));
}

function isPortuguese(text: string, data: readonly string[]): boolean {
  const rest = data.reduce((left, value) => left.replaceAll(value, ''), text);
  return WHOLE.has(text) || PORTUGUESE.test(rest) || PHRASES.some((phrase) => rest.includes(phrase));
}
