import { isUtf8 } from 'node:buffer'
import { problem } from '../../../../kernel/problem.ts'
import { holdsProjectKey } from '../../../../kernel/project-key-text.ts'
import { agentHeaderNames } from './agent-headers.ts'
import { isRemovedPrefix, removedHeaders } from './removed-headers.ts'

/** The request headers that the proxy uses, and those that it forwards to the provider. */
export type RequestHeaders = {
  /** Values of the headers that may carry keys, ours or the provider's. */
  api_key: string
  looptrace_key: string
  authorization: string
  goog_api_key: string
  azure_api_key: string
  content_type: string
  /** -1 when not declared: the body is chunked, or empty. */
  content_length: number
  provider: string
  task_id: string
  task_name: string
  conversation_id: string
  user_id: string
  release: string
  traceparent: string
  tracestate: string
  baggage: string
  /** Name, value, name, value, as the client wrote them. */
  forwarded: string[]
  /** Headers that tell agents and their sessions: lower-case name, value, and so on. */
  agent: string[]
  /** A header of Looptrace that came more than once; empty if all came once. */
  repeated: string
  /** Headers that came without a value. */
  blank: readonly Field[]
}

type Key = 'api_key' | 'looptrace_key' | 'authorization' | 'goog_api_key' | 'azure_api_key'
type Field = Exclude<
  keyof RequestHeaders,
  'forwarded' | 'agent' | 'repeated' | 'blank' | 'content_length'
>
type Role =
  | { kind: 'forward' | 'strip' | 'connection' | 'length' }
  /** It is forwarded, and read under its lower-case name. */
  | { kind: 'agent'; name: string }
  /** `sent`: it is forwarded too. `once`: it may come only once. `key`: it may hold a project key. */
  | { kind: 'field'; field: Field; sent: boolean; once: boolean; key?: true }

const forward: Role = { kind: 'forward' }
const strip: Role = { kind: 'strip' }

function ours(field: Exclude<Field, Key>): Role {
  return { kind: 'field', field, sent: false, once: true }
}

function keyOf(field: Key, { sent, once }: { sent: boolean; once: boolean }): Role {
  return { kind: 'field', field, sent, once, key: true }
}

/** Roles of headers that are not simply forwarded, by their lower-case names. */
const roles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['x-api-key', keyOf('api_key', { sent: false, once: true })],
  ['x-looptrace-key', keyOf('looptrace_key', { sent: false, once: false })],
  ['authorization', keyOf('authorization', { sent: true, once: true })],
  ['x-goog-api-key', keyOf('goog_api_key', { sent: false, once: false })],
  ['api-key', keyOf('azure_api_key', { sent: false, once: false })],
  ['x-provider', ours('provider')],
  ['x-task-id', ours('task_id')],
  ['x-task-name', ours('task_name')],
  ['x-conversation-id', ours('conversation_id')],
  ['x-user-id', ours('user_id')],
  ['x-task-release', ours('release')],
  ['content-type', { kind: 'field', field: 'content_type', sent: true, once: true }],
  // `addTraceparent` sends another, so that the spans of a provider are below the record.
  ['traceparent', { kind: 'field', field: 'traceparent', sent: false, once: false }],
  ['tracestate', { kind: 'field', field: 'tracestate', sent: true, once: false }],
  ['baggage', { kind: 'field', field: 'baggage', sent: false, once: false }],
  ['connection', { kind: 'connection' }],
  ['content-length', { kind: 'length' }],
  ...agentHeaderNames.map((name): [string, Role] => [name, { kind: 'agent', name }]),
  ...removedHeaders.map((name): [string, Role] => [name, strip]),
])

/** Makes a reader of node's `rawHeaders`. */
export function createRequestHeaderReader(): (rawHeaders: readonly string[]) => RequestHeaders {
  const table = createHeaderRoles(roles)
  return (rawHeaders) =>
    readHeaders(rawHeaders, (name, value) => {
      const role = table.of(name) ?? unnamedRole(name)
      // A project key in any other header goes neither to the provider nor into a record.
      const isPlace = role.kind === 'field' && role.key === true
      return !isPlace && holdsProjectKey(value) ? strip : role
    })
}

function unnamedRole(name: string): Role {
  return isRemovedPrefix(name) ? strip : forward
}

function readHeaders(
  rawHeaders: readonly string[],
  roleOf: (name: string, value: string) => Role,
): RequestHeaders {
  const headers = noHeaders()
  let connection = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    const role = roleOf(name, value)
    if (role.kind === 'connection') connection += `,${value}`
    else if (role.kind === 'length') headers.content_length = Number(value)
    else takeHeader(headers, role, name, value)
  }
  if (connection !== '') headers.forwarded = removeNamed(headers.forwarded, connection)
  return headers
}

function takeHeader(headers: RequestHeaders, role: Role, name: string, value: string): void {
  if (role.kind === 'agent') headers.agent.push(role.name, value)
  if (role.kind === 'field') readField(headers, role, value, name)
  const isSent = role.kind === 'field' ? role.sent : role.kind !== 'strip'
  if (isSent) headers.forwarded.push(name, value)
}

const none: readonly Field[] = []

function noHeaders(): RequestHeaders {
  return {
    api_key: '',
    looptrace_key: '',
    authorization: '',
    goog_api_key: '',
    azure_api_key: '',
    content_type: '',
    content_length: -1,
    provider: '',
    task_id: '',
    task_name: '',
    conversation_id: '',
    user_id: '',
    release: '',
    traceparent: '',
    tracestate: '',
    baggage: '',
    forwarded: [],
    agent: [],
    repeated: '',
    blank: none,
  }
}

function readField(
  headers: RequestHeaders,
  { field, once }: { field: Field; once: boolean },
  value: string,
  name: string,
): void {
  if (once && headers.blank.includes(field)) headers.repeated = name
  if (headers[field] !== '') {
    if (once) headers.repeated = name
    else headers[field] += `, ${value}`
    return
  }
  headers[field] = value
  if (value === '') headers.blank = [...headers.blank, field]
}

/**
 * Removes the headers that a Connection header names, which are for this hop only. `connection` is
 * the values of all Connection headers, each after a comma.
 */
export function removeNamed(flat: string[], connection: string): string[] {
  if (connection === ',keep-alive' || connection === ',close') return flat
  const named = new Set(connection.split(',').map((token) => token.trim().toLowerCase()))
  const kept: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] ?? ''
    if (!named.has(name.toLowerCase())) kept.push(name, flat[i + 1] ?? '')
  }
  return kept
}

/** The values of the agent-context headers of a call; empty when absent. */
export type CallContext = {
  task_id: string
  task_name: string
  conversation_id: string
  user_id: string
  release: string
}

export const noContext: CallContext = {
  task_id: '',
  task_name: '',
  conversation_id: '',
  user_id: '',
  release: '',
}

/** Maximum characters of a context header. */
const maxContextCharacters = 256

/** Reads the agent-context headers. Throws `invalid_request`, naming the header. */
export function readContext(headers: RequestHeaders): CallContext {
  return {
    task_id: readContextValue('X-Task-ID', headers.task_id),
    task_name: readContextValue('X-Task-Name', headers.task_name),
    conversation_id: readContextValue('X-Conversation-ID', headers.conversation_id),
    user_id: readContextValue('X-User-ID', headers.user_id),
    release: readContextValue('X-Task-Release', headers.release),
  }
}

const printableAscii = /^[\x20-\x7e]*$/

function readContextValue(name: string, sent: string): string {
  if (sent === '') return ''
  const value = (printableAscii.test(sent) ? sent : decodeHeader(sent)).trim()
  if (value.length > maxContextCharacters) {
    throw invalid(name, `got ${value.length} characters, expected at most ${maxContextCharacters}`)
  }
  if (/\p{Cc}/u.test(value)) throw invalid(name, 'it contains a control character')
  return value
}

function invalid(name: string, fault: string) {
  const detail = `${name}: ${fault}`
  return problem('invalid_request', { detail, faults: [{ pointer: name, detail }] })
}

/** Decodes text that is valid UTF-8, because node reads header bytes as Latin-1. */
function decodeHeader(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1
}

/**
 * A table from header names to roles. Most names have no role; a filter on length and first letter
 * rejects those without hashing or lower-casing them.
 */
export type HeaderRoles<Role> = {
  /** Returns the role of a name in any spelling, or undefined. */
  of(name: string): Role | undefined
}

/** Spellings remembered, so that each is lower-cased only once. */
const spellings_max = 512
/** Names of this length or more share one slot of the filter. */
const length_max = 63

/** Makes the table from lower-case names. Each table remembers spellings of its own. */
export function createHeaderRoles<Role>(roles: ReadonlyMap<string, Role>): HeaderRoles<Role> {
  const spelled = new Map<string, Role | undefined>()
  const filter = new Uint8Array((length_max + 1) * 32)
  for (const name of roles.keys()) filter[slotOf(name)] = 1
  return {
    of(name) {
      if (filter[slotOf(name)] === 0) return undefined
      const known = spelled.get(name)
      if (known !== undefined) return known
      const role = roles.get(name.toLowerCase())
      if (role !== undefined && spelled.size < spellings_max) spelled.set(name, role)
      return role
    },
  }
}

/** The low five bits of the first letter are the same in both cases. */
function slotOf(name: string): number {
  return Math.min(name.length, length_max) * 32 + (name.charCodeAt(0) & 31)
}
