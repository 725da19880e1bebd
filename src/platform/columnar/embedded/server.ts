/**
 * The process of an embedded ClickHouse: its HTTP interface on chDB, on loopback.
 * `node server.ts --directory ./data/clickhouse [--port 8123] [--statements 3]`
 * User `looptrace`; the password is in `<directory>/password`, made on the first start.
 * Started by startEmbeddedClickHouse it ends with its parent; on its own, on SIGINT or SIGTERM.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { clearInserts, embeddedUsername, prepareDataDirectory } from './data-directory.ts'
import { openEngine } from './engine.ts'
import { closeAfter, createHttpInterface, listen } from './http-interface.ts'
import { type FromServer, isStopRequest } from './messages.ts'
import { takeOver, writeHolder } from './take-over.ts'

/** Running statements get so long to end: when asked to stop, and when the parent is gone. */
const patienceAsked_ms = 10_000
const patienceOrphaned_ms = 1_000
/** Then what was answered may get out. */
const flush_ms = 1_000
/** After all that: for the engine to close its files. Its data survives a kill as well. */
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
  const { directory, port, statements_max } = options()
  const patience = Promise.withResolvers<number>()
  listenForTheEnd(patience.resolve)
  const data = await prepareDataDirectory(directory)
  await takeOver(data.pid_file, [import.meta.filename, directory])
  const engine = await openEngine({ path: data.engine, statements_max, waiting_max })
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
  // Threads of the engine may linger; everything of ours is done.
  process.exit(0)
}

function options() {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      port: { type: 'string', default: '0' },
      // libuv has 4 threads unless UV_THREADPOOL_SIZE says more; files need one too.
      statements: { type: 'string', default: '3' },
    },
  })
  if (values.directory === undefined) throw new TypeError('--directory is missing')
  return {
    directory: resolve(values.directory),
    port: Number(values.port),
    statements_max: Number(values.statements),
  }
}

/** A terminal's Ctrl-C reaches the child too, but the parent still has rows to write. */
function listenForTheEnd(end: (patience_ms: number) => void): void {
  process.stderr.on('error', () => undefined)
  const unlessSupervised = () => {
    if (!process.connected) end(patienceAsked_ms)
  }
  process.on('SIGINT', unlessSupervised)
  process.on('SIGTERM', unlessSupervised)
  process.on('disconnect', () => end(patienceOrphaned_ms))
  process.on('message', (message) => {
    if (isStopRequest(message)) end(patienceAsked_ms)
  })
}

function tell(message: FromServer): void {
  if (supervised) process.send?.(message)
  else process.stdout.write(`${JSON.stringify(message)}\n`)
}
