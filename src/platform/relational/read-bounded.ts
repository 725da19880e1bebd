import type pg from 'pg'
import { sleep } from '../../kernel/time.ts'
import type { ScopedClient, ScopedPool } from './scoped-pool.ts'

/** A SELECT with its limits. `name` is its `application_name` in pg_stat_activity. */
export type BoundedRead = {
  text: string
  params: readonly unknown[]
  name: string
  /** Time after which the server cancels it. */
  time_ms_max: number
  signal: AbortSignal
  /** Pool for the cancel request, because the pool of the statement may be full. */
  cancel_through: pg.Pool
}

/** A read exceeded its time limit: the server cancelled it, or still ran it after the timeout. */
export class ReadOverTime extends Error {
  override readonly name = 'ReadOverTime'

  constructor(time_ms_max: number, cause: unknown) {
    super(`the statement took more than ${time_ms_max} ms`, { cause })
  }
}

/** Extra wait of the client after the server's limit, so that the server's error arrives. */
const slack_ms = 1_000
/** Maximum time for the server to cancel a statement and to answer whether it ran. */
const cancel_ms_max = 2_000

/**
 * Runs one SELECT in a read-only transaction. When the signal aborts, cancels the statement on the
 * server and rejects with the signal's reason. Rejects with ReadOverTime above the time limit, and
 * otherwise with the driver's error, also when the server gives no answer or the answer is lost.
 */
export async function readBounded(
  pool: Pick<ScopedPool, 'connect'>,
  read: BoundedRead,
): Promise<Record<string, unknown>[]> {
  const { name, time_ms_max, signal, cancel_through } = read
  signal.throwIfAborted()
  const client = await pool.connect()
  let cancelled: Promise<boolean> | undefined
  /** The server's process. Behind a pooler, each transaction may have another one. */
  let pid: number | undefined
  const cancel = () => {
    cancelled ??= cancelBackend(cancel_through, pid, name)
    return cancelled
  }
  signal.addEventListener('abort', cancel, { once: true })
  let isClean = false
  try {
    signal.throwIfAborted()
    client.begin('begin read only')
    const limits = { text: limitsText, values: [String(time_ms_max), name] }
    pid = (await client.query(limits)).rows[0]?.pid
    signal.throwIfAborted()
    const rows = await readRows(client, read, cancel)
    await client.commit()
    signal.throwIfAborted()
    isClean = true
    return rows
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
    // Discard the connection after a failure or a cancel, which might hit a later statement.
    await cancelled
    client.release(!isClean || cancelled !== undefined)
  }
}

/** Limits of the transaction. JIT only pays off for statements above the time limit. */
const limitsText = `select set_config('statement_timeout', $1, true),
  set_config('application_name', $2, true), set_config('jit', 'off', true), pg_backend_pid() as pid`

async function readRows(
  client: ScopedClient,
  { text, params, time_ms_max }: BoundedRead,
  cancel: () => Promise<boolean>,
): Promise<Record<string, unknown>[]> {
  const started_ms = performance.now()
  try {
    const query = { text, values: [...params], query_timeout: time_ms_max + slack_ms }
    return (await client.query(query)).rows
  } catch (error) {
    // The server's clock starts after ours, so an earlier cancel came from another session.
    const isOver = performance.now() - started_ms >= time_ms_max
    const wasEnded = isOver && isCancelled(error)
    if (wasEnded || (isUnanswered(error) && (await cancel()))) {
      throw new ReadOverTime(time_ms_max, error)
    }
    throw error
  }
}

/** Recognises SQLSTATE `query_canceled`. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

/** Recognises the driver's error after `query_timeout`. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Cancels the statement with this name. Resolves with whether it was running. Never rejects. */
async function cancelBackend(
  pool: pg.Pool,
  pid: number | undefined,
  name: string,
): Promise<boolean> {
  if (pid === undefined) return false
  const given = new AbortController()
  const asked = pool.query(cancelText, [pid, name]).then(({ rows }) => rows.length > 0)
  const waited = sleep(cancel_ms_max, given.signal).then(() => false)
  const wasActive = await Promise.race([asked.catch(() => false), waited])
  given.abort()
  return wasActive
}

const cancelText = `select pg_cancel_backend(pid) from pg_stat_activity
  where pid = $1 and application_name = $2 and state = 'active'`
