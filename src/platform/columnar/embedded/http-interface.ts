import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { sleep } from '../../../kernel/time.ts'
import type { Engine, EngineResult } from './engine.ts'
import { EngineError, engineErrorText, engineFailure, httpStatusOf } from './engine-error.ts'
import {
  credentialsCheck,
  type HttpStatement,
  httpStatement,
  textBody,
  withBodyFile,
} from './http-request.ts'

export type HttpInterfaceOptions = {
  engine: Engine
  username: string
  password: string
  /** Folder for bodies of binary inserts while the engine reads them. */
  inserts_directory: string
  body_bytes_max: number
  log: (message: string) => void
}

/** Default of ClickHouse's http_max_uri_size. Parameters are in the URL. */
const head_bytes_max = 1024 * 1024
const keepAliveMs = 30_000
const flushPollMs = 5

/**
 * Creates a server with the part of ClickHouse's HTTP interface that `@clickhouse/client` uses.
 * https://clickhouse.com/docs/interfaces/http
 */
export function createHttpInterface(options: HttpInterfaceOptions): Server {
  const settings = { maxHeaderSize: head_bytes_max, keepAliveTimeout: keepAliveMs }
  return createServer(settings, listener(options))
}

/** Listens on loopback. Port 0 picks a free port. Resolves with the port. */
export async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, '127.0.0.1', resolve)
  await promise
  return (server.address() as AddressInfo).port
}

/** Stops listening, runs `finish`, and waits up to `flush_ms` for responses to be sent. */
export async function closeAfter(
  server: Server,
  finish: () => Promise<void>,
  flush_ms: number,
): Promise<void> {
  let closed = false
  server.close(() => {
    closed = true
  })
  await finish()
  const deadline_ms = Date.now() + flush_ms
  while (!closed && Date.now() < deadline_ms) {
    server.closeIdleConnections()
    await sleep(flushPollMs)
  }
}

function listener(options: HttpInterfaceOptions): RequestListener {
  const allowed = credentialsCheck(options.username, options.password)
  return (request, response) => {
    if (request.url === '/ping') {
      response.end('Ok.\n')
      return
    }
    const answered = allowed(request)
      ? answer(options, request, response)
      : Promise.reject(new EngineError(516, 'AUTHENTICATION_FAILED', 'wrong user or password'))
    answered.catch((cause) => answerError(options, response, engineFailure(cause)))
  }
}

async function answer(
  options: HttpInterfaceOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = httpStatement(request, randomUUID)
  const { id } = asked.statement
  response.setHeader('X-ClickHouse-Query-Id', id)
  const left = new AbortController()
  response.once('close', () => {
    // The client has left: stop a read. A write continues.
    if (!response.writableEnded && !isInsert(asked.query)) {
      left.abort()
      options.engine.cancel(id).catch((cause) => options.log(`cancel: ${String(cause)}`))
    }
  })
  const started_ns = process.hrtime.bigint()
  const result = await run(options, request, { ...asked, signal: left.signal })
  const elapsed_ns = process.hrtime.bigint() - started_ns
  response.setHeader('X-ClickHouse-Summary', summary(result, elapsed_ns))
  response.setHeader('X-ClickHouse-Timezone', 'UTC')
  response.setHeader('Content-Type', 'application/octet-stream')
  response.end(result.bytes)
}

function run(
  { engine, inserts_directory, body_bytes_max }: HttpInterfaceOptions,
  request: IncomingMessage,
  { query, binary_insert, statement, signal }: HttpStatement & { signal: AbortSignal },
): Promise<EngineResult> {
  if (!binary_insert) {
    return textBody(request, body_bytes_max).then((body) =>
      engine.run(
        {
          ...statement,
          text: query === '' ? body : body === '' ? query : `${query}\n${body}`,
          carries_rows: isInsert(query === '' ? body : query),
        },
        signal,
      ),
    )
  }
  const { target, format } = binary_insert
  const file = { directory: inserts_directory, name: randomUUID(), bytes_max: body_bytes_max }
  return withBodyFile(request, file, (path) => {
    const params = { ...statement.params, looptrace_rows: path }
    return engine.run({ ...statement, params, text: readFromFile(target, format) })
  })
}

/** Rewrites an insert to read its rows from the file instead of the body. */
function readFromFile(target: string, format: string): string {
  const file = `file({looptrace_rows:String}, '${format}'`
  const [before, after] = target.split(/\bFROM\s+input\s*\(/i)
  if (after !== undefined) return `${before}FROM ${file}, ${after}`
  return `${target} SELECT * FROM ${file})`
}

function isInsert(query: string): boolean {
  return /^\s*INSERT\b/i.test(query)
}

function summary(result: EngineResult, elapsed_ns: bigint): string {
  return JSON.stringify({
    read_rows: String(result.rows_read),
    read_bytes: String(result.bytes_read),
    result_bytes: String(result.bytes.length),
    elapsed_ns: String(elapsed_ns),
  })
}

function answerError(
  { engine }: HttpInterfaceOptions,
  response: ServerResponse,
  error: EngineError,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  response.statusCode = httpStatusOf(error)
  response.setHeader('X-ClickHouse-Exception-Code', error.code)
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  // Otherwise the unread rest of the body would be parsed as the next request.
  response.setHeader('Connection', 'close')
  response.end(engineErrorText(error, engine.version))
}
