import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { EVENT_LOOP_SAMPLE_MS } from '../../../src/metrics/metrics.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The files whose expressions name metrics. */
const FILES = ['ops/alerts.yml', 'ops/alerts.test.yml', 'ops/grafana/confere.json'];
type Panel = {
  type: string;
  title: string;
  description?: string;
  options?: unknown;
  fieldConfig?: { defaults: { unit?: string; custom?: unknown } };
  targets?: { expr: string }[];
};

describe('the rules of Prometheus', () => {
  const rules = read('ops/alerts.yml')
    .split(/^ +- alert: /m)
    .slice(1)
    .map((text) => ({ name: text.split('\n')[0] ?? '', text }));

  it('each have a severity, a summary, a description and a section of the runbooks', () => {
    const headings = new Set([...read('docs/runbooks.md').matchAll(/^## (.+)$/gm)].map(([, title = '']) => title));
    const anchors = new Set([...headings].map((title) => title.toLowerCase().replaceAll(' ', '-')));
    expect(rules.length).toBeGreaterThan(25);
    for (const { name, text } of rules) {
      expect(text, name).toMatch(/^ +labels: \{ severity: (page|ticket)\b/m);
      expect(text, name).toMatch(/^ +summary: \S/m);
      expect(text, name).toMatch(/^ +description: \S/m);
      const [, anchor = ''] =
        text.match(/^ +runbook_url: "\{\{ \$externalLabels\.runbooks \}\}docs\/runbooks\.md#(\S+)"$/m) ?? [];
      expect(anchors, name).toContain(anchor);
    }
  });

  it('each fire and resolve in their tests', () => {
    const cases = read('ops/alerts.test.yml')
      .split(/^ +alertname: /m)
      .slice(1);
    for (const { name } of rules) {
      const own = cases.filter((text) => text.startsWith(`${name}\n`));
      expect(own.filter((text) => text.includes('exp_labels')).length, name).toBeGreaterThan(0);
      expect(own.filter((text) => text.includes('exp_alerts: []')).length, name).toBeGreaterThan(0);
    }
    const output = execFileSync('promtool', ['test', 'rules', 'ops/alerts.test.yml'], { cwd: root, encoding: 'utf8' });
    expect(output).toContain('SUCCESS');
  });
});

test('the samples of configurations load, and so do the rules', () => {
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: root, encoding: 'utf8' });
  expect(run('promtool', 'check', 'rules', '--lint-fatal', 'ops/alerts.yml')).toContain('SUCCESS');
  expect(run('promtool', 'check', 'config', 'ops/prometheus.yml')).toContain('SUCCESS');
  expect(run('amtool', 'check-config', 'ops/alertmanager.yml')).toContain('SUCCESS');
});

test.each(FILES)('%s names only documented metrics', (file) => {
  const documented = new Set([...read('docs/metrics.md').matchAll(/^\| `(confere_\w+)` \|/gm)].map(([, name]) => name));
  const named = [...read(file).matchAll(/(?<!job:)\bconfere_\w+\b(?=[{}[\s)\\,])/g)].map(([name]) =>
    name.replace(/_(bucket|count)$/, ''),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !documented.has(name))).toEqual([]);
});

describe("Grafana's dashboard", () => {
  const dashboard = JSON.parse(read('ops/grafana/confere.json')) as { panels: Panel[] };
  const schemaOf = (name: string, definition?: string) => {
    const schema = JSON.parse(read(`test/fixtures/grafana/${name}.jsonschema.json`)) as Exclude<
      Parameters<typeof z.fromJSONSchema>[0],
      boolean
    >;
    return z.fromJSONSchema(definition ? { ...schema, $ref: `#/definitions/${definition}` } : schema);
  };
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  it('follows the schemas that Grafana publishes', () => {
    expect(schemaOf('dashboard').parse(dashboard)).toBeDefined();
    const target = schemaOf('prometheus');
    for (const panel of panels) {
      expect(['stat', 'timeseries']).toContain(panel.type);
      expect(schemaOf(panel.type, 'Options').safeParse(panel.options).error, panel.title).toBeUndefined();
      for (const one of panel.targets ?? []) expect(target.safeParse(one).error, one.expr).toBeUndefined();
      if (panel.type === 'stat') continue;
      const custom = panel.fieldConfig?.defaults.custom;
      expect(schemaOf('timeseries', 'FieldConfig').safeParse(custom).error, panel.title).toBeUndefined();
    }
  });

  it('has a unit in each panel', () => {
    expect(panels.length).toBeGreaterThan(40);
    expect(panels.filter(({ fieldConfig }) => !fieldConfig?.defaults.unit).map(({ title }) => title)).toEqual([]);
  });

  it('calls no event-loop lag too much that a process with nothing to do shows', () => {
    const panel = panels.find(({ title }) => title === 'Event-loop lag, p99');
    const [, seconds] = panel?.description?.match(/Above (\S+) s: the process does too much/) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual((2 * EVENT_LOOP_SAMPLE_MS) / 1000);
  });
});
