/** Whether the database hosts belong together: one takes writes, and the members of a group have the settings that are advised. */
import mysql from 'mysql2/promise';
import { examineHosts, type HostReport, listRivals } from '../../embedded/examine-hosts.ts';
import { listHosts, poolOptions } from '../../embedded/open-database.ts';
import { parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import type { Context } from '../context.ts';
import type { Message } from '../domain/errors.ts';
import { failure, message } from '../texts/messages.ts';

/** Settings of each member of a group. `super_read_only` of its files can't be asked: the group changes the value, and its source. */
const ADVISED = {
  group_replication_single_primary_mode: 'ON',
  group_replication_member_expel_timeout: '0',
  group_replication_unreachable_majority_timeout: '5',
  group_replication_consistency: 'BEFORE_ON_PRIMARY_FAILOVER',
  group_replication_start_on_boot: 'ON',
  sync_binlog: '1',
};
/** Limits that every host needs alike: any of them may take over. */
const SAME = ['max_allowed_packet', 'max_connections', 'innodb_flush_log_at_trx_commit'];
const MEMBERS_MIN = 3;
const DENIED_ERRNO = 1142;

type Member = { name: string; state: string; role: string };
/** @property members undefined: denied. */
type Settings = { values: Map<string, string>; members: Member[] | undefined };
type Examined = HostReport & { settings?: Settings };

/** @throws ConfereError that names all that is wrong. */
export async function checkHosts({ config: { DATABASE_URL } }: Pick<Context, 'config'>): Promise<Message[]> {
  const target = DATABASE_URL === undefined ? undefined : parseDatabaseUrl(DATABASE_URL);
  if (!target || listHosts(target).length === 1) return [message('doctor.one_host')];
  const hosts: Examined[] = await Promise.all(
    (await examineHosts(target)).map(async (host) =>
      host.state ? { ...host, settings: await readSettings(host.target) } : host,
    ),
  );
  const faults = findFaults(hosts);
  if (faults.length > 0) throw failure('unavailable', faults);
  const members = hosts.find(({ state }) => state && !state.refusal)?.settings?.members ?? [];
  return [
    ...hosts.map(({ name, state }) => message(state?.refusal ? 'doctor.host_reads' : 'doctor.host_writes', { name })),
    ...members.map(({ name, state, role }) => message('doctor.member', { name, state, role })),
  ];
}

export function findFaults(hosts: Examined[]): Message[] {
  const rivals = listRivals(hosts);
  const known = hosts.filter((host) => host.settings !== undefined);
  const values = (variable: string) => [...new Set(known.map(({ settings }) => settings?.values.get(variable) ?? ''))];
  return [
    ...hosts.flatMap(({ name, error }) =>
      error ? [message('doctor.host_away', { name, code: String(error.code) })] : [],
    ),
    ...(rivals.length > 0 ? [message('doctor.two_writers', { hosts: rivals.join(', ') })] : []),
    ...(hosts.every(({ state }) => !state || state.refusal) ? [message('doctor.no_writer')] : []),
    ...known.flatMap(({ name, settings }) => (settings ? findWrongSettings(name, settings) : [])),
    ...SAME.filter((variable) => values(variable).length > 1).map((variable) =>
      message('doctor.setting_differs', { variable, values: values(variable).join(', ') }),
    ),
  ];
}

function findWrongSettings(name: string, { values, members }: Settings): Message[] {
  if (!values.get('group_replication_group_name')) return [];
  const wrong = Object.entries(ADVISED)
    .filter(([variable, value]) => values.get(variable) !== value)
    .map(([variable, value]) => message('doctor.group_setting', { name, variable, value }));
  if (!members) return [...wrong, message('doctor.members_denied', { name })];
  const lost = members.filter(({ state }) => state !== 'ONLINE');
  return [
    ...wrong,
    ...lost.map((member) => message('doctor.member_lost', { name, member: member.name, state: member.state })),
    ...(members.length < MEMBERS_MIN ? [message('doctor.few_members', { name, n: members.length })] : []),
  ];
}

async function readSettings(target: HostReport['target']): Promise<Settings> {
  const connection = await mysql.createConnection(poolOptions(target));
  const read = async (text: string): Promise<Record<string, string>[]> => (await connection.query(text))[0] as never;
  try {
    const names = ['group_replication_group_name', ...Object.keys(ADVISED), ...SAME];
    const rows = await read(`SHOW GLOBAL VARIABLES WHERE Variable_name IN ('${names.join("','")}')`);
    const members = await read(
      "SELECT CONCAT(MEMBER_HOST, ':', MEMBER_PORT) AS name, MEMBER_STATE AS state, MEMBER_ROLE AS role FROM performance_schema.replication_group_members ORDER BY name",
      // MariaDB has no such table
    ).catch((error: { errno?: number }) => (error.errno === DENIED_ERRNO ? undefined : []));
    return {
      values: new Map(rows.map((row) => Object.values(row) as [string, string])),
      members: members as Member[] | undefined,
    };
  } finally {
    connection.destroy();
  }
}
