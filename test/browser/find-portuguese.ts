import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { EN } from '../../src/http/console/languages/en/catalogue.ts';

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

/** Each text of the page, and of its attributes that people read or hear. */
const READ_TEXTS = `(() => {
  const nodes = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (nodes.nextNode())
    if (!nodes.currentNode.parentElement.closest('script, textarea, .brand, [lang="pt-BR"]')) texts.push(nodes.currentNode.data);
  for (const name of ['aria-label', 'title', 'placeholder', 'data-label', 'data-text-copy', 'data-text-copied', 'data-text-failed'])
    for (const element of document.querySelectorAll('[' + name + ']')) texts.push(element.getAttribute(name));
  return [document.title, ...texts].map((text) => text.replace(/\\s+/g, ' ').trim()).filter((text) => text !== '');
})()`;

/** The texts of an English page that are Portuguese. @param data of the test that is Portuguese itself. */
export async function findPortuguese(shown: Page, data: readonly string[]): Promise<string[]> {
  const texts: string[] = await shown.evaluate(READ_TEXTS);
  expect(texts.length).toBeGreaterThan(5);
  expect(await shown.locator('html').getAttribute('lang')).toBe('en');
  const found = texts.filter((text) => {
    const rest = data.reduce((left, value) => left.replaceAll(value, ''), text);
    return WHOLE.has(text) || PORTUGUESE.test(rest) || PHRASES.some((phrase) => rest.includes(phrase));
  });
  return [...new Set(found)];
}
