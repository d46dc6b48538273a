/** Elements of an OFX that its reader must know: where banks leave out an end, these say what is meant. */

/** Elements that hold others, by the one that they stand in. In SGML an element of another name that is not closed is an empty value. */
export const AGGREGATES: ReadonlyMap<string, string> = new Map([
  ['OFX', ''],
  ['STATUS', ''],
  ['BANKMSGSRSV1', 'OFX'],
  ['STMTTRNRS', 'BANKMSGSRSV1'],
  ['STMTRS', 'STMTTRNRS'],
  ['BANKACCTFROM', 'STMTRS'],
  ['BANKTRANLIST', 'STMTRS'],
  ['STMTTRN', 'BANKTRANLIST'],
  ['LEDGERBAL', 'STMTRS'],
  ['AVAILBAL', 'STMTRS'],
]);
/** Aggregates that banks never close: one ends where the next of these begins, or where the one around it ends. */
export const ENDED_BY_NEXT = new Set(['STMTTRN', 'BANKACCTFROM', 'BANKTRANLIST', 'LEDGERBAL', 'AVAILBAL']);
/** Texts in which people write markup. */
export const TEXTS = new Set(['NAME', 'MEMO']);
/** Elements that may follow a text on its line. */
export const FOLLOWERS = new Set([
  ...['TRNTYPE', 'DTPOSTED', 'DTUSER', 'DTAVAIL', 'TRNAMT', 'FITID', 'CORRECTFITID', 'CORRECTACTION', 'SRVRTID'],
  ...['CHECKNUM', 'REFNUM', 'SIC', 'PAYEEID', 'NAME', 'EXTDNAME', 'PAYEE', 'MEMO', 'CURRENCY', 'ORIGCURRENCY'],
  ...['BANKACCTTO', 'CCACCTTO', 'STMTTRN', 'BANKTRANLIST', 'LEDGERBAL', 'AVAILBAL', 'STMTRS', 'STMTTRNRS'],
]);
