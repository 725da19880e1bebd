import { drainPending, Session } from 'chdb'
import { EngineError, engineFailure } from './engine-error.ts'
import { isAboutStatements, killed, prepared, type Statement } from './prepared-statement.ts'
import { openStatementSlots } from './statement-slots.ts'

export type EngineOptions = {
  /** ClickHouse's own data directory; the engine locks it, so one process at a time. */
  path: string
  /** Statements at a time. Each takes a thread of libuv's pool, so keep it below that. */
  statements_max: number
  /** Statements that may wait for their turn; more are refused. */
  waiting_max: number
}

/** What a statement gave: bytes in its format, and what the engine read for it. */
export type EngineResult = { bytes: Uint8Array; rows_read: number; bytes_read: number }

/** Every method rejects with EngineError. */
export type Engine = {
  readonly version: string
  /** Runs a statement when its turn comes; not at all once the signal has aborted. */
  run(statement: Statement, signal?: AbortSignal): Promise<EngineResult>
  /** Asks the engine to stop the statement of that id; it need not run. */
  cancel(statementId: string): Promise<void>
  /** Takes no more statements, waits for the running ones at most so long, then ends them. */
  close(patience_ms: number): Promise<void>
}

/**
 * Opens ClickHouse as a library. Each statement gets a session of its own (opening one costs less
 * than a millisecond): sessions run side by side, and none inherits another's settings.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const keeper = openSession(options.path)
  const slots = openStatementSlots({
    running_max: options.statements_max,
    waiting_max: options.waiting_max,
    refusal: (detail) => new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', detail),
  })
  const run = (statement: Statement, signal?: AbortSignal) => {
    const work = async () => {
      if (signal?.aborted) throw new EngineError(394, 'QUERY_WAS_CANCELLED', 'the client has left')
      return runAlone(options.path, statement)
    }
    return isAboutStatements(statement) ? work() : slots.run(work)
  }
  const { bytes } = await run({ text: 'SELECT version()' })
  return {
    version: Buffer.from(bytes).toString('utf8').trim(),
    run,
    cancel: async (id) => {
      await runAlone(options.path, killed(id))
    },
    close: async (patience_ms) => {
      const ended = await slots.close(patience_ms)
      if (!ended) await runAlone(options.path, { text: 'KILL QUERY WHERE 1 ASYNC' })
      keeper.close()
      await drainPending()
    },
  }
}

/** For a machine that has other things to do: a server's defaults take what there is. */
const engineArguments = [
  '--max_server_memory_usage=2147483648',
  // With the default of 1 GiB, that bound leaves each statement one thread.
  '--max_threads_min_free_memory_per_thread=134217728',
  // A table with more parts to change than this many for each of 2 threads waits up to a second.
  '--background_merges_mutations_concurrency_ratio=16',
  '--max_thread_pool_free_size=16',
  '--mark_cache_size=67108864',
  '--primary_index_cache_size=67108864',
  '--index_mark_cache_size=67108864',
  '--query_condition_cache_size=16777216',
  // A server does not take `1` for `SELECT 1`, as the library does.
  '--implicit_select=0',
]

function openSession(path: string): Session {
  try {
    return new Session(path, { connectionArgs: engineArguments })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const detail = `${reason}: it can't be written, or another process holds it`
    throw new EngineError(76, 'CANNOT_OPEN_FILE', detail, cause)
  }
}

async function runAlone(path: string, statement: Statement): Promise<EngineResult> {
  try {
    const { before, text } = prepared(statement)
    const session = openSession(path)
    try {
      if (before !== '') await session.queryAsync(before)
      const result = await session.queryAsync(text, { format: statement.format ?? 'TabSeparated' })
      return { bytes: result.bytes(), rows_read: result.rowsRead, bytes_read: result.bytesRead }
    } finally {
      session.close()
    }
  } catch (cause) {
    throw engineFailure(cause)
  }
}
