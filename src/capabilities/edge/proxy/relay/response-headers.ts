import { createHeaderRoles, type HeaderRoles, removeNamed } from '../call/request-headers.ts'

/** The head of a provider's answer: the headers to forward, and those that the proxy uses. */
export type ResponseHeaders = {
  /** Name, value, name, value, as the provider wrote them, without hop-by-hop headers. */
  forwarded: string[]
  content_type: string
  content_encoding: string
  /** -1 when not declared. */
  content_length: number
  /** The provider's own X-Request-ID. */
  request_id: string
}

type Role = 'strip' | 'connection' | 'type' | 'encoding' | 'length' | 'request_id'

/**
 * Lower-case names of headers that are not simply passed on: hop-by-hop ones, ours, and those by
 * which a provider would change what browsers store for our site, or which pages may read its
 * answers.
 */
const roles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['connection', 'connection'],
  ['content-type', 'type'],
  ['content-encoding', 'encoding'],
  ['content-length', 'length'],
  ['x-request-id', 'request_id'],
  ...[
    'accept-ch',
    'access-control-allow-credentials',
    'access-control-allow-origin',
    'access-control-expose-headers',
    'alt-svc',
    'clear-site-data',
    'keep-alive',
    'nel',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'public-key-pins',
    'report-to',
    'reporting-endpoints',
    'set-cookie',
    'set-cookie2',
    'strict-transport-security',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'x-ingest-request-id',
    'x-trace-id',
  ].map((name): [string, Role] => [name, 'strip']),
])

/** Makes a reader of undici's raw headers. */
export function createResponseHeaderReader(): (raw: RawHeaders) => ResponseHeaders {
  const table = createHeaderRoles(roles)
  return (raw) => readHeaders(raw, table)
}

/** Name, value, name, value. */
export type RawHeaders = readonly (Buffer | string)[]

function readHeaders(raw: RawHeaders, table: HeaderRoles<Role>): ResponseHeaders {
  const headers: ResponseHeaders = {
    forwarded: [],
    content_type: '',
    content_encoding: '',
    content_length: -1,
    request_id: '',
  }
  let connection = ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = text(raw[i])
    const role = table.of(name)
    if (role === 'strip') continue
    const value = text(raw[i + 1])
    if (role === 'connection') connection += `,${value}`
    else headers.forwarded.push(name, value)
    if (role !== undefined) note(headers, role, value)
  }
  if (connection !== '') headers.forwarded = removeNamed(headers.forwarded, connection)
  return headers
}

/** Returns the headers of an answer without those whose name or value has this key. */
export function withoutKey(headers: ResponseHeaders, key: string): ResponseHeaders {
  const forwarded: string[] = []
  for (let i = 0; i < headers.forwarded.length; i += 2) {
    const [name = '', value = ''] = [headers.forwarded[i], headers.forwarded[i + 1]]
    if (!name.includes(key) && !value.includes(key)) forwarded.push(name, value)
  }
  const kept = (value: string) => (value.includes(key) ? '' : value)
  const { content_type, content_encoding, request_id } = headers
  return {
    ...headers,
    forwarded,
    content_type: kept(content_type),
    content_encoding: kept(content_encoding),
    request_id: kept(request_id),
  }
}

function note(headers: ResponseHeaders, role: Role, value: string): void {
  if (role === 'type') headers.content_type = value
  else if (role === 'encoding') headers.content_encoding = value
  else if (role === 'length') headers.content_length = Number(value)
  else if (role === 'request_id') headers.request_id = value
}

function text(part: Buffer | string | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '')
}
