import type { Request, Response } from 'express';
import type { Context } from '../../../context.ts';
import { previewChange } from '../../../ledger/read/preview-change.ts';
import { type AnyChange, type By, makeChange, type Once } from '../../../operations/define-change.ts';
import type { Notice } from '../../../texts/notices.ts';
import { type PlainText, t } from '../../../texts/translate.ts';
import type { Draft } from '../parts/fields.ts';
import type { Html } from '../parts/html.ts';

/** Parameters of the address: they name an item, such as the adjustment that is reversed. */
export type Params = { id: string };

/** @template Title a text of the catalogue, or the name of an item. */
export type Place<Title extends string = PlainText> = { address: string; title: Title };

/** A confirmed form: by whom, for which item, and its key. */
export type Confirmed<Item> = { by: By; item: Item; once: Once };

export type TwoStepForm<Value, Item = undefined, Made = unknown> = {
  /** The address of the page; the form is posted there too. It may have `:id`. */
  address: string;
  title: PlainText;
  lead: PlainText;
  /** A part of the page above the form, which may have forms of its own. */
  above?(item: Item, response: Response): Promise<Html>;
  /** The section of the console; default: the balances. */
  section?: Place;
  /** The page that the form belongs to, and where a change leads to. */
  list: Place | ((item: Item) => Place<string>);
  names: readonly string[];
  /** Filters of that page after the change, as `month=2026-10`; default: none. */
  landing?(value: Value, item: Item): string;
  /** The values of the fields at first. */
  initial?(item: Item): Record<string, string> | Promise<Record<string, string>>;
  /** The item that `:id` names. @throws ConfereError `not_found`. */
  find(request: Request<Params>, response: Response): Promise<Item>;
  fields(draft: Draft, item: Item, response: Response): Promise<Html>;
  /** Whether a change can be made now; without, it always can. Where it cannot, the fields say why, and there is no button. */
  isOpen?(item: Item): Promise<boolean>;
  /** Reads the fields, and notes in the draft what is wrong with them. */
  read(draft: Draft, item: Item): Value;
  /** Shows what the change would do. @throws ConfereError as the change. */
  preview(value: Value, item: Item, response: Response): Promise<Html>;
  /** Reads what the change replaces or adds to, as a text: once it differs from the preview's, the preview is shown again. */
  basis?(context: Context, item: Item, value: Value): Promise<string>;
  /** The notice's name on the list; of a form that shows a page once: the notice where it was sent before. */
  done: Notice | ((made: Made | undefined) => Notice);
  roles: AnyChange['roles'];
  /** Makes the change, once for each key. @returns what was made; undefined where the form was sent before. */
  make(context: Context, value: Value, confirmed: Confirmed<Item>): Promise<Made | undefined>;
  /** A page that is shown once, such as a secret. */
  shown?(made: Made, item: Item): Html;
};

/** Previews a declared change: made, and rolled back. @throws ConfereError as the change. */
export function previewOf<Given, Made>(context: Context, change: AnyChange<Given, Made>, given: Given, id = '') {
  const by = { caller: { id: 'preview', role: 'admin' }, id } as const;
  return previewChange(context, (inner) => change.change(inner, given, by));
}

/** The parts of a form that a declared change gives. */
export function ofChange<Given, Made>(change: AnyChange<Given, Made>) {
  return {
    roles: change.roles,
    make: async (context: Context, given: Given, { by, once }: Pick<Confirmed<unknown>, 'by' | 'once'>) =>
      (await makeChange(context, change, { given, by, once })).made,
  };
}

/** The page that a form belongs to. */
export function placeOf<Item>({ list }: Pick<TwoStepForm<never, Item>, 'list'>, item: Item): Place<string> {
  return typeof list === 'function' ? list(item) : { ...list, title: t(list.title) };
}
