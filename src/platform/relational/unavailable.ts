import { Problem, problem } from '../../kernel/problem.ts'

/**
 * Translates an error of an unavailable relational store to `store_unavailable`. Returns any other
 * error unchanged.
 */
export function asStoreProblem(error: unknown): unknown {
  if (error instanceof Problem || !isRelationalUnavailable(error)) return error
  return problem('store_unavailable', {
    detail: 'The relational store is unavailable or too slow. Retry the request.',
    retry_after_s: 1,
    cause: error,
  })
}

/**
 * Returns whether an error means that the server is down, starting, stopping, full or unreachable;
 * false for an invalid statement. The statement may or may not have been executed.
 */
export function isRelationalUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof Problem) return isRelationalUnavailable(error.cause)
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'string') return unavailableCode.test(code)
  return unavailableMessages.some((message) => error.message.includes(message))
}

/**
 * Returns whether a statement exceeded its `lock_timeout`, also if the error was translated to a
 * problem. The statement changed nothing.
 */
export function isLockTimeout(error: unknown): boolean {
  if (error instanceof Problem) return isLockTimeout(error.cause)
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/**
 * Node's error codes of sockets and DNS, and SQLSTATE: class 08 (connection), 57P01-57P05 (the
 * server stops or starts), 57014 (statement time limit), 55P03 and 25P03-25P04 (limits of the
 * server for locks and transactions), 53300 (no connection left), 25006 (a standby after a
 * fail-over).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const unavailableCode =
  /^(E(CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|08\w{3}|57P0[1-5]|57014|55P03|25P0[34]|53300|25006)$/

/** Messages of errors that pg and its pool throw without a code. */
const unavailableMessages = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Query read timeout',
  'Cannot use a pool after calling end on the pool',
]
