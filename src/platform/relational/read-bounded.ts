import type pg from 'pg'
import { sleep } from '../../kernel/time.ts'

/** One SELECT; `name` is what pg_stat_activity shows for it as `application_name`. */
export type BoundedRead = {
  text: string
  params: readonly unknown[]
  name: string
  /** After so long the server cancels it. */
  time_ms_max: number
  signal: AbortSignal
  /** The pool to cancel through; the statement's own pool may be full. */
  cancel_through: pg.Pool
}

/** A read over its time limit: the server cancelled it, or still ran it when we gave up. */
export class ReadOverTime extends Error {
  override readonly name = 'ReadOverTime'

  constructor(time_ms_max: number, cause: unknown) {
    super(`the statement took more than ${time_ms_max} ms`, { cause })
  }
}

/** What the client waits beyond the server's own limit, so that the server's error is the answer. */
const slack_ms = 1_000
/** How long the server may take to cancel a statement and to answer whether it ran. */
const cancel_ms_max = 2_000

/**
 * Runs one SELECT in a read-only transaction. When the signal aborts, cancels the statement on the
 * server and rejects with the signal's reason. Rejects with ReadOverTime above the time limit. Other
 * failures are the driver's, also when the server does not answer, or had ended the statement and
 * its answer did not arrive.
 */
export async function readBounded(
  pool: pg.Pool,
  read: BoundedRead,
): Promise<Record<string, unknown>[]> {
  const { name, time_ms_max, signal, cancel_through } = read
  signal.throwIfAborted()
  const client = await pool.connect()
  let cancelled: Promise<boolean> | undefined
  const cancel = () => {
    cancelled ??= cancelBackend(cancel_through, client, name)
    return cancelled
  }
  signal.addEventListener('abort', cancel, { once: true })
  let isClean = false
  try {
    signal.throwIfAborted()
    await client.query('begin read only')
    await client.query(limitsText, [String(time_ms_max), name])
    const rows = await rowsOf(client, read, cancel)
    await client.query('commit')
    signal.throwIfAborted()
    isClean = true
    return rows
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
    // A cancel that comes late must not meet another's statement, nor a transaction that failed.
    await cancelled
    client.release(!isClean || cancelled !== undefined)
  }
}

/** Compiling pays for statements that take longer than these may. */
const limitsText = `select set_config('statement_timeout', $1, true),
  set_config('application_name', $2, true), set_config('jit', 'off', true)`

async function rowsOf(
  client: pg.PoolClient,
  { text, params, time_ms_max }: BoundedRead,
  cancel: () => Promise<boolean>,
): Promise<Record<string, unknown>[]> {
  const started_ms = performance.now()
  try {
    const query = { text, values: [...params], query_timeout: time_ms_max + slack_ms }
    return (await client.query(query)).rows
  } catch (error) {
    // The server starts its clock after us. If it ended the statement earlier, another session did.
    const isOver = performance.now() - started_ms >= time_ms_max
    const wasEnded = isOver && isCancelled(error)
    if (wasEnded || (isUnanswered(error) && (await cancel()))) {
      throw new ReadOverTime(time_ms_max, error)
    }
    throw error
  }
}

/** SQLSTATE query_canceled. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

/** The driver's error when `query_timeout` is over. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Cancels the statement of that name; true when the server was running it. Never rejects. */
async function cancelBackend(pool: pg.Pool, client: pg.PoolClient, name: string): Promise<boolean> {
  const { processID } = client as pg.PoolClient & { processID?: number }
  const given = new AbortController()
  const asked = pool.query(cancelText, [processID, name]).then(({ rows }) => rows.length > 0)
  const waited = sleep(cancel_ms_max, given.signal).then(() => false)
  const wasActive = await Promise.race([asked.catch(() => false), waited])
  given.abort()
  return wasActive
}

const cancelText = `select pg_cancel_backend(pid) from pg_stat_activity
  where pid = $1 and application_name = $2 and state = 'active'`
