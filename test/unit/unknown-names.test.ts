import { expect, it } from 'vitest';
import { environment } from '../../src/config/environment.ts';
import { findUnknownNames } from '../../src/config/unknown-names.ts';

const nearOf = (name: string) => findUnknownNames({ [name]: 'x' })[0]?.near;

it.each([
  ['JOB_WACTH', 'JOB_WATCH'],
  ['WEBHOOK_SECERT', 'WEBHOOK_SECRET'],
  ['WEBHOOK_SECRETS', 'WEBHOOK_SECRET'],
  ['PROVIDER_API_KEY_FLIE', 'PROVIDER_API_KEY_FILE'],
  ['CALBACK_RETRY_SHEDULE', 'CALLBACK_RETRY_SCHEDULE'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['provider_url', 'PROVIDER_URL'],
  ['RETAIN_BODY', 'RETAIN_BODIES'],
  ['JOB_REPORT', 'JOB_DAILY_REPORT'],
  ['JOB_DAILY_REPORTS_AT', 'JOB_DAILY_REPORT'],
  ['PROVIDER_KEY', 'PROVIDER_API_KEY'],
])('the unknown name %s is near %s', (name, near) => {
  expect(nearOf(name)).toBe(near);
});

it.each(['RETAIN_EVERYTHING_FOR_EVER', 'JOB_X', 'WEBHOOK_PORTS', 'STUCK_PAYMENTS_ALERT'])(
  'the unknown name %s is of one of our families, and near none',
  (name) => {
    expect(findUnknownNames({ [name]: 'x' })).toEqual([{ name, near: undefined }]);
  },
);

it('names of others in the environment are near none', () => {
  const others = `PATH HOME HOST HOSTNAME POST PORTS LANG LOGNAME TMPDIR USER SHELL PWD OLDPWD EDITOR TERM DISPLAY MAIL
    NODE_ENV NODE_OPTIONS NODE_COMPILE_CACHE UV_THREADPOOL_SIZE ENV_FILE INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET
    STATE_DIRECTORY RUNTIME_DIRECTORY CREDENTIALS_DIRECTORY XDG_RUNTIME_DIR XDG_DATA_DIRS http_proxy https_proxy NO_PROXY
    JOB_ID JOB_NAME JOB_URL JOB_BASE_NAME JOB_DISPLAY_URL JOB_COMPLETION_INDEX BUILD_URL WEBHOOK_PORT_3000_TCP_ADDR
    PROVIDER_SERVICE_PORT_HTTP CI_JOB_ID GITHUB_JOB KUBERNETES_PORT KUBERNETES_SERVICE_HOST
    CONFERE_PORT CONFERE_SERVICE_HOST PROVIDER_PORT PROVIDER_SERVICE_PORT WEBHOOK_PORT WEBHOOK_SERVICE_HOST
    DATABASE_HOST DATABASE_PORT MARIADB_DATABASE MYSQL_HOST SMTP_HOST SMTP_PORT SMTP_USER PUBLIC_HOST LOG_FILE
    OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_PROTOCOL
    OTEL_EXPORTER_OTLP_COMPRESSION OTEL_EXPORTER_OTLP_TRACES_TIMEOUT OTEL_EXPORTER_OTLP_LOGS_ENDPOINT
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT OTEL_BSP_EXPORT_TIMEOUT OTEL_BLRP_SCHEDULE_DELAY OTEL_BLRP_MAX_QUEUE_SIZE
    npm_package_name npm_config_registry npm_lifecycle_event`.split(/\s+/);
  const found = findUnknownNames(Object.fromEntries(others.map((name) => [name, 'x'])));
  expect(found).toEqual([]);
});

it('our own names, and those of files, are known', () => {
  const own = Object.keys(environment.shape).flatMap((name) => [name, `${name}_FILE`]);
  expect(findUnknownNames(Object.fromEntries(own.map((name) => [name, 'x'])))).toEqual([]);
});
