import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readOptions } from '../../../sandbox/read-options.ts';
import { environment } from '../../../src/config/environment.ts';
import { findUnknownNames } from '../../../src/config/unknown-names.ts';
import { readConfig } from '../../../src/config.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const envFile = (file: string): Env => parseEnv(read(file)) as Env;

type Env = Record<string, string>;
/** What runs our command: its arguments, and the variables that it gets. */
type Part = { args: string[]; env: Env; seconds?: number };
type Service = {
  image: string;
  command?: string[];
  environment?: Env;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { disable?: boolean };
  stop_grace_period?: string;
  read_only?: boolean;
  cap_drop?: string[];
  hostname?: string;
};
type Labels = Record<string, string>;
type Container = {
  image: string;
  args: string[];
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string }[];
  securityContext: unknown;
  lifecycle?: { preStop: { exec: { command: string[] } } };
} & Partial<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', { httpGet: { path: string; port: string } }>>;
type Pod = {
  containers: Container[];
  volumes: { name: string }[];
  terminationGracePeriodSeconds?: number;
  securityContext: { runAsUser: number; runAsNonRoot: boolean };
};
type Manifest = {
  kind: string;
  metadata: { name: string };
  spec: {
    template?: { metadata: { labels: Labels }; spec: Pod };
    jobTemplate?: { spec: Pick<Manifest['spec'], 'template'> };
    selector?: Labels & { matchLabels?: Labels };
    podSelector?: { matchLabels: Labels };
    serviceName?: string;
    ports?: { port: number; targetPort: string }[];
    ingress?: { ports: { port: number }[] }[];
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
};

type Claim = { metadata: { name: string }; spec: { accessModes: string[] } };
type Kustomized = { resources: string[]; components?: string[] };

/** What a person sets before the first start. */
const FILLED: Env = {
  SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  PROVIDER_URL: 'https://provider.example',
  PROVIDER_API_KEY: 'key',
  WEBHOOK_SECRET: 'a-secret-of-the-provider',
  ADMIN_TOKEN: 'a-token-of-an-administrator',
  DATABASE_PASSWORD: 'password',
};
/** Variables of Node, and of compose alone. */
const OTHERS = new Set(['NODE_ENV', 'NODE_COMPILE_CACHE', 'PATH', 'DATABASE_PASSWORD', 'SETTINGS_FILE']);
const isKnown = (name: string): boolean =>
  OTHERS.has(name) || Object.hasOwn(environment.shape, name.replace(/_FILE$/, ''));

const fill = (env: Env): Env => {
  const given = Object.entries(env).filter(([, value]) => value !== '');
  return { ...FILLED, ...Object.fromEntries(given) };
};

const dockerfile = read('Dockerfile');
const imageEnv = Object.fromEntries(
  [...dockerfile.replaceAll('\\\n', ' ').matchAll(/^ENV (.+)$/gm)].flatMap(([, text = '']) =>
    text.split(/\s+/).map((pair) => pair.split('=') as [string, string]),
  ),
);
const compose = parse(read('compose.yaml'), { merge: true }) as { services: Record<string, Service> };
/** `${NAME}`, `${NAME:-otherwise}` and `${NAME:?message}` of compose. */
const interpolate = (text: string): string =>
  text.replace(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, name: string, otherwise = '') => FILLED[name] ?? otherwise);

function listComposeParts(): Record<string, Part> {
  const ours = Object.entries(compose.services).filter(([, { image }]) => /^confere(-tools)?$/.test(image));
  return Object.fromEntries(
    ours.map(([name, { command = [], environment: set = {}, stop_grace_period: grace }]) => {
      const own = Object.fromEntries(Object.entries(set).map(([key, value]) => [key, interpolate(value)]));
      const env = { ...imageEnv, ...fill(envFile('.env.example')), ...own };
      return [`compose ${name}`, { args: command.map(interpolate), env, seconds: Number.parseInt(grace ?? '10', 10) }];
    }),
  );
}

const unitNames = readdirSync(path.join(root, 'deploy/systemd')).filter((name) => name.endsWith('.service'));
const commonUnit = read('deploy/systemd/confere-.service.d/common.conf');
const settingsOf = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

function listUnitParts(): Record<string, Part> {
  return Object.fromEntries(
    unitNames.map((name) => {
      const text = read(`deploy/systemd/${name}`) + commonUnit;
      const [command = '', ...args] = settingsOf(text, 'ExecStart').join(' ').split(' ');
      expect(command).toBe('/opt/confere/bin/confere');
      const pairs = settingsOf(text, 'Environment').flatMap((line) => line.split(' '));
      const env = {
        ...Object.fromEntries(pairs.map((pair) => pair.split('='))),
        ...fill(envFile('deploy/systemd/confere.env.example')),
      };
      return [name, { args, env, seconds: Number(settingsOf(text, 'TimeoutStopSec')[0]) }];
    }),
  );
}

/** What the component `shared` adds to a pod: the values of its patch, by the last part of their path. */
const sharedBy = (file: string) => {
  const added = parse(read(`deploy/kubernetes/shared/${file}.yaml`)) as { path: string; value: never }[];
  const at = (part: string) => added.find((one) => one.path.endsWith(part))?.value;
  return {
    path: added.map((one) => one.path.split('/containers')[0]?.split('/volumes')[0]),
    volume: at('/volumes/-') as unknown as { name: string; persistentVolumeClaim: { claimName: string } },
    mount: at('/volumeMounts/-') as unknown as { name: string; mountPath: string },
    env: at('/env') as unknown as { name: string; value: string }[],
  };
};

const manifestFiles = ['settings/network', 'migrate/job', 'backup/cronjob', 'service/web', 'service/worker'];
const manifests = manifestFiles.flatMap((file) =>
  parseAllDocuments(read(`deploy/kubernetes/${file}.yaml`)).map((document) => document.toJS() as Manifest),
);
const workloads = manifests.flatMap(({ metadata, spec }) => {
  const { template } = spec.jobTemplate?.spec ?? spec;
  return template ? [{ name: metadata.name, labels: template.metadata.labels, pod: template.spec, spec }] : [];
});
const containers = workloads.flatMap(({ name, pod }) => pod.containers.map((container) => ({ name, pod, container })));

function listPodParts(): Record<string, Part> {
  const settings = {
    ...envFile('deploy/kubernetes/settings/config.env'),
    ...fill(envFile('deploy/kubernetes/secret.env.example')),
  };
  return Object.fromEntries(
    containers.map(({ name, pod, container }) => {
      const pause = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
      const seconds = (pod.terminationGracePeriodSeconds ?? 30) - pause;
      return [name, { args: container.args, env: { ...imageEnv, ...settings }, seconds }];
    }),
  );
}

const parts: Record<string, Part> = { ...listComposeParts(), ...listUnitParts(), ...listPodParts() };
const serving = Object.entries(parts).filter(([, { args }]) => args[0] === 'serve');

const commands = read('src/commands/run-command-line.ts');

test('units and manifests back up, encrypted, each night', () => {
  const args = ['confere-backup.service', 'confere-backup'].map((name) => parts[name]?.args.join(' '));
  expect(args).toEqual([
    expect.stringMatching(/^backup --into=\/var\/backups\/confere --recipient=\$\{BACKUP_RECIPIENT\}$/),
    'backup --into=/backups --recipient=$(BACKUP_RECIPIENT)',
  ]);
  expect(read('deploy/systemd/confere-backup.service')).toContain('ReadWritePaths=/var/backups/confere\n');
  expect(read('deploy/systemd/confere-backup.timer')).toMatch(/^OnCalendar=/m);
  const [backup] = workloads.filter(({ name }) => name === 'confere-backup');
  expect(backup?.pod.containers[0]?.image).toBe('confere-tools');
});

test('each way runs the web side, the worker and the migrations', () => {
  const started = Object.values(parts).map(({ args }) => args.join(' '));
  const ways = 3;
  for (const command of ['serve --web', 'serve --worker', 'migrate'])
    expect(
      started.filter((one) => one === command),
      command,
    ).toHaveLength(ways);
});

test.each(Object.entries(parts))(
  '%s runs a command with options that it has',
  (_, { args: [name = '', ...options] }) => {
    if (name === 'sandbox') {
      expect(readOptions(options, {}).port).toBe(4000);
      return;
    }
    // read, not imported: the modules of serve take a second to load
    const [, file = ''] =
      new RegExp(`^  '?${name}'?: async \\(\\) => \\(await import\\('\\./(\\S+)'`, 'm').exec(commands) ?? [];
    expect(file, name).not.toBe('');
    const known = [...read(`src/commands/${file}`).matchAll(/\.option\('(--[\w-]+)/g)].map(([, option]) => option);
    expect(known).toEqual(expect.arrayContaining(options.map((option) => option.replace(/=.*/, ''))));
  },
);

describe('the settings of each way', () => {
  it.each(serving)('are accepted by %s once a person has filled them', (_, { args, env }) => {
    const config = readConfig(env, { provider: true, web: args.includes('--web') });
    expect(config.DATABASE_URL).toMatch(/^mysql:/);
    // with a database of its own there is no spool by default
    expect(config.SPOOL_DIR).toMatch(/^\/var\/lib\/confere\//);
    expect(config.DATA_DIR).toMatch(/^\/var\/lib\/confere/);
  });

  it('name variables that exist', () => {
    const interpolated = [...read('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
    const named = [...Object.values(parts).flatMap(({ env }) => Object.keys(env)), ...interpolated];
    expect(new Set(named).size).toBeGreaterThan(15);
    expect(named.filter((name) => !isKnown(name))).toEqual([]);
    // those that are not ours cause no warning either
    expect(findUnknownNames(Object.fromEntries(named.map((name) => [name, ''])))).toEqual([]);
  });

  it('leave the time that a process needs to end', () => {
    const [, promised] = /exits 0 within (\d+) seconds/.exec(read('docs/install.md')) ?? [];
    for (const [name, { seconds = 0 }] of serving) expect(seconds, name).toBeGreaterThan(Number(promised));
  });
});

describe('ports and probes', () => {
  const paths = [...read('src/http/check-health.ts').matchAll(/router\.get\('(\S+)'/g)].map(([, route]) => route);

  it('of the image are those of the service', () => {
    expect(settingsOf(dockerfile.replaceAll('EXPOSE ', 'EXPOSE='), 'EXPOSE')).toEqual([imageEnv.PORT]);
    const [, probed] = /GET (\S+) HTTP/.exec(dockerfile) ?? [];
    expect(paths).toContain(probed);
  });

  it('of compose lead to the port of the container', () => {
    expect(compose.services.web?.ports).toEqual([`127.0.0.1:${imageEnv.PORT}:${imageEnv.PORT}`]);
    expect(parts['compose sandbox']?.args.join(' ')).toContain(`http://web:${imageEnv.PORT}/webhooks/pix`);
  });

  it('of units on one machine differ', () => {
    const ports = serving.filter(([name]) => name.endsWith('.service')).map(([, { env }]) => env.PORT);
    expect(new Set(ports).size).toBe(2);
  });

  it.each(serving.filter(([name]) => name.startsWith('confere-') && !name.endsWith('.service')))(
    'of the pods of %s name a route and the port of the process',
    (name) => {
      const container = containers.find((one) => one.name === name)?.container;
      expect(container?.ports).toEqual([{ name: 'http', containerPort: Number(imageEnv.PORT) }]);
      const gets = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe].map(
        (probe) => probe?.httpGet,
      );
      expect(gets.map((get) => get?.path)).toEqual(['/healthz', '/healthz', '/readyz']);
      for (const get of gets) expect(paths).toContain(get?.path);
      for (const get of gets) expect(get?.port).toBe('http');
    },
  );
});

describe('the manifests', () => {
  const fits = (wanted: Labels, labels: Labels): boolean =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value);
  const selectors = manifests.flatMap(({ kind, metadata, spec }) => {
    const wanted = spec.podSelector?.matchLabels ?? spec.selector?.matchLabels ?? spec.selector;
    return wanted ? [[`${kind} ${metadata.name}`, wanted as Labels] as const] : [];
  });

  it.each(selectors)('%s selects pods', (name, wanted) => {
    const selected = workloads.filter(({ labels }) => fits(wanted, labels)).map((one) => one.name);
    const all = name === 'NetworkPolicy confere';
    expect(selected).toHaveLength(all ? workloads.length : 1);
    if (!all) expect(name).toContain(selected[0]);
  });

  it('give the manifests one volume of all processes, which no part but storage deletes', () => {
    const [pod, job] = [sharedBy('pod'), sharedBy('cronjob')];
    expect({ ...job, path: [] }).toEqual({ ...pod, path: [] });
    expect(new Set(pod.path)).toEqual(new Set(['/spec/template/spec']));
    expect(new Set(job.path)).toEqual(new Set(['/spec/jobTemplate/spec/template/spec']));
    const env = Object.fromEntries(pod.env.map(({ name, value }) => [name, value]));
    const { DATA_DIR } = readConfig({ ...parts['confere-worker']?.env, ...env });
    expect(pod.mount.mountPath).toBe(`${DATA_DIR}/shared`);
    expect(pod.mount.name).toBe(pod.volume.name);
    const claims = parseAllDocuments(read('deploy/kubernetes/storage/volumes.yaml')).map((one) => one.toJS() as Claim);
    const modes = Object.fromEntries(claims.map(({ metadata, spec }) => [metadata.name, spec.accessModes]));
    expect(modes).toEqual({ 'confere-shared': ['ReadWriteMany'], 'confere-backups': ['ReadWriteOnce'] });
    expect(pod.volume.persistentVolumeClaim.claimName).toBe('confere-shared');
    for (const part of ['service', 'backup', 'migrate', 'settings']) {
      const { resources, components = [] } = parse(read(`deploy/kubernetes/${part}/kustomization.yaml`)) as Kustomized;
      expect(components.includes('../shared'), part).toBe(part === 'service' || part === 'backup');
      expect(resources, part).not.toContain('../storage');
    }
    expect(manifests.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
  });

  it('allow the port of the pods', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
    const ports = policies.flatMap(({ spec }) => spec.ingress?.flatMap((rule) => rule.ports.map(({ port }) => port)));
    expect(new Set(ports)).toEqual(new Set([Number(imageEnv.PORT)]));
  });

  it.each(containers)(
    'run $name without root, on a read-only root, with volumes that exist',
    ({ name, pod, container }) => {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const { volumeClaimTemplates = [], serviceName } = workloads.find((one) => one.name === name)?.spec ?? {};
      const volumes = [...pod.volumes.map((one) => one.name), ...volumeClaimTemplates.map((one) => one.metadata.name)];
      expect(container.volumeMounts.map((mount) => mount.name).sort()).toEqual(volumes.sort());
      if (serviceName)
        expect(manifests.some(({ kind, metadata }) => kind === 'Service' && metadata.name === serviceName)).toBe(true);
    },
  );
});

describe('the image', () => {
  it('has the Node of .node-version, and runs as a user that owns the cache of stripped types', () => {
    expect(dockerfile).toContain(`/node:${read('.node-version').trim()}-bookworm-slim@sha256:`);
    expect(new Set(settingsOf(dockerfile.replaceAll('USER ', 'USER='), 'USER'))).toEqual(
      new Set(['1000:1000', 'root']),
    );
    expect(dockerfile.lastIndexOf('USER 1000:1000')).toBeGreaterThan(dockerfile.lastIndexOf('USER root'));
  });

  it('holds each folder that the code imports or reads', () => {
    const copied = [...dockerfile.matchAll(/^COPY (\w+) \1$/gm)].map(([, name = '']) => name);
    const allowed = read('.dockerignore').split('\n');
    const isAllowed = (name: string) => allowed.some((line) => line.startsWith(`!${name}`));
    expect(copied.filter((name) => !isAllowed(name))).toEqual([]);
    const files = copied
      .flatMap((name) =>
        readdirSync(path.join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => path.join(name, file)),
      )
      .filter((file) => file.endsWith('.ts'));
    const named = files.flatMap((file) =>
      [...read(file).matchAll(/(?:from |import\(|new URL\()['`](\.[^'`$]+)/g)].map(([, to = '']) =>
        path.join(path.dirname(file), to),
      ),
    );
    const folders = new Set(named.map((file) => file.split('/')[0] ?? '').filter((name) => !name.includes('.')));
    expect(folders).toEqual(new Set(copied.filter((name) => name !== 'bin')));
  });
});

test('images and actions are pinned by digest', () => {
  const foreign = Object.values(compose.services)
    .map(({ image }) => image)
    .filter((image) => !/^confere(-tools)?$/.test(image));
  expect(foreign.length).toBeGreaterThan(2);
  expect(foreign.filter((image) => !/:[\w.]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
  const workflow = parse(read('.github/workflows/packages.yml')) as {
    jobs: Record<string, { steps: { uses?: string }[]; strategy: { matrix: { part: string[] } } }>;
  };
  const jobs = Object.values(workflow.jobs);
  const actions = jobs.flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  const checks = [...read('deploy/check').matchAll(/^ {2}(\w+)\) check_/gm)].map(([, name]) => name);
  for (const { strategy } of jobs) expect(checks).toEqual(expect.arrayContaining(strategy.matrix.part));
});

test('containers of compose have no root, capability or writable root', () => {
  const ours = Object.values(compose.services).filter(({ image }) => /^confere(-tools)?$/.test(image));
  for (const service of ours) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'] });
  // the spool outlives the container, under a name that stays
  expect(compose.services.web).toMatchObject({ hostname: 'web', volumes: ['data:/var/lib/confere'] });
});
