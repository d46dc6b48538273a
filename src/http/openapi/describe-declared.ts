import { z } from 'zod';
import type { Subject } from '../../operations/catalogue.ts';
import type { AnyChange } from '../../operations/define-change.ts';
import { describeTag, lowerFirst, type Operation } from '../../operations/describe-operation.ts';

/** Describes the changes and lists of a subject: the changes of a route as one operation. */
export function describeDeclared({ tag, changes = [], lists = [], searches = [], items = [] }: Subject): Operation[] {
  const described = describeTag(tag);
  return [
    ...lists.flatMap(({ route, row, filters, roles, isForSources = false }) =>
      route ? { ...described.list(route, row, filters, roles), isForSources } : [],
    ),
    ...searches.map(({ route, row, filters, roles }) => described.list(route, row, filters, roles)),
    ...items.map(({ route, summary, item, query, isForSources = false }) => ({
      ...described.get(route, summary, item, query),
      isForSources,
    })),
    ...[...new Set(changes.flatMap(({ route }) => route ?? []))].map((route) => {
      const own = changes.filter((one) => one.route === route);
      const [method = '', path = ''] = route.split(' ');
      const inputs = own.flatMap(({ input }) => input ?? []);
      return {
        ...{ method: method.toLowerCase() as Operation['method'], path: `/api/v1${path}`, tag },
        summary: own.map(({ summary }, index) => (index === 0 ? summary : lowerFirst(summary))).join(', or '),
        access: accessOf(own),
        isForSources: own.every((one) => one.isForSources),
        body: inputs.length > 1 ? z.union(inputs) : inputs[0],
        refuses: [...new Set(own.flatMap(({ refuses = [] }) => refuses))],
        responses: Object.fromEntries(own.flatMap(({ answers }) => Object.entries(answers))) as Operation['responses'],
      };
    }),
  ];
}

function accessOf(changes: readonly AnyChange[]): Operation['access'] {
  const roles = changes.flatMap((one) => (one.roles === 'merchant' ? [] : one.roles));
  return roles.length === 0 ? 'portal' : [...new Set(roles)];
}
