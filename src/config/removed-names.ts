/** Settings of 0.1.0 that went, each with what its user does now. A value that would silently mean nothing is refused. */
const REMOVED = new Map<string, string>([
  ['POOL_CONNECTIONS', 'add it to DATABASE_URL: …/confere?connections=20'],
  ['SHOW_OPEN_SCHEDULE', 'the ages are fixed; JOB_RECONCILE_OPEN=off stops these requests'],
  ['RECENT_READ_ROWS', 'days of 20,000 rows and more are read by their newest rows between whole readings'],
  ['CALLBACK_ALERT_AFTER', 'a merchant is reported after 30 minutes without a success'],
  ['DISK_FREE_MIN', 'a disk is reported with less than 2 GiB free; alert on confere_disk_free_bytes for another limit'],
  [
    'MANIFESTS_DIR',
    'mount the directory that the machines share, or place a link to it, at DATA_DIR/shared; the checkpoints are in its manifests/',
  ],
  ['ARCHIVE_DIR', 'place the folder, or a link to it, at DATA_DIR/archive'],
  ['ALERT_LOCALE', 'alerts are in the language of REPORT_LOCALE'],
  ['PAGERDUTY_URL', 'write it into the key: PAGERDUTY_ROUTING_KEY=https://KEY@events.eu.pagerduty.com/v2/enqueue'],
  ['PORTAL_NAME', 'the portal bears the name in ALERT_EMAIL_FROM: Name <alerts@example.com>'],
  ['PORTAL_LOGO', 'place the picture at DATA_DIR/portal-logo.png, .jpg or .webp'],
  ['HEARTBEAT_URL', 'it is called JOB_WATCH_URL, as the job after which it is called'],
]);

/** @returns a fault for each setting in the environment that went. */
export function findRemovedNames(env: NodeJS.ProcessEnv): string[] {
  return [...REMOVED].flatMap(([name, instead]) =>
    env[name] || env[`${name}_FILE`] ? [`${name}: is no setting any more; ${instead}`] : [],
  );
}
