import { drainPending, Session } from 'chdb'
import { EngineError, engineFailure } from './engine-error.ts'
import {
  isAboutStatements,
  killStatement,
  openStatementSlots,
  prepareStatement,
  type Statement,
} from './statements.ts'

export type EngineOptions = {
  /** ClickHouse's data folder. The engine locks it, so only one process can use it. */
  path: string
  /** Maximum concurrent statements, below the size of libuv's thread pool: each takes a thread. */
  statements_max: number
  /** Maximum waiting statements. Further statements are rejected. */
  waiting_max: number
  /** Memory of all statements and merges together. */
  memory_bytes_max: number
  /** A configuration file of ClickHouse, such as one that defines clusters. */
  config_file?: string | undefined
}

/** The result of a statement: bytes in its format, and the number of rows and bytes read. */
export type EngineResult = { bytes: Uint8Array; rows_read: number; bytes_read: number }

/** Every method rejects with EngineError. */
export type Engine = {
  readonly version: string
  /** Runs a statement once a slot is free, unless the signal has aborted. */
  run(statement: Statement, signal?: AbortSignal): Promise<EngineResult>
  /** Asks the engine to stop the statement with this id, if it runs. */
  cancel(statementId: string): Promise<void>
  /** Rejects new statements, waits for running ones up to `patience_ms`, then stops them. */
  close(patience_ms: number): Promise<void>
}

/**
 * Opens ClickHouse as a library. Each statement has its own session, which opens in less than a
 * millisecond: sessions run concurrently, and do not inherit each other's settings.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const open = () => openSession(options)
  const keeper = open()
  const slots = openStatementSlots({
    running_max: options.statements_max,
    waiting_max: options.waiting_max,
    refusal: (detail) => new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', detail),
  })
  const run = (statement: Statement, signal?: AbortSignal) => {
    const work = async () => {
      if (signal?.aborted) throw new EngineError(394, 'QUERY_WAS_CANCELLED', 'the client has left')
      return runAlone(open, statement)
    }
    return isAboutStatements(statement) ? work() : slots.run(work)
  }
  const { bytes } = await run({ text: 'SELECT version()' })
  return {
    version: Buffer.from(bytes).toString('utf8').trim(),
    run,
    cancel: async (id) => {
      await runAlone(open, killStatement(id))
    },
    close: async (patience_ms) => {
      const ended = await slots.close(patience_ms)
      if (!ended) await runAlone(open, { text: 'KILL QUERY WHERE 1 ASYNC' })
      keeper.close()
      await drainPending()
    },
  }
}

/** Arguments for a shared machine. The defaults of a server use all resources. */
const engineArguments = [
  // With the default of 1 GiB, the memory bound would leave one thread per statement.
  '--max_threads_min_free_memory_per_thread=134217728',
  // A table with more parts to change than this per thread (of 2) waits up to a second.
  '--background_merges_mutations_concurrency_ratio=16',
  '--max_thread_pool_free_size=16',
  '--mark_cache_size=67108864',
  '--primary_index_cache_size=67108864',
  '--index_mark_cache_size=67108864',
  '--query_condition_cache_size=16777216',
  // The library accepts `1` as `SELECT 1`; a server does not.
  '--implicit_select=0',
]

function openSession({ path, memory_bytes_max, config_file }: EngineOptions): Session {
  try {
    const memory = `--max_server_memory_usage=${memory_bytes_max}`
    const config = config_file === undefined ? [] : [`--config-file=${config_file}`]
    return new Session(path, { connectionArgs: [...config, memory, ...engineArguments] })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const detail = `${reason}: the folder is not writable, or another process uses it`
    throw new EngineError(76, 'CANNOT_OPEN_FILE', detail, cause)
  }
}

async function runAlone(open: () => Session, statement: Statement): Promise<EngineResult> {
  try {
    const { before, text } = prepareStatement(statement)
    const session = open()
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
