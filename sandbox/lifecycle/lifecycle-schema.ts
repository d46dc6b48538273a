import { z } from 'zod';

const stepSchema = z.strictObject({
  status: z.string().min(1).max(32),
  after_s: z
    .tuple([z.number().min(0).max(8_640_000), z.number().min(0).max(8_640_000)])
    .describe('minimum and maximum'),
});

/** A possible path of a transaction, chosen by `weight` relative to the others. Without steps it stays pending. */
const pathSchema = z.strictObject({
  weight: z.number().min(0).max(1_000_000),
  steps: z.array(stepSchema).max(20),
});
export type Path = z.infer<typeof pathSchema>;

const HOUR = 3_600;
const DAY = 24 * HOUR;

const CASHIN: Path[] = [
  { weight: 72, steps: [{ status: 'paid', after_s: [5, 400] }] },
  { weight: 3, steps: [step('in_analysis', 5, 60), step('paid', 30, 600)] },
  { weight: 10, steps: [step('expired', 30 * 60, 30 * 60)] },
  { weight: 4, steps: [step('canceled', 20, 1_200)] },
  { weight: 2, steps: [step('in_analysis', 5, 60), step('denied', 30, 600)] },
  { weight: 4, steps: [step('paid', 5, 400), step('refund', HOUR, 3 * HOUR)] },
  { weight: 1, steps: [step('paid', 5, 400), step('refund', DAY, 20 * DAY)] },
  { weight: 4, steps: [] },
];

const CASHOUT: Path[] = [
  { weight: 66, steps: [step('paid', 2, 60)] },
  { weight: 18, steps: [step('in_process', 1, 10), step('paid', 10, 300)] },
  { weight: 3, steps: [step('in_analysis', 1, 10), step('denied', 60, 600)] },
  { weight: 7, steps: [step('denied', 2, 60)] },
  { weight: 3, steps: [step('canceled', 10, 300)] },
  { weight: 3, steps: [step('paid', 2, 60), step('refund', HOUR, 6 * HOUR)] },
];

export const lifecycleSchema = z.strictObject({
  created: z
    .enum(['auto', 'manual'])
    .default('auto')
    .describe('manual: transactions that clients create wait for the checkout'),
  speed: z.number().min(0.001).max(100_000).default(1).describe('how many times faster planned steps happen'),
  partially_paid: z.number().min(0).max(1).default(0).describe('share of paid cashins that are partially_paid before'),
  cashin: z.array(pathSchema).min(1).max(50).default(CASHIN),
  cashout: z.array(pathSchema).min(1).max(50).default(CASHOUT),
});

export type LifecycleModel = z.infer<typeof lifecycleSchema>;

function step(status: string, least: number, most: number): Path['steps'][number] {
  return { status, after_s: [least, most] };
}
