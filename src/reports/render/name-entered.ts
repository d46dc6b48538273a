import { labelActors } from '../../access/label-actors.ts';
import type { AnyPlan } from '../plan/report-plan.ts';
import type { Movement } from '../read/read-movements.ts';
import type { ReportWork } from './report-work.ts';

type Naming = Pick<ReportWork<AnyPlan>, 'db' | 'plan' | 'rendering'>;

/** @returns what this reader calls an actor: by name, or a viewer by role. */
export async function labelPersons({ db, plan, rendering }: Naming, actors: string[]): Promise<(id: string) => string> {
  return await labelActors(db, actors, { full: !plan.masked, roles: rendering.texts.roles });
}

/** Names, in rows as they were read, who entered each adjustment. */
export async function nameEntered<Row extends Pick<Movement, 'adjustment'>>(work: Naming, rows: Row[]): Promise<Row[]> {
  const actors = rows.flatMap(({ adjustment }) => adjustment?.by ?? []);
  if (actors.length === 0) return rows;
  const label = await labelPersons(work, actors);
  return rows.map((row) =>
    row.adjustment ? { ...row, adjustment: { ...row.adjustment, by: label(row.adjustment.by) } } : row,
  );
}
