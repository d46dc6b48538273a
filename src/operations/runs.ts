/** Runs, which read the provider's list. */
import { z } from 'zod';
import { listPages } from '../reconciliation/numbers/read-pages.ts';
import { findRun, listRuns } from '../reconciliation/numbers/read-runs.ts';
import { startRun } from '../reconciliation/runs/start-run.ts';
import { refuse } from '../texts/refuse.ts';
import { COMMAND, defineChange } from './define-change.ts';
import { defineItem } from './define-item.ts';
import { defineList } from './define-list.ts';
import { accepted } from './describe-operation.ts';
import { dayText, platform } from './fields.ts';
import { presentPlatform } from './mask-texts.ts';
import { presentWritten } from './present-row.ts';
import { run, runPage } from './rows/reconciliation.ts';

export const startOneRun = defineChange({
  name: 'reconciliations.start',
  roles: ['operator'],
  route: 'POST /reconciliations',
  summary: 'Start a run for a range of days',
  input: z.object({ from: dayText, to: dayText, platform: platform.optional() }),
  answers: accepted('Queued', run),
  change: (inner, range, { caller, via = caller === COMMAND ? 'command' : 'api' }) =>
    startRun(inner, { ...range, trigger: via, createdBy: caller.id }),
  target: ({ id }) => id,
  answer: async ({ db }, { id }) => presentWritten(await findRun(db, id)),
  location: ({ id }) => `/api/v1/reconciliations/${id}`,
});

export const runs = defineList({
  name: 'reconciliations',
  roles: ['viewer'],
  route: '/reconciliations',
  row: run,
  read: ({ db }, { limit, after }) => listRuns(db, limit, after),
  withheld: ['platform'],
});

export const oneRun = defineItem({
  route: '/reconciliations/{id}',
  summary: 'One run',
  item: run,
  read: async ({ db }, { id, caller }) => presentPlatform(caller, (await findRun(db, id)) ?? unknown()),
});

export const runPages = defineList({
  name: 'pages',
  roles: ['viewer'],
  route: '/reconciliations/{id}/pages',
  row: runPage,
  read: async ({ db }, { limit, after }, _filter, { id }) =>
    listPages(db, ((await findRun(db, id)) ?? unknown()).seq, limit, after),
});

function unknown(): never {
  throw refuse('run_unknown');
}
