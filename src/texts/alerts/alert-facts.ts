/** Facts of an alert: nothing personal. The texts of each language are made from it. A merchant's name is masked. */
export type AlertFacts = {
  /** How many mismatches, callbacks or lost webhooks. */
  count?: number;
  /** At stake: cents as a decimal text. */
  cents?: string;
  /** An instant in ISO 8601. */
  since?: string | undefined;
  transaction?: string;
  /** The id of an expected payment. */
  expected?: string;
  mismatch?: string;
  /** The scope of a mismatch, such as a day or a platform. */
  about?: string;
  /** The scope of many mismatches of one cause. */
  cause?: string;
  kinds?: Record<string, number>;
  /** The id of a run, and what started it. */
  run?: string;
  trigger?: string;
  merchant?: string;
  merchantName?: string;
  job?: string;
  isRunning?: boolean;
  /** A code, or our own message. */
  error?: string | undefined;
  days?: string[];
  /** The title of a report's sheet. */
  sheet?: string;
  opening?: string;
  platform?: string;
  /** The provider's operation: `show` or `list`. */
  operation?: string;
  /** Machines whose clock differs: by how many seconds, ahead or behind (below 0). */
  clocks?: { host: string; seconds: number }[];
  /** The first of several processes on one machine. */
  /** Database hosts that take writes. */
  hosts?: string[];
  disks?: { part: string; host: string; holder?: string; mib: number }[];
  parts?: { part: string; since?: string | undefined }[];
  zone?: string;
  fits?: string;
  minutes?: number;
  /** The usual length of a silence. */
  hours?: number;
  /** A share in percent, and of how many. */
  percent?: number;
  total?: number;
};

/** How a text shows values. */
export type Formats = {
  at: (iso: string | undefined) => string;
  money: (cents: string) => string;
  day: (day: string) => string;
};

export type AlertText = {
  title: string;
  /** The next step, in one sentence. */
  todo: string;
};
/** Says what happened, without the title. */
export type Say = (facts: AlertFacts, as: Formats) => string;
