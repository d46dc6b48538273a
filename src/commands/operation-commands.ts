/** Commands for changes and lists that `src/operations` declares. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { append } from '../domain/lists.ts';
import { answerChange, type Change, COMMAND } from '../operations/define-change.ts';
import type { Item } from '../operations/define-item.ts';
import { type List, readList } from '../operations/define-list.ts';
import { lowerFirst, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../operations/describe-operation.ts';
import { parseInput } from '../operations/parse-input.ts';
import { withoutSeq } from '../operations/present-row.ts';
import { takeKey } from './keyed-command.ts';
import { parseLimit } from './parse-options.ts';
import { print, withContext } from './with-context.ts';

export type Options = Record<string, unknown>;
/** Options as commander takes them, with their help: the field of `--new-platform` is `new_platform`. */
type OptionTexts = Record<`--${string}`, string>;

/** The outcome of a command. */
type Done<Given, Made> = { given: Given; made: Made | undefined; id: string; context: Context };

type ChangeForm<Given, Made, Body, Answer> = {
  description?: string;
  options?: OptionTexts;
  /** Options that may be given several times. */
  repeatedOptions?: OptionTexts;
  /** Options of earlier versions, without a text. */
  formerOptions?: readonly `--${string}`[];
  /** The field of an option that is called otherwise. */
  fields?: Record<string, string>;
  /** The field that the argument is; default: the item that the address names. */
  argument?: string;
  /** Options that the address names. */
  params?: readonly string[];
  /** Names what is asked for by fields and arguments, where that is no single change of one item. */
  ask?(fields: Options, args: string[]): { change?: Change; id?: string; fields?: Options };
  /** Fields of options that are not texts as they are: files, secrets, numbers. One that is undefined is left out. */
  read?(options: Options): Promise<Options> | Options;
  /** Waits for what follows, or reads more than the API answers. @returns what `say` and `json` get. */
  follow?(answer: Answer, done: Done<Given, Made>): Promise<Body>;
  /** The text for people. */
  say(body: Body, done: Done<Given, Made>): string | Promise<string>;
  /** The exit code; default: 0. */
  code?(body: Body): number;
  /** Makes what `--json` prints; default: the body. */
  json?(body: Body, done: Done<Given, Made>): object;
  /** Names of earlier versions. */
  formerly?: readonly string[];
  /** Opens the context; default: `withContext`. */
  open?: typeof withContext;
};

/** Adds a command that makes a change. @param usage such as `undo <id>`. @param changes of several, an option chooses one. */
export function changeCommand<Given, Made, Body = Record<string, unknown>, Answer = Body>(
  parent: Command,
  usage: string,
  changes: Change<Given, Made> | readonly [Change<Given, Made>, ...Change<Given, Made>[]],
  form: ChangeForm<NoInfer<Given>, NoInfer<Made>, Body, Answer>,
): void {
  const [name = '', ...args] = usage.split(' ');
  const [first, ...others] = [changes].flat() as [Change<Given, Made>, ...Change<Given, Made>[]];
  for (const one of [name, ...(form.formerly ?? [])]) {
    const command = parent.command([one, ...args].join(' '), { hidden: one !== name });
    command.description(form.description ?? lowerFirst(first.summary));
    for (const [flags, text] of Object.entries(form.options ?? {})) command.option(flags, text);
    for (const [flags, text] of Object.entries(form.repeatedOptions ?? {}))
      command.option(flags, text, (value: string, before: string[] | undefined) => [...(before ?? []), value]);
    for (const flags of form.formerOptions ?? []) command.addOption(new Option(flags).hideHelp());
    command.option('--json', 'print one JSON object');
    takeKey(command);
    command.action(async (...given: unknown[]) => {
      const { json, idempotencyKey: _, ...options } = command.opts<Options & { json?: boolean }>();
      const values =
        args.length > 0
          ? given
              .slice(0, args.length)
              .flatMap((one) => one ?? [])
              .map(String)
          : [];
      const [argument = ''] = values;
      const fields = readFields(options, form.fields);
      if (form.argument) fields[form.argument] = argument;
      const params = Object.create(null) as Record<string, string>;
      for (const one of form.params ?? []) {
        params[one] = fields[one] as string; // an option with a value is a text
        delete fields[one];
      }
      const asked = form.ask?.(fields, values) ?? {};
      const read = Object.entries({ ...(asked.fields ?? fields), ...(await form.read?.(fields)) });
      const input = Object.fromEntries(read.filter(([, value]) => value !== undefined));
      const chosen = others.find(({ chosenBy = '' }) => fields[chosenBy] !== undefined) ?? first;
      const change = (asked.change ?? chosen) as Change<Given, Made>;
      const name = (field: string) => (field === form.argument ? 'the argument' : nameOption(field, form.fields));
      const parsed = (change.input ? parseInput(input, change.input, name) : undefined) as Given;
      await (form.open ?? withContext)({}, async (context) => {
        const id = asked.id ?? (form.argument === undefined ? argument : '');
        const by = { caller: COMMAND, id, params };
        const { body: answer = {}, made } = await answerChange(context, change, parsed, by);
        const done = { given: parsed, made, id: argument, context };
        const body = (await form.follow?.(answer as Answer, done)) ?? (answer as Body);
        print(json, form.json?.(body, done) ?? (body as object), await form.say(body, done));
        return form.code?.(body);
      });
    });
  }
}

type ListForm<Row> = {
  /** The field of an option that is called otherwise. */
  fields?: Record<string, string>;
  /** Default: `list`. */
  name?: string;
  description: string;
  /** Rows at most; default: 200. */
  max?: number;
  /** Prints all rows, and takes no limit. */
  isWhole?: true;
  /** The text of an empty list. */
  none?: string;
  /** A row, on a line. */
  say(row: Row, context: Context): string | Promise<string>;
};

/** Adds `list`, which prints the first rows. */
export function listCommand<Row extends { seq: number }, Filter>(
  parent: Command,
  list: List<Row, Filter>,
  form: ListForm<NoInfer<Row>>,
): void {
  const { name = 'list', max = PAGE_ITEMS_MAX } = form;
  const command = parent.command(name).description(form.description);
  const readFilter = addFilters(command, list, form.fields);
  if (!form.isWhole) command.option('--limit <count>', `rows at most, up to ${max}`, String(PAGE_ITEMS_DEFAULT));
  command.option('--json', 'print one JSON object');
  command.action(async ({ limit: text, json, ...options }: Options & { limit?: string; json?: boolean }) => {
    const limit = form.isWhole ? max : parseLimit(text ?? '', max);
    const filter = readFilter(options);
    await withContext({}, async (context) => {
      const rows: Row[] = [];
      for (let after: number | undefined; ; ) {
        const read = await readList(context, list, { filter, page: { limit, after }, caller: COMMAND });
        append(rows, read.rows);
        after = read.next;
        if (!form.isWhole || after === undefined) break;
      }
      const lines = await Promise.all(rows.map(async (row) => await form.say(row, context)));
      const shown = rows.map((row) => list.present?.(row, COMMAND) ?? withoutSeq(row));
      print(json, { [list.name]: shown }, lines.join('\n') || (form.none ?? 'none'));
    });
  });
}

/** Adds an option for each filter of a list, with its description and its few values: one that can only be `true` takes no value. @returns a function that reads the filters. */
export function addFilters<Row extends { seq: number }, Filter>(
  command: Command,
  { filters }: Pick<List<Row, Filter>, 'filters'>,
  fields: Record<string, string> = {},
): (given: Options) => Filter {
  for (const [field, schema] of Object.entries(filters?.shape ?? {})) {
    const takes = (text: string): boolean => schema.safeParse(text).success;
    const isFlag = takes('true') && !takes('false');
    const option = nameOption(field, fields);
    const flags = isFlag ? option : `${option} <${field.split('_').at(-1)}>`;
    command.addOption(new Option(flags, describeFilter(schema)).preset('true'));
  }
  const name = (field: string) => nameOption(field, fields);
  return (given) => (filters ? parseInput(readFields(given, fields), filters, name) : {}) as Filter;
}

/** More codes are not listed in a help text. */
const CODES_LISTED_MAX = 12;

function describeFilter(schema: z.ZodType): string {
  const bare = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  const codes = bare instanceof z.ZodEnum && bare.options.length <= CODES_LISTED_MAX ? bare.options.join(', ') : '';
  return [codes, schema.description ?? bare.description].filter(Boolean).join('; ');
}

type ItemForm<Shown> = { description: string; isDefault?: true; say(shown: Shown, context: Context): string };

/** Adds `list`, which prints what is read whole. */
export function itemCommand<Shown extends object>(
  parent: Command,
  item: Item<Shown, void>,
  form: ItemForm<Shown>,
): void {
  const command = parent.command('list', { isDefault: form.isDefault ?? false }).description(form.description);
  command.option('--json', 'print one JSON object').action(({ json }: { json?: boolean }) =>
    withContext({}, async (context) => {
      const shown = await item.read(context, { caller: COMMAND, id: '' });
      print(json, shown, form.say(shown, context));
    }),
  );
}

/** The fields of options by their names. */
function readFields(options: Options, fields: Record<string, string> = {}): Options {
  return Object.fromEntries(
    Object.entries(options).map(([option, value]) => [fields[option] ?? toField(option), value]),
  );
}

function toField(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function nameOption(field: string, fields: Record<string, string> = {}): string {
  if (field === 'body') return 'the options:';
  const option =
    Object.keys(fields).find((one) => field === fields[one] || field.startsWith(`${fields[one]}.`)) ?? field;
  return `--${toField(option).replaceAll('_', '-')}`;
}
