import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { newId } from '../../../src/kernel/ids.ts'
import { managedByParameter } from '../../../src/model/managed-by.ts'

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

/** The routes of incident rules and channels for an operator, in memory, with faults on demand. */
export type IncidentService = AsyncDisposable & {
  url: string
  /** Stored objects by id; tests change them as another caller would. */
  rules: Map<string, Json>
  channels: Map<string, Json>
  /** Deliveries by channel id, the newest first. */
  deliveries: Map<string, Json[]>
  /** All requests so far: `POST channels`, `PUT rules`. */
  asked: string[]
  /** Answers with these statuses and bodies before anything else, one for each request. */
  refusals: { on: string; status: number; body: Json }[]
}

const root = '/api/v2/observability/incidents/'
const secretFields = ['secret', 'token', 'webhook_url', 'routing_key', 'authorization']

/** Starts the service. */
export async function startIncidentService(): Promise<IncidentService> {
  const state = {
    rules: new Map<string, Json>(),
    channels: new Map<string, Json>(),
    deliveries: new Map<string, Json[]>(),
    asked: [] as string[],
    refusals: [] as IncidentService['refusals'],
  }
  const server = createServer((request, response) => void serve(state, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type State = Omit<IncidentService, 'url' | typeof Symbol.asyncDispose>
type Reply = { status: number; body?: Json }
type Call = {
  method: string
  id: string | undefined
  query: URLSearchParams
  body: Json
  project_id: string
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://service')
  const [noun = '', id, part] = pathname.slice(root.length).split('/')
  const { method = '' } = request
  const body = request.headers['content-type'] === undefined ? undefined : await json(request)
  const project_id = String(request.headers['x-project-id'])
  const what = `${method} ${part ?? noun}`
  state.asked.push(what)
  const reply = (): Reply => {
    const at = state.refusals.findIndex(({ on }) => on === what)
    const [refusal] = at < 0 ? [] : state.refusals.splice(at, 1)
    if (refusal !== undefined) return refusal
    if (part === 'deliveries')
      return { status: 200, body: { deliveries: state.deliveries.get(id ?? '') ?? [] } }
    const call = { method, id, query, body, project_id }
    const if_match = request.headers['if-match']
    if (noun === 'rules') return answer(state.rules, { ...call, if_match }, rules)
    return answer(state.channels, { ...call, if_match }, channels)
  }
  const { status, body: sent } = reply()
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(sent === undefined ? undefined : JSON.stringify(sent))
}

type Collection = {
  noun: string
  id: string
  /** Completes what is stored. */
  toStored(body: Json, before: Json): Json
  toReply(stored: Json): Json
}

const channels: Collection = {
  ...{ noun: 'channel', id: 'channel_id' },
  toStored: ({ managed_by, ...body }, before) => {
    const sent = Object.values(body).flatMap((section) =>
      typeof section === 'object' && section !== null ? Object.entries(section) : [],
    )
    const given = sent.filter(([field]) => secretFields.includes(field))
    return { ...body, managed_by, values: { ...before?.values, ...Object.fromEntries(given) } }
  },
  toReply: ({ values, project_id: _, ...stored }) => ({
    ...withoutSecrets(stored),
    disabled_reason: stored.disabled_reason ?? null,
    secrets: Object.fromEntries(Object.keys(values).map((field) => [field, { set: true }])),
  }),
}

function withoutSecrets(stored: Json): Json {
  return JSON.parse(JSON.stringify(stored), (field, value) =>
    secretFields.includes(field) ? undefined : value,
  )
}

const rules: Collection = {
  ...{ noun: 'incident_rule', id: 'rule_id' },
  toStored: (body, before) => ({
    ...body,
    evaluation: before?.evaluation ?? notEvaluated,
    warnings: [],
    effective_selector: body.selector,
  }),
  toReply: ({ project_id: _, ...stored }) => stored,
}

/** The evaluation of a rule that was stored a moment ago. */
const notEvaluated = {
  ...{ rule_version: 0, last_slot: null, evaluated_at: null, groups: 0, overflow: 0 },
  ...{ open_incidents: 0, firing: false, healthy: true, partial: false, lag_ms: 0, gap: null },
  last_error: null,
}

function answer(
  stored: Map<string, Json>,
  call: Call & { if_match: string | undefined },
  collection: Collection,
): Reply {
  const { method, id, query, body, project_id, if_match } = call
  const { noun, toReply } = collection
  const inProject = [...stored.values()].filter((one) => one.project_id === project_id)
  const before = id === undefined ? undefined : stored.get(id)
  const declared = managedByParameter.safeParse(query.get('managed_by') ?? '').data
  if (method === 'GET' && id === undefined) {
    const own = inProject.filter(({ managed_by }) => isSame(managed_by, declared)).map(toReply)
    return {
      status: 200,
      body: { [`${noun.split('_').at(-1)}s`]: own, total: own.length, next_cursor: null },
    }
  }
  const named = inProject.find(({ name }) => name === body?.name)
  if (named !== undefined && named !== before) {
    return refuse(409, 'name_taken', `name: ${body.name} is in use`)
  }
  if (method === 'POST') return { status: 201, body: toReply(put(stored, { call, collection })) }
  if (before?.project_id !== project_id) return refuse(404, `${noun}_not_found`, 'there is none')
  if (method === 'DELETE') return remove(stored, { before, declared, query })
  if (if_match !== `"${before.version}"`) return refuse(412, 'precondition_failed', 'changed')
  return { status: 200, body: toReply(put(stored, { call, collection })) }
}

function remove(
  stored: Map<string, Json>,
  { before, declared, query }: { before: Json; declared: Json; query: URLSearchParams },
): Reply {
  if (!isSame(before.managed_by, declared)) return refuse(409, 'managed_by_kubernetes', 'another')
  if (query.get('retain') === 'true') before.managed_by = null
  else stored.delete(before.rule_id ?? before.channel_id)
  return { status: 204 }
}

function put(
  stored: Map<string, Json>,
  { call: { id = newId(), body, project_id }, collection }: { call: Call; collection: Collection },
): Json {
  const before = stored.get(id)
  const version = (before?.version ?? 0) + 1
  const next = { ...collection.toStored(body, before), [collection.id]: id, version, project_id }
  stored.set(id, next)
  return next
}

function isSame(managed_by: Json, declared: Json): boolean {
  const fields = ['kind', 'namespace', 'name', 'installation']
  return managed_by !== null && fields.every((field) => managed_by?.[field] === declared?.[field])
}

const refuse = (status: number, code: string, detail: string): Reply => ({
  status,
  body: { status, code, detail },
})
