import type { IncomingMessage } from 'node:http'
import { EngineError } from './engine-error.ts'
import type { Statement } from './prepared-statement.ts'

/** A request as the HTTP interface of ClickHouse takes it: what to run and what its body is. */
export type HttpStatement = {
  query: string
  /** Rows of an INSERT in a binary format: its target (table and columns) and that format. */
  binary_insert: { target: string; format: string } | undefined
  statement: Omit<Statement, 'text'> & { id: string }
}

/** Parameters of the interface itself that make no setting of the engine. */
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

/** Formats whose bytes are no text, so that they can't stand in a statement. */
const binaryFormat = /^(?:RowBinary\w*|Native|Parquet|Arrow|ArrowStream|ORC|Avro|MsgPack|BSON\w+)$/

const insertText = /^\s*(INSERT\s+INTO\s+.+?)\s+FORMAT\s+(\w+)\s*;?\s*$/is

/** Reads the URL and the headers. Throws EngineError for what this interface does not do. */
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
      ...named(searchParams),
      ...(database && { database }),
      ...(answerFormat && { format: answerFormat }),
      id: searchParams.get('query_id') || newId(),
    },
  }
}

function named(searchParams: URLSearchParams) {
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
