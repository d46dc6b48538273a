import { type Kysely, sql } from 'kysely';

/**
 * `seq` is the key, because random keys cost four times as much to insert; `id` is unique beside it. Two transactions of the
 * history or of an admin may have the same reference, but only one may claim it: those that clients create claim theirs.
 * The index `browse` alone answers each page of a range of days, its count and its filters by status and platform.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS transactions (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(36) NOT NULL,
    operation VARBINARY(8) NOT NULL,
    status VARBINARY(32) NOT NULL,
    amount_cents BIGINT NOT NULL,
    commission_cents BIGINT NOT NULL,
    created_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL,
    email VARBINARY(1020) NOT NULL,
    phone VARBINARY(255) NOT NULL,
    document VARBINARY(64) NOT NULL,
    description MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
    platform VARBINARY(64) NOT NULL,
    reference VARBINARY(200) NULL,
    claim VARBINARY(200) NULL,
    extra VARBINARY(1020) NULL,
    e2e_id VARBINARY(64) NOT NULL,
    pix_key VARBINARY(320) NULL,
    shown MEDIUMTEXT CHARACTER SET utf8mb4 NULL,
    listed TINYINT NOT NULL DEFAULT 1,
    visible TINYINT NOT NULL DEFAULT 1,
    UNIQUE KEY id (id),
    UNIQUE KEY claim (claim),
    KEY browse (listed, created_wall, seq, status, platform),
    KEY changes (listed, updated_wall),
    KEY reference (reference),
    KEY phone (phone),
    KEY document (document),
    KEY pix_key (pix_key)
  ) ENGINE=InnoDB`.execute(db);
}
