import { Semaphore } from '../../../kernel/semaphore.ts'
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

type SlotLimits = {
  running_max: number
  waiting_max: number
  /** Makes the error for work that is neither run nor queued. */
  refusal: (detail: string) => Error
}

/** Bounds the statements that run and the statements that wait, and can be closed. */
type StatementSlots = {
  run<T>(work: () => Promise<T>): Promise<T>
  /**
   * Rejects new statements, then waits for accepted ones. Resolves with whether all ended in time.
   */
  close(patience_ms: number): Promise<boolean>
}

/** Opens the slots of one engine. `refusal` rejects work beyond both limits or after `close`. */
export function openStatementSlots({
  running_max,
  waiting_max,
  refusal,
}: SlotLimits): StatementSlots {
  const full = () => refusal(`${running_max} statements run and ${waiting_max} wait`)
  const semaphore = new Semaphore({
    permits_max: running_max,
    waiting: { max: waiting_max, refusal: full },
  })
  const accepted = new Set<Promise<unknown>>()
  let isClosed = false
  return {
    run(work) {
      if (isClosed) return Promise.reject(refusal('the server is stopping'))
      const result = semaphore.run(work)
      accepted.add(result)
      const forget = () => accepted.delete(result)
      result.then(forget, forget)
      return result
    },
    async close(patience_ms) {
      isClosed = true
      const patience = Promise.withResolvers<boolean>()
      const timer = setTimeout(patience.resolve, patience_ms, false)
      const ended = Promise.allSettled(accepted).then(() => true)
      const allEnded = await Promise.race([ended, patience.promise])
      clearTimeout(timer)
      return allEnded
    },
  }
}
