import { EngineError } from './engine-error.ts'

/** One statement with all that goes with it, as it came over HTTP. */
export type Statement = {
  text: string
  /** True when an INSERT's rows follow in its text: then nothing may stand before it. */
  carries_rows?: boolean
  database?: string
  /** Fill `{name: Type}`; the values are written as for `param_name=` in a URL. */
  params?: Readonly<Record<string, string>>
  settings?: Readonly<Record<string, string>>
  /** For the answer, where the text has no FORMAT of its own. */
  format?: string
  /** Names the statement for KILL QUERY. */
  id?: string
}

/**
 * What a fresh session has to run: `before` (when not empty) on its own, then `text`. Parameters
 * go in by `SET param_…`: chDB's own binding lets one such statement run at a time per process.
 */
export function prepared(statement: Statement): { before: string; text: string } {
  if (statement.text.includes('\0')) {
    throw new EngineError(62, 'SYNTAX_ERROR', 'got a statement with a NUL, expected text')
  }
  const text = byOwnId(statement)
  const before = [useDatabase(statement.database), setAll(statement)]
    .filter((part) => part !== '')
    .join('; ')
  if (before === '' || statement.carries_rows) return { before, text }
  return { before: '', text: `${before}; ${text}` }
}

/** The statement that stops another one, by its id. */
export function killed(id: string): Statement {
  return { text: 'KILL QUERY WHERE query_id = {id:String} ASYNC', params: { id } }
}

/** True for a statement about statements. It must not wait for those that it is about. */
export function isAboutStatements({ text }: Statement): boolean {
  return /^\s*(KILL\s+QUERY\b|SELECT\s[\w\s,]+\sFROM\s+system\.processes\b)/i.test(text)
}

/** The engine gives statements ids of its own; ours travel as the setting log_comment. */
function byOwnId(statement: Statement): string {
  if (!isAboutStatements(statement)) return statement.text
  return statement.text.replace(/\bquery_id\b/g, "Settings['log_comment']")
}

function useDatabase(database: string | undefined): string {
  if (database === undefined || database === 'default') return ''
  return `USE \`${database.replace(/[\\`]/g, '\\$&')}\``
}

function setAll({ id, settings = {}, params = {} }: Statement): string {
  const parts = id === undefined ? [] : [`log_comment = ${sqlText(id)}`]
  for (const [name, value] of Object.entries(settings)) {
    parts.push(`${checkedName(name)} = ${sqlText(value)}`)
  }
  for (const [name, value] of Object.entries(params)) {
    parts.push(`param_${checkedName(name)} = ${sqlText(value)}`)
  }
  return parts.length === 0 ? '' : `SET ${parts.join(', ')}`
}

function checkedName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new EngineError(115, 'UNKNOWN_SETTING', `got the name "${name}", expected a setting`)
}

/** A string literal of ClickHouse's SQL. */
function sqlText(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`
}
