/**
 * A chart, as a page gives it. `render-chart.ts` makes a drawing with axes, values on hover, links by keyboard, a legend, and
 * the same values as a table.
 */
import type { Label, Translated } from '../../../texts/translate.ts';
import type { TableColumn } from '../parts/page-components.ts';
import type { Form, Unit } from './plan-scale.ts';

/** One place on the horizontal axis: an hour or a day. */
export type Slot = {
  /** Below the axis: `21/11`. */
  label: string;
  /** In full: `21/11/2026`. */
  title: string;
  /** The address of the slot's link. */
  href?: string | undefined;
  /** A value of each series; undefined is not known, which is a gap and not zero. */
  values: readonly (bigint | undefined)[];
  /** The text for a value that is not known. */
  unknown?: Translated;
  /** A sign below the label, and its meaning. */
  mark?: { name: 'proven' | 'open'; text: string };
  /** The hour or day that is not over. */
  isNow?: boolean;
};

export type Chart<S extends Slot = Slot> = {
  /** Distinguishes the charts of a page. */
  id: string;
  title: Translated;
  form: Form;
  unit: Unit;
  /** The names of one or two series. */
  series: readonly Translated[];
  slots: readonly S[];
  /** `Dia` or `Hora`: the first column of the table. */
  slotTitle: Label;
  /** Values that the axis has to contain, such as 100 %. */
  includes?: readonly bigint[];
  /** More columns of the table. */
  columns?: readonly TableColumn<S>[];
  /** The names of the marks, for the legend. */
  marks?: { proven: Translated; open: Translated };
};

/** The part of a chart that is drawn: all but the further columns of its table. */
export type Drawing = Omit<Chart, 'columns'>;

/** Whether no value of a slot is known. */
export function isGap({ values }: Slot): boolean {
  return values.every((value) => value === undefined);
}
