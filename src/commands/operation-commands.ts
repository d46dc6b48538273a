/** Commands for changes and lists that `src/operations` declares. */
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { append } from '../domain/lists.ts';
import { answerChange, type Change, COMMAND } from '../operations/define-change.ts';
import { type List, readList } from '../operations/define-list.ts';
import { parseInput } from '../operations/parse-input.ts';
import { withoutSeq } from '../operations/present-row.ts';
import { takeKey } from './keyed-command.ts';
import { parseLimit } from './parse-options.ts';
import { print, withContext } from './with-context.ts';

const LIST_MAX = 200;

export type Options = Record<string, unknown>;
/** Options as commander takes them, with their help: the field of `--new-platform` is `new_platform`. */
type OptionTexts = Record<`--${string}`, string>;

/** What a command did. */
type Done<Given, Made> = { given: Given; made: Made | undefined; id: string; context: Context };

type ChangeForm<Given, Made, Body> = {
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
  /** Fields of options that are not texts as they are: files, secrets, numbers. One that is undefined is left out. */
  read?(options: Options): Promise<Options> | Options;
  /** Waits for what follows, or reads more than the API answers. @returns what `say` and `json` get. */
  follow?(body: Body, done: Done<Given, Made>): Promise<Body>;
  /** The text for people. */
  say(body: Body, done: Done<Given, Made>): string | Promise<string>;
  /** What `--json` prints; default: the body. */
  json?(body: Body, done: Done<Given, Made>): object;
  /** Names of earlier versions. */
  formerly?: readonly string[];
  /** Opens the context; default: `withContext`. */
  open?: typeof withContext;
};

/** Adds a command that makes a change. @param usage such as `undo <id>`. @param changes of several, an option chooses one. */
export function changeCommand<Given, Made, Body = Record<string, unknown>>(
  parent: Command,
  usage: string,
  changes: Change<Given, Made> | readonly [Change<Given, Made>, ...Change<Given, Made>[]],
  form: ChangeForm<NoInfer<Given>, NoInfer<Made>, Body>,
): void {
  const [name = '', ...args] = usage.split(' ');
  const [first, ...others] = [changes].flat() as [Change<Given, Made>, ...Change<Given, Made>[]];
  for (const one of [name, ...(form.formerly ?? [])]) {
    const command = parent.command([one, ...args].join(' '), { hidden: one !== name });
    command.description(form.description ?? lowerFirst(first.summary));
    for (const [flags, text] of Object.entries(form.options ?? {})) command.option(flags, text);
    for (const [flags, text] of Object.entries(form.repeatedOptions ?? {}))
      command.option(flags, text, (value: string, before: string[] = []) => [...before, value]);
    for (const flags of form.formerOptions ?? []) command.addOption(new Option(flags).hideHelp());
    command.option('--json', 'print one JSON object');
    takeKey(command);
    command.action(async (...given: unknown[]) => {
      const { json, idempotencyKey: _, ...options } = command.opts<Options & { json?: boolean }>();
      const argument = args.length > 0 ? String(given[0]) : '';
      const fields = readFields(options, form.fields);
      if (form.argument) fields[form.argument] = argument;
      const read = Object.entries({ ...fields, ...(await form.read?.(fields)) });
      const input = Object.fromEntries(read.filter(([, value]) => value !== undefined));
      const change = others.find(({ chosenBy = '' }) => fields[chosenBy] !== undefined) ?? first;
      const name = (field: string) => (field === form.argument ? 'the argument' : nameOption(field, form.fields));
      const parsed = (change.input ? parseInput(input, change.input, name) : undefined) as Given;
      await (form.open ?? withContext)({}, async (context) => {
        const id = form.argument === undefined ? argument : '';
        const { body: answer = {}, made } = await answerChange(context, change, parsed, { caller: COMMAND, id });
        const done = { given: parsed, made, id: argument, context };
        const body = (await form.follow?.(answer as Body, done)) ?? (answer as Body);
        print(json, form.json?.(body, done) ?? (body as object), await form.say(body, done));
      });
    });
  }
}

type ListForm<Row> = {
  description: string;
  options?: OptionTexts;
  /** Default: `list`. */
  name?: string;
  /** Fields of options that are called otherwise. */
  fields?: Record<string, string>;
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
  const { name = 'list', fields, max = LIST_MAX } = form;
  const command = parent.command(name).description(form.description);
  for (const [flags, text] of Object.entries(form.options ?? {})) command.option(flags, text);
  if (!form.isWhole) command.option('--limit <count>', `rows at most, up to ${max}`, '50');
  command.option('--json', 'print one JSON object');
  command.action(async ({ limit: text, json, ...options }: Options & { limit?: string; json?: boolean }) => {
    const limit = form.isWhole ? max : parseLimit(text ?? '', max);
    const nameField = (field: string) => nameOption(field, fields);
    const filter = (list.filters ? parseInput(readFields(options, fields), list.filters, nameField) : {}) as Filter;
    await withContext({}, async (context) => {
      const rows: Row[] = [];
      for (let after: number | undefined; ; ) {
        const read = await readList(context, list, { filter, page: { limit, after }, caller: COMMAND });
        append(rows, read.rows);
        after = read.next;
        if (!form.isWhole || after === undefined) break;
      }
      const lines = await Promise.all(rows.map(async (row) => await form.say(row, context)));
      print(json, { [list.name]: rows.map(withoutSeq) }, lines.join('\n') || (form.none ?? 'none'));
    });
  });
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
  const option =
    Object.keys(fields).find((one) => field === fields[one] || field.startsWith(`${fields[one]}.`)) ?? field;
  return `--${toField(option).replaceAll('_', '-')}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
