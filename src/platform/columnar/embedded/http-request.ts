import { createHash, timingSafeEqual } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'
import type { Statement } from './statements.ts'

/** A request of ClickHouse's HTTP interface: the statement, and the meaning of the body. */
export type HttpStatement = {
  query: string
  /** For an INSERT in a binary format: its target (table and columns) and the format. */
  binary_insert: { target: string; format: string } | undefined
  statement: Omit<Statement, 'text'> & { id: string }
}

/** Parameters of the interface that are not settings of the engine. */
const interfaceParameters: ReadonlySet<string> = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'wait_end_of_query',
  'buffer_size',
  'compress',
  'decompress',
  'session_timeout',
  'session_check',
])

/** Binary formats, whose bytes cannot be part of a statement's text. */
const binaryFormat = /^(?:RowBinary\w*|Native|Parquet|Arrow|ArrowStream|ORC|Avro|MsgPack|BSON\w+)$/

const insertText = /^\s*(INSERT\s+INTO\s+.+?)\s+FORMAT\s+(\w+)\s*;?\s*$/is

/** Parses the URL and the headers. Throws EngineError for unsupported features. */
export function httpStatement(request: IncomingMessage, newId: () => string): HttpStatement {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
  refuseUnsupported(request, searchParams)
  const query = searchParams.get('query') ?? ''
  const insert = insertText.exec(query)
  const [, target = '', format = ''] = insert ?? []
  const database = searchParams.get('database') ?? header(request, 'x-clickhouse-database')
  const answerFormat = searchParams.get('default_format') ?? header(request, 'x-clickhouse-format')
  return {
    query,
    binary_insert: insert && binaryFormat.test(format) ? { target, format } : undefined,
    statement: {
      ...splitParameters(searchParams),
      ...(database && { database }),
      ...(answerFormat && { format: answerFormat }),
      id: searchParams.get('query_id') || newId(),
    },
  }
}

function splitParameters(searchParams: URLSearchParams) {
  const params: Record<string, string> = {}
  const settings: Record<string, string> = {}
  for (const [name, value] of searchParams) {
    if (name.startsWith('param_')) params[name.slice('param_'.length)] = value
    else if (!interfaceParameters.has(name)) settings[name] = value
  }
  return { params, settings }
}

function refuseUnsupported(request: IncomingMessage, searchParams: URLSearchParams): void {
  const refused = (what: string) =>
    new EngineError(48, 'NOT_IMPLEMENTED', `${what} is not supported by the embedded server`)
  if (searchParams.has('session_id')) throw refused('session_id')
  const encoding = header(request, 'content-encoding')
  if (encoding && encoding !== 'identity') throw refused(`content-encoding ${encoding}`)
  if (header(request, 'content-type')?.startsWith('multipart/')) throw refused('a multipart body')
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Reads a body as text. Rejects with EngineError when it is too long. */
export async function textBody(request: IncomingMessage, bytes_max: number): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of limitBytes(request, bytes_max)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Writes a body to a file, runs `work` with its path, and removes the file. The engine reads binary
 * rows from it, because chDB accepts statements as text only. The file is never synced, so it stays
 * in memory, and a synchronous write is cheaper than a hand-over to libuv's threads.
 */
export async function withBodyFile<T>(
  request: IncomingMessage,
  options: { directory: string; name: string; bytes_max: number },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(options.directory, options.name)
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      for await (const chunk of limitBytes(request, options.bytes_max)) writeSync(file, chunk)
    } finally {
      closeSync(file)
    }
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}

async function* limitBytes(request: IncomingMessage, bytes_max: number): AsyncGenerator<Buffer> {
  let length_bytes = 0
  for await (const chunk of request) {
    length_bytes += chunk.length
    if (length_bytes > bytes_max) {
      throw new EngineError(307, 'TOO_MANY_BYTES', `the body is longer than ${bytes_max} bytes`)
    }
    yield chunk
  }
}

/** Creates a check of the user and password of a request: basic auth or ClickHouse's headers. */
export function credentialsCheck(
  username: string,
  password: string,
): (request: IncomingMessage) => boolean {
  const expected = digest(`${username}:${password}`)
  return (request) => timingSafeEqual(digest(credentialsOf(request)), expected)
}

function credentialsOf({ headers }: IncomingMessage): string {
  const user = headers['x-clickhouse-user']
  if (user !== undefined) return `${user}:${headers['x-clickhouse-key'] ?? ''}`
  const [scheme, encoded = ''] = (headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'basic') return ''
  return Buffer.from(encoded, 'base64').toString('utf8')
}

/** Hashes the text, because the comparison needs equal lengths. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
