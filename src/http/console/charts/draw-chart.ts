import { largest } from '../../../domain/lists.ts';
import { type Html, html } from '../parts/html.ts';
import { type Drawing, isGap, type Slot } from './chart.ts';
import { describeSlot } from './describe-chart.ts';
import { formatTick } from './format-value.ts';
import { planScale, type Scale, toPixels } from './plan-scale.ts';

/** Sizes in the units of the drawing; on a wide window it is scaled, on a narrow one they are pixels. */
const WIDE = { width: 800, height: 190, slotMin: 0 };
const NARROW = { width: 300, height: 160, slotMin: 12 };
/** A narrow drawing is pressed into the window down to this width of a slot; with less, it scrolls. */
const SLOT_FITS_MIN = 7.5;
const TOP = 12;
const LABELS = 24;
const MARKS = 20;
/** At both ends, for half a label of the horizontal axis. */
const SIDE = 18;
const CHAR = 6.6;
const LABEL_GAP = 10;
const BAR_MAX = 22;
/** A bar of zero is visible: no bar means that the value is not known. */
const BAR_MIN = 1.5;
/** Lines of up to this many slots have a point at each value. */
const POINTS_MAX = 45;
const POINT = 3;

type Frame = { left: number; slot: number; width: number; height: number };
type Drawn = { chart: Drawing; scale: Scale; frame: Frame };

/** Draws a chart twice: for a wide window, and for a narrow one, where the vertical axis stays while the rest scrolls. */
export function drawChart(chart: Drawing, summary: string): Html {
  const values = chart.slots.flatMap((slot) => slot.values.filter((value) => value !== undefined));
  const scale = planScale([...values, ...(chart.includes ?? [])], chart.unit, chart.form);
  const axis = LABEL_GAP + CHAR * largest(scale.ticks.map((tick) => tickText(tick, scale, chart).length));
  const count = Math.max(chart.slots.length, 1);

  const wide = frameOf(WIDE.height, axis + SIDE, (WIDE.width - axis - 2 * SIDE) / count, count);
  const fits = (NARROW.width - axis - 2 * SIDE) / count;
  const narrow = frameOf(NARROW.height, SIDE, fits < SLOT_FITS_MIN ? NARROW.slotMin : fits, count);
  const foot = TOP + LABELS + (chart.slots.some((slot) => slot.mark) ? MARKS : 0);
  return html`<div class="wide"><svg viewBox="0 0 ${WIDE.width} ${WIDE.height + foot}" role="group" aria-label="${chart.title}">${drawTicks({ chart, scale, frame: wide }, axis)}${drawPlot({ chart, scale, frame: wide }, summary)}</svg></div>
<div class="narrow"><svg width="${px(axis)}" height="${NARROW.height + foot}" aria-hidden="true" focusable="false">${drawTicks({ chart, scale, frame: narrow }, axis)}</svg>
<div class="plot" tabindex="0" role="group" aria-label="${chart.title}"><svg width="${narrow.width}" height="${NARROW.height + foot}">${drawPlot({ chart, scale, frame: narrow }, summary)}</svg></div></div>`;
}

function frameOf(height: number, left: number, slot: number, count: number): Frame {
  return { left, slot, height, width: px(left + slot * count + SIDE) };
}

function drawTicks({ chart, scale, frame }: Drawn, right: number): Html {
  return html`<g class="ticks" aria-hidden="true">${scale.ticks.map(
    (tick) =>
      html`<text x="${px(right - LABEL_GAP / 2)}" y="${px(yOf(tick, scale, frame) + 4)}">${tickText(tick, scale, chart)}</text>`,
  )}</g>`;
}

/** The drawing is one image. Links and hover areas lie above it: a screen reader finds no parts in an image. */
function drawPlot(drawn: Drawn, summary: string): Html {
  const { chart, scale, frame } = drawn;
  const left = frame.left - SIDE;
  return html`<g role="img" aria-label="${summary}">${scale.ticks.map(
    (tick) =>
      html`<line class="grid${tick === 0n && ' zero'}" x1="${px(left)}" x2="${frame.width}" y1="${px(yOf(tick, scale, frame))}" y2="${px(yOf(tick, scale, frame))}"></line>`,
  )}${drawGaps(drawn)}${chart.form === 'bars' ? drawBars(drawn) : drawLines(drawn)}${drawLabels(drawn)}</g>${drawTargets(drawn)}`;
}

/** A slot without a known value is shaded. */
function drawGaps({ chart, frame }: Drawn): Html[] {
  return chart.slots.flatMap((slot, index) =>
    isGap(slot)
      ? [
          html`<rect class="gap" x="${px(frame.left + index * frame.slot)}" y="${TOP}" width="${px(frame.slot)}" height="${frame.height}"></rect>`,
        ]
      : [],
  );
}

function drawBars({ chart, scale, frame }: Drawn): Html[] {
  const count = chart.series.length;
  const bar = Math.min(BAR_MAX, (frame.slot * 0.8) / count);
  const zero = yOf(0n, scale, frame);
  return chart.slots.flatMap((slot, index) =>
    slot.values.flatMap((value, at) => {
      if (value === undefined) return [];
      const y = yOf(value, scale, frame);
      const height = Math.max(Math.abs(zero - y), BAR_MIN);
      const x = middleOf(index, frame) + (at - count / 2) * bar;
      const top = value < 0n ? zero : zero - height;
      return [
        html`<rect class="bar s${at + 1}" x="${px(x)}" y="${px(top)}" width="${px(bar * 0.9)}" height="${px(height)}"></rect>`,
      ];
    }),
  );
}

/** A line for each series, broken where a value is unknown. A value between two unknown ones is a point. */
function drawLines({ chart, scale, frame }: Drawn): Html[] {
  return chart.series.flatMap((_, at) => {
    const points = chart.slots.map(({ values }, index) => {
      const value = values[at];
      return value === undefined ? undefined : { x: px(middleOf(index, frame)), y: px(yOf(value, scale, frame)) };
    });
    const path = points.map((point, index) => point && `${points[index - 1] ? 'L' : 'M'}${point.x} ${point.y}`);
    const shown = points.filter(
      (point, index) => point && (points.length <= POINTS_MAX || (!points[index - 1] && !points[index + 1])),
    );
    return [
      html`<path class="line s${at + 1}" d="${path.filter(Boolean).join('')}"></path>`,
      ...shown.map(
        (point) => html`<circle class="point s${at + 1}" cx="${point?.x}" cy="${point?.y}" r="${POINT}"></circle>`,
      ),
    ];
  });
}

/** As many labels as have room, the last one always; under them the marks. */
function drawLabels({ chart, frame }: Drawn): Html[] {
  const chars = Math.max(largest(chart.slots.map(({ label }) => label.length)), 1);
  const every = Math.max(Math.ceil((chars * CHAR + LABEL_GAP) / frame.slot), 1);
  const y = TOP + frame.height + 17;
  return chart.slots.map((slot, index) => {
    const x = px(middleOf(index, frame));
    const isShown = (chart.slots.length - 1 - index) % every === 0;
    return html`${isShown && html`<text${slot.isNow && html` class="now"`} x="${x}" y="${y}">${slot.label}</text>`}${slot.mark && drawMark(slot.mark.name, x, y + MARKS - 5)}`;
  });
}

function drawMark(name: 'proven' | 'open', x: number, y: number): Html {
  return name === 'proven'
    ? html`<path class="proven" d="M${x - 4} ${y}l3 3l5.5 -6"></path>`
    : html`<circle class="open" cx="${x}" cy="${y}" r="3"></circle>`;
}

/** The whole height of a slot can be pointed at: its values appear. A slot with an address is a link. */
function drawTargets({ chart, frame }: Drawn): Html[] {
  return chart.slots.map((slot: Slot, index) => {
    const text = describeSlot(chart, slot);
    const target = html`<title>${text}</title><rect class="hit" x="${px(frame.left + index * frame.slot)}" y="${TOP}" width="${px(frame.slot)}" height="${frame.height + LABELS}"></rect>`;
    return slot.href === undefined
      ? html`<g>${target}</g>`
      : html`<a href="${slot.href}" aria-label="${text}">${target}</a>`;
  });
}

function tickText(tick: bigint, scale: Scale, chart: Drawing): string {
  return formatTick(tick, scale.step, chart.unit);
}

function yOf(value: bigint, scale: Scale, frame: Frame): number {
  return TOP + frame.height - toPixels(value, scale, frame.height);
}

function middleOf(index: number, frame: Frame): number {
  return frame.left + (index + 0.5) * frame.slot;
}

function px(value: number): number {
  return Math.round(value * 10) / 10;
}
