import type { Row } from './chart-rows.ts'

/** Most rows of one file. */
export const maxExportRows = 50_000

/** Rows of each page that an export reads. */
export const exportPage = 1_000

export type ExportFormat = 'csv' | 'ndjson'

/** Writes rows as NDJSON: one object a line. */
export function toNdjson(rows: readonly Row[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** Writes rows as CSV (RFC 4180) with a head. Unknown values are empty. */
export function toCsv(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [
    columns.map(csvCell),
    ...rows.map((row) => columns.map((name) => csvCell(row[name]))),
  ]
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}

/**
 * Writes one value. Spreadsheets run a text that begins like a formula, so that such a text gets
 * an apostrophe in front (OWASP, CSV injection); numbers stay as they are.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const isNumber = typeof value === 'number' || /^-?\d+(\.\d+)?$/.test(text)
  const safe =
    !isNumber && /^[=+\-@\t\r\n|%＝＋－＠]/u.test(text.trimStart() || text) ? `'${text}` : text
  return /[",\r\n\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

type Page = { rows: readonly Row[]; next_cursor?: string | null }

/**
 * Reads pages until the last one or the bound. `isCut`: there are more rows. `onRows` gets the
 * number of rows so far.
 */
export async function readAll(
  read: (cursor: string | undefined) => Promise<Page>,
  { rows_max, onRows }: { rows_max: number; onRows: (count: number) => void },
): Promise<{ rows: Row[]; isCut: boolean }> {
  const rows: Row[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    rows.push(...page.rows)
    cursor = page.next_cursor ?? undefined
    onRows(rows.length)
  } while (cursor !== undefined && rows.length < rows_max)
  return { rows: rows.slice(0, rows_max), isCut: cursor !== undefined || rows.length > rows_max }
}
