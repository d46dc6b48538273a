import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { Day, WallTime } from '../../../domain/calendar.ts';

/** Rows that one group holds, and the memory with it. Encoding a group blocks the process: about 20 ms. */
const ROWS_A_GROUP = 5_000;
const MS_A_DAY = 86_400_000;

type Element = Omit<SchemaElement, 'name' | 'repetition_type'>;
type Value = string | number | bigint | boolean | null;
export type ParquetColumn<Row> = { name: string; element: Element; get: (row: Row) => Value };

export type ParquetTable<Row> = { add(row: Row): void; drain(): Promise<void>; end(): Promise<void> };

/** Opens a new file of one table. Each column is nullable. */
export function openParquetTable<Row>(file: string, columns: readonly ParquetColumn<Row>[]): ParquetTable<Row> {
  const writer = new ParquetWriter({
    writer: fileWriter(file),
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, element }) => ({ ...element, name, repetition_type: 'OPTIONAL' as const })),
    ],
    createdBy: 'Confere',
  });
  let values: Value[][] = columns.map(() => []);

  async function flush(): Promise<void> {
    const columnData = columns.map(({ name }, index) => ({ name, data: values[index] ?? [] }));
    values = columns.map(() => []);
    await writer.write({ columnData, rowGroupSize: ROWS_A_GROUP });
  }

  return {
    add(row) {
      for (const [index, column] of columns.entries()) values[index]?.push(column.get(row));
    },
    async drain() {
      if ((values[0]?.length ?? 0) >= ROWS_A_GROUP) await flush();
    },
    async end() {
      await flush();
      await writer.finish();
    },
  };
}

type Get<Row, T> = (row: Row) => T | null;

export function text<Row>(name: string, get: Get<Row, string>): ParquetColumn<Row> {
  return { name, element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }, get };
}

export function flag<Row>(name: string, get: Get<Row, boolean>): ParquetColumn<Row> {
  return { name, element: { type: 'BOOLEAN' }, get };
}

export function number<Row>(name: string, get: Get<Row, number>): ParquetColumn<Row> {
  return { name, element: { type: 'INT64' }, get: (row) => toBigInt(get(row)) };
}

/** Reais with two decimals, from cents: a decimal of 18 digits, and no float. */
export function money<Row>(name: string, get: Get<Row, bigint>): ParquetColumn<Row> {
  const decimal = { precision: 18, scale: 2 };
  const element: Element = {
    ...{ type: 'INT64', converted_type: 'DECIMAL', ...decimal },
    logical_type: { type: 'DECIMAL', ...decimal },
  };
  return { name, element, get };
}

export function date<Row>(name: string, get: Get<Row, Day>): ParquetColumn<Row> {
  const element: Element = { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } };
  return {
    ...{ name, element },
    get: (row) => {
      const day = get(row);
      return day === null ? null : Date.parse(`${day}T00:00:00Z`) / MS_A_DAY;
    },
  };
}

/** The provider's wall clock: a time without a zone. */
export function wall<Row>(name: string, get: Get<Row, WallTime>): ParquetColumn<Row> {
  return moment(name, false, (row: Row) => {
    const at = get(row);
    return at === null ? null : Date.parse(`${at.replace(' ', 'T')}Z`);
  });
}

/** An instant, in UTC. */
export function instant<Row>(name: string, get: Get<Row, Date>): ParquetColumn<Row> {
  return moment(name, true, (row: Row) => get(row)?.getTime() ?? null);
}

function moment<Row>(name: string, isAdjustedToUTC: boolean, getMs: Get<Row, number>): ParquetColumn<Row> {
  const element: Element = { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MILLIS' } };
  return { name, element, get: (row) => toBigInt(getMs(row)) };
}

function toBigInt(value: number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
