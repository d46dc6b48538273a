/**
 * Files that people import. An import itself is no declared change: its body is a file, up to the limit of its kind, which
 * `importFile` reads, checks, audits and makes for every door; its roles and questions are the kind's (src/imports).
 */
import { listImports } from '../../imports/import-file.ts';
import { defineList } from '../define-list.ts';
import { fileImport } from '../rows/imports.ts';

export const imports = defineList({
  name: 'imports',
  roles: ['viewer'],
  route: '/imports',
  row: fileImport,
  read: ({ db }, { limit, after }) => listImports(db, limit, after),
});
