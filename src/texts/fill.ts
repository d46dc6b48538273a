type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** Stands in the place of a name. */
export type Value = string | number | bigint;

/** The values of a text: nothing, or one object with each name. @template Given names that the function adds. */
export type Values<T extends string, V = Value, Given = never> = [Exclude<Names<T>, Given>] extends [never]
  ? []
  : [values: Record<Exclude<Names<T>, Given>, V>];

/** Puts values in the places of their names: `{n}`. A name without a value stays. */
export function fill(text: string, values: Partial<Record<string, Value>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** A code in words; one that has none stands as it came. */
export function describeCode(words: Readonly<Record<string, string>>, code: string): string {
  return Object.hasOwn(words, code) ? (words[code] ?? code) : code;
}
