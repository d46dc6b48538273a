/** The parts of exceljs that its own types leave out. */
declare module 'exceljs/lib/stream/xlsx/worksheet-reader.js' {
  import type { Row } from 'exceljs';

  class WorksheetReader implements AsyncIterable<Row> {
    constructor(given: {
      workbook: { sharedStrings: string[]; styles: { getStyleModel(id: number): undefined }; properties: object };
      id: number;
      iterator: AsyncIterable<string>;
      options: Record<string, string>;
    });
    [Symbol.asyncIterator](): AsyncIterator<Row>;
  }
  export = WorksheetReader;
}

declare module 'exceljs/lib/utils/parse-sax.js' {
  type SaxEvent = { eventType: 'opentag' | 'closetag'; value: { name: string } } | { eventType: 'text'; value: string };
  const parseSax: (chunks: AsyncIterable<string>) => AsyncIterable<SaxEvent[]>;
  export = parseSax;
}
