import { createHeaderRoles } from './header-roles.ts'

/** What the proxy reads of a request's headers, and those that go on to the provider. */
export type RequestHeaders = {
  api_key: string
  authorization: string
  content_type: string
  /** -1 when not declared: the body is chunked, or there is none. */
  content_length: number
  provider: string
  task_id: string
  task_name: string
  conversation_id: string
  user_id: string
  traceparent: string
  tracestate: string
  baggage: string
  /** Name, value, name, value, as the client wrote them. */
  forwarded: string[]
  /** A header of ours that came more than once; empty when none did. */
  repeated: string
}

type Field = Exclude<keyof RequestHeaders, 'forwarded' | 'repeated' | 'content_length'>
type Role =
  | { kind: 'forward' | 'strip' | 'connection' | 'length' }
  /** `sent`: goes on to the provider too. `once`: may come only once. */
  | { kind: 'field'; field: Field; sent: boolean; once: boolean }

const forward: Role = { kind: 'forward' }
const strip: Role = { kind: 'strip' }

function ours(field: Field): Role {
  return { kind: 'field', field, sent: false, once: true }
}

/**
 * Lower-case names that mean something here; all others are forwarded. Hop-by-hop headers
 * (RFC 9110, 7.6.1) end at this hop, and so do those that undici writes itself.
 */
const roles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['x-api-key', ours('api_key')],
  ['x-provider', ours('provider')],
  ['x-task-id', ours('task_id')],
  ['x-task-name', ours('task_name')],
  ['x-conversation-id', ours('conversation_id')],
  ['x-user-id', ours('user_id')],
  ['authorization', { kind: 'field', field: 'authorization', sent: true, once: true }],
  ['content-type', { kind: 'field', field: 'content_type', sent: true, once: true }],
  ['traceparent', { kind: 'field', field: 'traceparent', sent: true, once: false }],
  ['tracestate', { kind: 'field', field: 'tracestate', sent: true, once: false }],
  ['baggage', { kind: 'field', field: 'baggage', sent: false, once: false }],
  ['connection', { kind: 'connection' }],
  ['content-length', { kind: 'length' }],
  ...[
    'accept-encoding',
    'expect',
    'host',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ].map((name): [string, Role] => [name, strip]),
])

/** Makes a reader of `rawHeaders`. */
export function createRequestHeaderReader(): (rawHeaders: readonly string[]) => RequestHeaders {
  const table = createHeaderRoles(roles)
  return (rawHeaders) => readHeaders(rawHeaders, (name) => table.of(name) ?? unnamedRole(name))
}

/** X-Task- headers are ours, known or not. */
function unnamedRole(name: string): Role {
  const isOurs = name.charCodeAt(2) === lowerT || name.charCodeAt(2) === upperT
  return isOurs && /^x-task-/i.test(name) ? strip : forward
}

const lowerT = 0x74
const upperT = 0x54

function readHeaders(
  rawHeaders: readonly string[],
  roleOf: (name: string) => Role,
): RequestHeaders {
  const headers = noHeaders()
  let connection = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    const role = roleOf(name)
    if (role.kind === 'forward') headers.forwarded.push(name, value)
    else if (role.kind === 'field') {
      readField(headers, role, value, name)
      if (role.sent) headers.forwarded.push(name, value)
    } else if (role.kind === 'connection') connection += `,${value}`
    else if (role.kind === 'length') headers.content_length = Number(value)
  }
  if (connection !== '') headers.forwarded = withoutNamed(headers.forwarded, connection)
  return headers
}

function noHeaders(): RequestHeaders {
  return {
    api_key: '',
    authorization: '',
    content_type: '',
    content_length: -1,
    provider: '',
    task_id: '',
    task_name: '',
    conversation_id: '',
    user_id: '',
    traceparent: '',
    tracestate: '',
    baggage: '',
    forwarded: [],
    repeated: '',
  }
}

function readField(
  headers: RequestHeaders,
  { field, once }: { field: Field; once: boolean },
  value: string,
  name: string,
): void {
  if (headers[field] === '') headers[field] = value
  else if (once) headers.repeated = name
  else headers[field] += `, ${value}`
}

/**
 * Takes those out that a Connection header names: they are for this hop only. `connection` is the
 * values of all Connection headers, each after a comma.
 */
export function withoutNamed(flat: string[], connection: string): string[] {
  if (connection === ',keep-alive' || connection === ',close') return flat
  const named = new Set(connection.split(',').map((token) => token.trim().toLowerCase()))
  const kept: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] ?? ''
    if (!named.has(name.toLowerCase())) kept.push(name, flat[i + 1] ?? '')
  }
  return kept
}
