import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** WCAG 2.2 AA for text of any size. */
const CONTRAST_MIN = 4.5;

const css = readFileSync(new URL('../../../src/http/console/assets/console.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block);

/** All pairs of text and background colour in the style sheet. */
const PAIRS = [
  ...['ink', 'soft', 'accent', 'critical'].flatMap((text) =>
    ['paper', 'sheet', 'wash'].map((ground) => [text, ground]),
  ),
  ['accent-ink', 'accent'],
  ['good', 'paper'],
  ...['critical', 'high', 'medium', 'good'].flatMap((name) => [
    [name, `${name}-wash`],
    ['ink', `${name}-wash`],
  ]),
] as [string, string][];

test.each([
  ['light', light],
  ['dark', dark],
])('every text of the console is legible: %s', (_, theme) => {
  const colours = new Map([...theme.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour]));
  expect(colours.size).toBeGreaterThan(15);
  const faint = PAIRS.filter(([text, ground]) => {
    return contrast(colours.get(text) ?? '', colours.get(ground) ?? '') < CONTRAST_MIN;
  });
  expect(faint).toEqual([]);
});

function contrast(a: string, b: string): number {
  const [dim = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dim + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
