import { expect, test } from 'vitest';
import { findFaults } from '../../../src/doctor/check-hosts.ts';
import { describeSaid } from '../../../src/texts/messages.ts';

const ADVISED = {
  group_replication_group_name: 'g',
  group_replication_single_primary_mode: 'ON',
  group_replication_member_expel_timeout: '0',
  group_replication_unreachable_majority_timeout: '5',
  group_replication_consistency: 'BEFORE_ON_PRIMARY_FAILOVER',
  group_replication_start_on_boot: 'ON',
  sync_binlog: '1',
  max_allowed_packet: '67108864',
};
const MEMBERS = ['db1', 'db2', 'db3'].map((name, index) => ({
  ...{ name: `${name}:3306`, state: 'ONLINE', role: index === 0 ? 'PRIMARY' : 'SECONDARY' },
}));

type Change = { values?: Record<string, string>; members?: typeof MEMBERS | undefined };

/** Three members of a group, the first of which takes writes. The last one has a change. */
function openGroup(change: Change = {}, takesWrites = false) {
  return MEMBERS.map(({ name }, index) => {
    const own = index === 2 ? change : {};
    return {
      ...{ name, target: { user: 'root', host: name, port: 1 } },
      state: {
        id: name,
        refusal: index === 0 || takesWrites ? undefined : ('read only' as const),
        members: [],
        isGalera: false,
      },
      settings: {
        values: new Map(Object.entries({ ...ADVISED, ...own.values })),
        members: 'members' in own ? own.members : MEMBERS,
      },
    };
  });
}

const say = (hosts: Parameters<typeof findFaults>[0]) => describeSaid(findFaults(hosts), 'en');

test('a group with the advised settings has no fault', () => {
  expect(findFaults(openGroup())).toEqual([]);
});

test.each<[Change, RegExp]>([
  [
    { values: { group_replication_member_expel_timeout: '5' } },
    /^db3:3306 lacks group_replication_member_expel_timeout = 0$/,
  ],
  [
    { values: { group_replication_consistency: 'EVENTUAL' } },
    /group_replication_consistency = BEFORE_ON_PRIMARY_FAILOVER/,
  ],
  [{ values: { max_allowed_packet: '1' } }, /^max_allowed_packet is not the same on all hosts: 67108864, 1$/],
  [{ members: undefined }, /^db3:3306 lets this user not read the members/],
  [{ members: MEMBERS.slice(1) }, /^db3:3306 sees 2 members of its group/],
])('a member with %j has a fault', (change, says) => {
  expect(say(openGroup(change))).toMatch(says);
});

test('hosts of which none takes writes, two do, or one is away, have faults', () => {
  const [first, ...others] = openGroup();
  expect(say(others)).toBe('no host takes writes');
  expect(say(openGroup({}, true))).toMatch(/^db1:3306, db2:3306, db3:3306 take writes, and are different servers/);
  const error = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  const away = { name: 'db2:3306', target: { user: 'root', host: 'db2', port: 1 }, error };
  expect(say(first ? [first, away] : [])).toBe('db2:3306 does not answer (ECONNREFUSED)');
});
