import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../sandbox/domain/random.ts';
import { STATUSES } from '../../../sandbox/domain/statuses.ts';
import { chooseFault } from '../../../sandbox/faults/choose-fault.ts';
import { faultSchema } from '../../../sandbox/faults/fault.ts';
import { readScenario, SCENARIOS } from '../../../sandbox/faults/read-scenario.ts';
import { switchesSchema } from '../../../sandbox/faults/switches.ts';
import { planSteps } from '../../../sandbox/lifecycle/plan-steps.ts';
import { drawSecond } from '../../../sandbox/traffic/draw-second.ts';
import { makeCharge } from '../../../sandbox/traffic/make-charge.ts';
import { decideFate } from '../../../sandbox/webhooks/decide-fate.ts';

const DEFAULTS = switchesSchema.parse({});

describe('a planned path', () => {
  it('only moves forward, and is chosen as often as its weight says', () => {
    const random = createRandom('lives');
    const ends = new Map<string, number>();
    for (let i = 0; i < 5_000; i++) {
      const planned = planSteps(random, 'cashin', DEFAULTS.lives);
      const times = planned.map(({ afterMs }) => afterMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      const end = planned.at(-1)?.status ?? 'pending';
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    expect((ends.get('paid') ?? 0) / 5_000).toBeCloseTo(0.75, 1);
    expect(ends.get('refund')).toBeGreaterThan(100);
    expect([...ends.keys()].every((status) => STATUSES.some((known) => known === status))).toBe(true);
  });

  it('can be partially paid before it is paid', () => {
    const planned = planSteps(createRandom('1'), 'cashin', {
      ...DEFAULTS.lives,
      partially_paid: 1,
      cashin: [{ weight: 1, steps: [{ status: 'paid', after_s: [10, 10] }] }],
    });
    expect(planned).toEqual([
      { status: 'partially_paid', afterMs: 5_000 },
      { status: 'paid', afterMs: 10_000 },
    ]);
  });
});

describe('the fate of a webhook', () => {
  it('follows the shares of the switches, and is `sent` by default', () => {
    const random = createRandom('fate');
    const count = (webhooks: object, fate: string) => {
      const switches = { ...DEFAULTS.webhooks, ...webhooks };
      return Array.from({ length: 2_000 }, () => decideFate(random, switches)).filter((one) => one.fate === fate)
        .length;
    };
    expect(count({}, 'sent')).toBe(2_000);
    expect(count({ lose: 1 }, 'lost')).toBe(2_000);
    expect(count({ lose: 0.5 }, 'lost') / 2_000).toBeCloseTo(0.5, 1);
    expect(count({ lose: 0.2, repeat: 0.2, late: 0.2, reorder: 0.2 }, 'sent') / 2_000).toBeCloseTo(0.2, 1);
  });
});

describe('a fault', () => {
  const strike = (wish: object, requests: number): string => {
    const faults = [faultSchema.parse({ kind: 'status', ...wish })];
    const tallies = new Map();
    const random = createRandom('fault');
    return Array.from({ length: requests }, (_, i) =>
      chooseFault(faults, tallies, 'list', random, i * 1_000) === undefined ? '.' : 'x',
    ).join('');
  };

  it('respects after, times, burst and its route', () => {
    expect(strike({ after: 2, times: 3 }, 8)).toBe('..xxx...');
    expect(strike({ on: 'show' }, 4)).toBe('....');
    expect(strike({ share: 0.1, burst: 4 }, 200)).toMatch(/x{4}/);
    expect(strike({ share: 0 }, 50)).not.toContain('x');
  });

  it('of kind rate_limit allows `requests` in any `per_s` seconds, without counting refused ones', () => {
    expect(strike({ kind: 'rate_limit', requests: 2, per_s: 5 }, 12)).toBe('..xxx..xxx..');
  });
});

describe('the built-in scenarios', () => {
  it.each(SCENARIOS)('%s can be read', (name) => {
    expect(() => readScenario(name)).not.toThrow();
  });

  it('are distinguished from files, whose errors are all named', () => {
    expect(() => readScenario('no-such-file.json')).toThrow(/calm, black-friday/);
    expect(() => readScenario('package.json')).toThrow(/description|switches/);
  });
});

describe('generated data', () => {
  it('falls on the hours when people pay, some around midnight', () => {
    const random = createRandom('day');
    const seconds = Array.from({ length: 20_000 }, () => drawSecond(random));
    expect(seconds.every((second) => second >= 0 && second < 86_400)).toBe(true);
    const within = (from: number, to: number) =>
      seconds.filter((second) => second >= from * 3_600 && second < to * 3_600).length;
    expect(within(18, 21)).toBeGreaterThan(5 * within(2, 5));
    expect(seconds.some((second) => second < 4) && seconds.some((second) => second > 86_395)).toBe(true);
  });

  it('has a key for each cashout and none for a cashin', () => {
    const random = createRandom('charge');
    for (let i = 0; i < 200; i++) {
      expect(makeCharge(random, 'cashout', ['p']).pixKey).not.toBeNull();
      expect(makeCharge(random, 'cashin', ['p']).pixKey).toBeNull();
    }
  });
});
