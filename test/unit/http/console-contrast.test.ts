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

/** WCAG 2.2 AA for what is no text. */
const GRAPHIC_CONTRAST_MIN = 3;
/** A difference in CIELAB that is seen at a glance; 2.3 is just noticeable. */
const DIFFERENCE_MIN = 30;
/** How people without one kind of cone see linear RGB (Machado, Oliveira, Fernandes 2009). */
const EYES = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

test.each([
  ['light', light],
  ['dark', dark],
])('the two colours of charts stand out, and differ for every kind of colour blindness: %s', (_, theme) => {
  const colours = new Map([...theme.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour]));
  const [one = '', two = '', sheet = ''] = ['series-1', 'series-2', 'sheet'].map((name) => colours.get(name));
  for (const colour of [one, two]) expect(contrast(colour, sheet)).toBeGreaterThan(GRAPHIC_CONTRAST_MIN);
  for (const [eyes, matrix] of Object.entries(EYES))
    expect(distance(see(one, matrix), see(two, matrix)), eyes).toBeGreaterThan(DIFFERENCE_MIN);
});

/** A colour as these eyes see it, in CIELAB. */
function see(colour: string, matrix: number[]): number[] {
  const linear = [1, 3, 5].map((start) => {
    const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const row = (weights: number[], of: number[]): number =>
    weights.reduce((sum, weight, index) => sum + weight * (of[index] ?? 0), 0);
  const seen = [0, 3, 6].map((start) => Math.min(Math.max(row(matrix.slice(start, start + 3), linear), 0), 1));
  const [x = 0, y = 0, z = 0] = [
    [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
    [0.2126, 0.7152, 0.0722],
    [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
  ].map((weights) => {
    const share = row(weights, seen);
    return share > 0.008856 ? Math.cbrt(share) : 7.787 * share + 16 / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(a: number[], b: number[]): number {
  return Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)));
}
