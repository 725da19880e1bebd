/**
 * The process of an embedded ClickHouse: chDB with ClickHouse's HTTP interface on loopback.
 * `node server.ts --directory ./data/clickhouse [--port 8123] [--statements 3]`
 * User `looptrace`; the password is in `<directory>/password`, created on the first start. A
 * process of startEmbeddedClickHouse exits with its parent, any other on SIGINT or SIGTERM.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  clearInserts,
  embeddedUsername,
  prepareDataDirectory,
  takeOver,
  writeHolder,
} from './data-directory.ts'
import { openEngine } from './engine.ts'
import { closeAfter, createHttpInterface, listen } from './http-interface.ts'
import { type FromServer, isStopRequest } from './messages.ts'

/** Time for running statements to end, after a stop request and after the death of the parent. */
const patienceAskedMs = 10_000
const patienceOrphanedMs = 1_000
/** Time for responses to be sent after that. */
const flush_ms = 1_000
/** Time for the engine to close its files after that. Its data also survives a kill. */
const closing_ms = 2_000

const waiting_max = 256
const body_bytes_max = 256 * 1024 * 1024

const supervised = process.channel !== undefined

await serve().catch((cause: unknown) => {
  const message = cause instanceof Error ? cause.message : String(cause)
  tell({ event: 'failed', message })
  process.exitCode = 1
  process.disconnect?.()
})

async function serve(): Promise<void> {
  const { directory, port, ...limits } = options()
  const patience = Promise.withResolvers<number>()
  listenForStop(patience.resolve)
  const data = await prepareDataDirectory(directory)
  await takeOver(data.pid_file, [import.meta.filename, directory])
  const engine = await openEngine({ path: data.engine, ...limits, waiting_max })
  await writeHolder(data.pid_file, {
    pid: process.pid,
    parent_pid: supervised ? process.ppid : null,
  })
  await clearInserts(data)
  const server = createHttpInterface({
    engine,
    username: embeddedUsername,
    password: data.password,
    inserts_directory: data.inserts,
    body_bytes_max,
    log: (message) => process.stderr.write(`${message}\n`),
  })
  tell({ event: 'ready', port: await listen(server, port) })
  const patience_ms = await patience.promise
  setTimeout(
    () => process.kill(process.pid, 'SIGKILL'),
    patience_ms + flush_ms + closing_ms,
  ).unref()
  await closeAfter(server, () => engine.close(patience_ms), flush_ms)
  // All work is done; threads of the engine may still run.
  process.exit(0)
}

function options() {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      port: { type: 'string', default: '0' },
      // libuv has 4 threads unless UV_THREADPOOL_SIZE is set, and files need one too.
      statements: { type: 'string', default: '3' },
      'memory-bytes': { type: 'string', default: `${2 * 2 ** 30}` },
      'config-file': { type: 'string' },
    },
  })
  if (values.directory === undefined) throw new TypeError('--directory is missing')
  return {
    directory: resolve(values.directory),
    port: Number(values.port),
    statements_max: Number(values.statements),
    memory_bytes_max: Number(values['memory-bytes']),
    config_file: values['config-file'],
  }
}

/**
 * Listens for the stop. A supervised child ignores Ctrl-C, because its parent may still write rows.
 */
function listenForStop(end: (patience_ms: number) => void): void {
  process.stderr.on('error', () => undefined)
  const unlessSupervised = () => {
    if (!process.connected) end(patienceAskedMs)
  }
  process.on('SIGINT', unlessSupervised)
  process.on('SIGTERM', unlessSupervised)
  process.on('disconnect', () => end(patienceOrphanedMs))
  process.on('message', (message) => {
    if (isStopRequest(message)) end(patienceAskedMs)
  })
}

function tell(message: FromServer): void {
  if (supervised) process.send?.(message)
  else process.stdout.write(`${JSON.stringify(message)}\n`)
}
