import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  type ColumnarServer,
  type EmbeddedClickHouse,
  migrateColumnar,
  openColumnar,
  type QueryParams,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { usageOf } from '../process-usage.ts'

const run = promisify(execFile)

/** A ClickHouse in a separate process and folder, migrated. */
export type BenchEngine = {
  readonly columnar: ColumnarServer
  readonly directory: string
  /** The settings of a role that uses it; they change after `forget`. */
  settings(): Record<string, string>
  /** Processor time of its process so far, in ms; continues over restarts. */
  cpu_ms(): Promise<number>
  /** Runs a statement and returns how many rows ClickHouse read for it. */
  rowsRead(sql: string, params: QueryParams): Promise<number>
  /** Restarts the process and drops its files from the system's cache. */
  forget(): Promise<void>
  stop(): Promise<void>
}

const statement_ms_max = 3_600_000

export async function startBenchEngine(): Promise<BenchEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-store-'))
  const logger = createLogger({ role: 'bench', level: 'error' })
  let server = await startEmbeddedClickHouse({ directory, logger })
  let columnar = open(server)
  let spent_ms = 0
  await migrateColumnar({ columnar, logger })
  const own_ms = async () => (await usageOf(server.pid() ?? 0)).cpu_ms
  return {
    get columnar() {
      return columnar
    },
    directory,
    settings: () => settingsFor(server),
    cpu_ms: async () => spent_ms + (await own_ms()),
    rowsRead: (sql, params) => rowsRead(columnar, sql, params),
    forget: async () => {
      spent_ms += await own_ms()
      await columnar.close()
      await server.stop()
      await forgetFiles(directory)
      server = await startEmbeddedClickHouse({ directory, logger })
      columnar = open(server)
      // The load left the last minutes unmerged; a start merges them.
      await columnar.command('SYSTEM STOP MERGES observations')
    },
    stop: async () => {
      await columnar.close()
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const database = 'bench'

function open({ url, username, password }: EmbeddedClickHouse): ColumnarServer {
  return openColumnar({
    url,
    username,
    password,
    database,
    request_timeout_ms: statement_ms_max,
    connections_max: 8,
    compression: false,
    logger: createLogger({ role: 'bench', level: 'error' }),
  })
}

function settingsFor({ url, username, password }: EmbeddedClickHouse): Record<string, string> {
  return {
    LOOPTRACE_CLICKHOUSE_URL: url,
    LOOPTRACE_CLICKHOUSE_USERNAME: username,
    LOOPTRACE_CLICKHOUSE_PASSWORD: password,
    LOOPTRACE_CLICKHOUSE_DATABASE: database,
  }
}

/** The library reports the rows of the answer; the engine counts all rows that were read. */
async function rowsRead(
  columnar: ColumnarServer,
  sql: string,
  params: QueryParams,
): Promise<number> {
  const before = await selectedRows(columnar)
  await columnar.query(sql, params)
  return (await selectedRows(columnar)) - before
}

async function selectedRows(columnar: ColumnarServer): Promise<number> {
  const [row] = await columnar.query<{ value: string }>(
    "SELECT value FROM system.events WHERE event = 'SelectedRows'",
  )
  return Number(row?.value ?? 0)
}

/** `dd` with `nocache` and nothing to copy makes the system drop a file from its cache. */
async function forgetFiles(directory: string): Promise<void> {
  const drop = 'for file; do dd if="$file" iflag=nocache count=0 status=none; done'
  await run('find', [directory, '-type', 'f', '-exec', 'sh', '-c', drop, 'sh', '{}', '+'])
}
