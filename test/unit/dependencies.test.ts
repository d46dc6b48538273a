/** Checks the lockfile against the actions of a malicious package during installation. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Package = {
  version?: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  optional?: boolean;
};

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
const { packages } = read('package-lock.json') as { packages: Record<string, Package> };
const locked = Object.entries(packages).filter(([name]) => name !== '');

test('a build with unreleased changes does not claim to be a release', () => {
  const { version } = read('package.json') as { version: string };
  const changes = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const [, unreleased = ''] = /^## \[Unreleased\]\n(.*?)^## \[/ms.exec(changes) ?? [];
  expect(version.endsWith('-dev')).toBe(unreleased.trim() !== '');
  const lockfile = read('package-lock.json') as { version: string };
  expect([lockfile.version, packages['']?.version]).toEqual([version, version]);
});

test('dependencies are pinned to exact versions', () => {
  const { dependencies, devDependencies } = read('package.json') as Record<string, Record<string, string>>;
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(?:-r\.\d+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

test('no package of the lockfile runs a script when it is installed', () => {
  expect(locked.length).toBeGreaterThan(300);
  expect(locked.filter(([, one]) => one.hasInstallScript).map(([name]) => name)).toEqual([]);
});

// `npm ci` refuses a lockfile without the packages of other platforms, and the registry that made it did not carry them.
// After a change of dependencies, check that `npm ci` still accepts the lockfile.
test('each package of the lockfile has its integrity, but for optional ones of other platforms', () => {
  const without = locked.filter(([, one]) => !one.integrity?.startsWith('sha512-'));
  expect(without.filter(([, one]) => !one.optional).map(([name]) => name)).toEqual([]);
});

test('no package of the lockfile comes from elsewhere than the registry', () => {
  const elsewhere = locked.filter(([, one]) => one.resolved && !one.resolved.startsWith('https://registry.npmjs.org/'));
  expect(elsewhere.map(([name]) => name)).toEqual([]);
});

test('.node-version is the version that bin/setup installs, and CI runs in the image of the Dockerfile, by its digest', () => {
  const text = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const version = text('.node-version').trim();
  expect(text('bin/setup')).toContain(`\nNODE_VERSION=${version}\n`);
  const [, image = ''] = /^ARG BASE=(\S+@sha256:\S+)$/m.exec(text('Dockerfile')) ?? [];
  expect(image).toContain(`/node:${version}-`);
  expect(text('.github/workflows/ci.yml')).toContain(`image: ${image}\n`);
});

test('npm warns of no Node that the README allows: bin/setup installs a newer one', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, oldest] = /Node ≥ (\d+)/.exec(readme) ?? [];
  const { engines } = read('package.json') as { engines: Record<string, string> };
  expect(engines).toEqual({ node: `>=${oldest}` });
});
