import { EngineError } from './engine-error.ts'

/** One statement with its parameters and settings, as received over HTTP. */
export type Statement = {
  text: string
  /** True when the rows of an INSERT follow in its text. Then nothing may precede the statement. */
  carries_rows?: boolean
  database?: string
  /** Values for `{name: Type}`, written as for `param_name=` in a URL. */
  params?: Readonly<Record<string, string>>
  settings?: Readonly<Record<string, string>>
  /** Format of the result, if the text has no FORMAT clause. */
  format?: string
  /** Name of the statement for KILL QUERY. */
  id?: string
}

/**
 * Returns the SQL for a new session: `before` (if not empty) as its own statement, then `text`.
 * Parameters are set by `SET param_…`, because chDB's binding runs only one statement with
 * parameters at a time per process.
 */
export function prepareStatement(statement: Statement): { before: string; text: string } {
  if (statement.text.includes('\0')) {
    throw new EngineError(62, 'SYNTAX_ERROR', 'got a statement with a NUL, expected text')
  }
  const text = translateQueryId(statement)
  const before = [useDatabase(statement.database), setStatement(statement)]
    .filter((part) => part !== '')
    .join('; ')
  if (before === '' || statement.carries_rows) return { before, text }
  return { before: '', text: `${before}; ${text}` }
}

/** Returns the statement that stops another statement by its id. */
export function killStatement(id: string): Statement {
  return { text: 'KILL QUERY WHERE query_id = {id:String} ASYNC', params: { id } }
}

/**
 * Returns whether the statement is about other statements. Such a statement must not wait for them.
 */
export function isAboutStatements({ text }: Statement): boolean {
  return /^\s*(KILL\s+QUERY\b|SELECT\s[\w\s,]+\sFROM\s+system\.processes\b)/i.test(text)
}

/** Replaces `query_id`: the engine sets its own ids, so ours are in the setting log_comment. */
function translateQueryId(statement: Statement): string {
  if (!isAboutStatements(statement)) return statement.text
  return statement.text.replace(/\bquery_id\b/g, "Settings['log_comment']")
}

function useDatabase(database: string | undefined): string {
  if (database === undefined || database === 'default') return ''
  return `USE \`${database.replace(/[\\`]/g, '\\$&')}\``
}

function setStatement({ id, settings = {}, params = {} }: Statement): string {
  const parts = id === undefined ? [] : [`log_comment = ${quoteText(id)}`]
  for (const [name, value] of Object.entries(settings)) {
    parts.push(`${checkName(name)} = ${quoteText(value)}`)
  }
  for (const [name, value] of Object.entries(params)) {
    parts.push(`param_${checkName(name)} = ${quoteText(value)}`)
  }
  return parts.length === 0 ? '' : `SET ${parts.join(', ')}`
}

function checkName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new EngineError(115, 'UNKNOWN_SETTING', `got the name "${name}", expected a setting`)
}

/** Quotes text as a string literal of ClickHouse's SQL. */
function quoteText(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`
}
