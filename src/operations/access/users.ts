/** People who log in by the company's account. The API has none of this. */
import { forgetUser, listUsers, logOutUser } from '../../access/users.ts';
import { defineChange } from '../define-change.ts';
import { defineList } from '../define-list.ts';
import { ended } from '../describe-operation.ts';
import { user } from '../rows/access.ts';

export const logOutOneUser = defineChange({
  name: 'users.log_out',
  roles: ['admin'],
  summary: 'End all sessions of a user at once; they may log in again',
  answers: ended('Logged out'),
  refuses: ['user_unknown'],
  change: (inner, _given, { id }) => logOutUser(inner, id),
});

export const forgetOneUser = defineChange({
  name: 'users.forget',
  roles: ['admin'],
  summary: "Remove a user's name and subject, and end their sessions; the audit keeps the id",
  answers: ended('Forgotten'),
  refuses: ['user_unknown'],
  change: (inner, _given, { id }) => forgetUser(inner, id),
});

export const users = defineList({
  name: 'users',
  roles: ['admin'],
  row: user,
  read: (reading, { limit, after }) => listUsers(reading, limit, after),
});
