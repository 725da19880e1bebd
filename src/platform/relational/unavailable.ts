import { Problem, problem } from '../../kernel/problem.ts'

/**
 * Returns `store_unavailable` for an error that says that the relational store is unavailable, and
 * any other error as it came.
 */
export function asStoreProblem(error: unknown): unknown {
  if (error instanceof Problem || !isRelationalUnavailable(error)) return error
  return problem('store_unavailable', {
    detail: 'The relational store is out of reach or too slow; try again shortly.',
    retry_after_s: 1,
    cause: error,
  })
}

/**
 * True for what a dead, starting, stopping or full server, or the way to it, makes of a query;
 * false for a faulty statement. A statement that met it may or may not have been carried out.
 */
export function isRelationalUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof Problem) return isRelationalUnavailable(error.cause)
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'string') return unavailableCode.test(code)
  return unavailableMessages.some((message) => error.message.includes(message))
}

/**
 * True for a wait for a lock that took longer than the statement's `lock_timeout`, also when it was
 * translated to a problem. The statement changed nothing.
 */
export function isLockTimeout(error: unknown): boolean {
  if (error instanceof Problem) return isLockTimeout(error.cause)
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/**
 * Node's codes of sockets and names, and SQLSTATE: class 08 (connection), 57P01-57P05 (the server
 * stops or starts), 57014 (a statement over its time limit), 55P03 and 25P03-25P04 (over the
 * server's own limits for locks and transactions), 53300 (no connection left), 25006 (a standby
 * after a fail-over).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const unavailableCode =
  /^(E(CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|08\w{3}|57P0[1-5]|57014|55P03|25P0[34]|53300|25006)$/

/** Errors that pg and its pool throw without a code. */
const unavailableMessages = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Query read timeout',
  'Cannot use a pool after calling end on the pool',
]
