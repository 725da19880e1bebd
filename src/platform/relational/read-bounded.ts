import type pg from 'pg'

/** One SELECT; `name` is what pg_stat_activity shows for it as `application_name`. */
export type BoundedRead = {
  text: string
  params: readonly unknown[]
  name: string
  /** After so long the server cancels it: SQLSTATE 57014. */
  time_ms_max: number
  signal: AbortSignal
  /** The pool through which the server is told to cancel: a full one would have to wait. */
  cancel_through: pg.Pool
}

/** What the client waits beyond the server's own limit, so that the server's error is the answer. */
const slack_ms = 1_000

/**
 * Runs one SELECT in a transaction that can change nothing. When the signal aborts, the server is
 * told to cancel the statement, and it rejects with the signal's reason. Other failures are the
 * driver's.
 */
export async function readBounded(
  pool: pg.Pool,
  { text, params, name, time_ms_max, signal, cancel_through }: BoundedRead,
): Promise<Record<string, unknown>[]> {
  signal.throwIfAborted()
  const client = await pool.connect()
  let cancelled: Promise<unknown> | undefined
  const cancel = () => {
    cancelled ??= cancelBackend(cancel_through, client).catch(() => undefined)
  }
  signal.addEventListener('abort', cancel, { once: true })
  let isClean = false
  try {
    signal.throwIfAborted()
    await client.query('begin read only')
    await client.query(limitsText, [String(time_ms_max), name])
    const query = { text, values: [...params], query_timeout: time_ms_max + slack_ms }
    const { rows } = await client.query(query)
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

async function cancelBackend(pool: pg.Pool, client: pg.PoolClient): Promise<void> {
  const { processID } = client as pg.PoolClient & { processID?: number }
  await pool.query('select pg_cancel_backend($1)', [processID])
}
