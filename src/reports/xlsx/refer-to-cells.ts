/** A sheet's title, quoted for a formula. */
export function quoteTitle(title: string): string {
  return `'${title.replaceAll("'", "''")}'`;
}

/** Cells of a sheet as other parts of the workbook name them: `'Resumo'!$A$1:$B$2`. */
export function referToCells(title: string, range: string): string {
  return `${quoteTitle(title)}!${range.replace(/([A-Z]{1,3})(\d{1,7})/g, '$$$1$$$2')}`;
}
