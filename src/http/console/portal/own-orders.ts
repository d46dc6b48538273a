import type { Request, Response } from 'express';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { type ExpectedFilters, sumExpected } from '../../../expected/read/filter-expected.ts';
import {
  expectedPayments,
  limitToCaller,
  ownOrders,
  showOwnOrder,
} from '../../../operations/expected/read-expected.ts';
import type { ExportFormat } from '../../../reports/serve/export-found.ts';
import { callerOf, getScope } from '../../access/require-scope.ts';
import { sendExpected } from '../../api/expected.ts';
import { readListPage } from '../../mount-operations.ts';

export type OwnOrders = ReturnType<typeof openOwnOrders>;

/** Opens the operators' list for the pages of orders, within the scope of the request. */
export function openOwnOrders(context: Context) {
  const callerIn = (response: Response) => callerOf(getScope(response));
  return {
    list: (request: Request, response: Response, filter: ExpectedFilters) =>
      readListPage(context, expectedPayments, request, response, ownOrders(callerIn(response), filter)),
    /** Adds up what the list shows: of the sources of the token, without what another merchant sent. */
    sum: async (response: Response, filter: ExpectedFilters, newestMax: number) => {
      const { caller, filter: own } = ownOrders(callerIn(response), filter);
      const reading = limitReads(context);
      return await sumExpected(reading, await limitToCaller(reading, caller, own), newestMax);
    },
    show: (response: Response, id: string) => showOwnOrder(context, id, callerIn(response)),
    sendFile: (response: Response, filter: ExpectedFilters, format: ExportFormat) =>
      sendExpected(context, response, ownOrders(callerIn(response), filter), format),
  };
}
