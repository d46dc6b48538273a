import type { Request, Response } from 'express';
import type { Role } from '../../../access/roles.ts';
import type { Context } from '../../../context.ts';
import { type PlainText, t } from '../../../texts/translate.ts';
import type { Draft } from '../parts/fields.ts';
import type { Html } from '../parts/html.ts';

/** Of an item that the address names, such as the adjustment that is reversed. */
export type Params = { id: string };

/** @template Title a text of the catalogue, or the name of an item. */
export type Place<Title extends string = PlainText> = { address: string; title: Title };

export type TwoStepForm<Value, Item = undefined> = {
  /** The address of the page; the form is posted there too. It may have `:id`. */
  address: string;
  /** Who may use it: roles of ours, or the merchant whose scope the request has. */
  roles: [Role, ...Role[]] | 'merchant';
  title: PlainText;
  lead: PlainText;
  /** The section of the console; default: the balances. */
  section?: Place;
  /** The page that the form belongs to, and where a change leads to. */
  list: Place | ((item: Item) => Place<string>);
  names: readonly string[];
  /** The values of the fields at first. */
  initial?(item: Item): Record<string, string>;
  /** The item that `:id` names. @throws ConfereError `not_found`. */
  find(request: Request<Params>, response: Response): Promise<Item>;
  fields(draft: Draft, item: Item): Promise<Html>;
  /** Reads the fields, and notes in the draft what is wrong with them. */
  read(draft: Draft, item: Item): Value;
  /** What the change would do. @throws ConfereError as the change. */
  preview(value: Value, item: Item, response: Response): Promise<Html>;
  /** What the change needs that no transaction may wait for; it runs before the change. @throws ConfereError as the change. */
  prepare?(value: Value, by: { actor: string; item: Item }): Promise<Value>;
  /** @returns the target for the audit, perhaps with its detail, and perhaps a page to show once. */
  change(inner: Context, value: Value, by: { actor: string; item: Item }): Promise<string | Made>;
  /** What follows the commit. @param by.isRepeated whether the form was sent before. */
  finish?(value: Value, by: { actor: string; item: Item; isRepeated: boolean }): Promise<void>;
  /** What the change replaces, as a text: once it is another than at the preview, the preview is shown again. */
  basis?(context: Context, item: Item): Promise<string>;
  action: string;
  /** The notice's name on the list; of a form that shows a page once: the notice where it was sent before. */
  done: string;
};

export type Made = { target: string; detail?: string | undefined; shown?: Html };

/** The page that a form belongs to. */
export function placeOf<Value, Item>({ list }: TwoStepForm<Value, Item>, item: Item): Place<string> {
  return typeof list === 'function' ? list(item) : { ...list, title: t(list.title) };
}
