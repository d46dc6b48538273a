/** The alerts that fire, and those that have ended. They hold no personal data. */
import { z } from 'zod';
import {
  ALERT_STATES,
  type AlertQuery,
  type ListedAlert,
  listAlerts,
  presentAlert,
} from '../alerts/read/read-alerts.ts';
import { ALERT_KINDS } from '../texts/alerts/alert-kinds.ts';
import { defineList } from './define-list.ts';
import { alert } from './rows/alerts.ts';

export const alerts = defineList<ListedAlert, Omit<AlertQuery, 'limit' | 'after'>>({
  name: 'alerts',
  roles: ['viewer'],
  route: '/alerts',
  row: alert,
  filters: z.object({
    state: z.enum(ALERT_STATES, 'must be firing or ended').optional(),
    kind: z.enum(ALERT_KINDS, 'is no kind of alert').optional(),
    severity: z.enum(['medium', 'high', 'critical'], 'must be medium, high or critical').optional(),
  }),
  read: ({ db }, page, filter) => listAlerts(db, { ...filter, ...page }),
  present: presentAlert,
});
