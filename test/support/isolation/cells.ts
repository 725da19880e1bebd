import { z } from 'zod'
import { auditOf, type Route } from '../../../src/platform/http/index.ts'
import type { Json as Schema } from '../../../src/platform/http/json-schema.ts'
import { bodyOf, queryOf } from './bodies.ts'
import { type IdField, idFields, pointerOf, sampleWith } from './id-fields.ts'
import { marker } from './marker.ts'
import type { Victim } from './victim.ts'
import type { Method, Reply, Who, World } from './world.ts'

/** A call that names an object of the victim, in one place of the request. */
export type Cell = {
  route: Route
  /** Where the id stands: `path run_id`, `body /notify/0`, `query user_id`. */
  where: string
  id: string
  /** Builds the request with the victim's id, or with one that never existed. */
  ask(id: string, own: Readonly<Record<string, string>>): Asked
}
type Asked = { path: string; body?: unknown; project_id?: string }

/** Returns the cells of a route: one for each id in its path, query and body. */
export function cellsOf(route: Route, { ids }: Victim): Cell[] {
  const names = [...route.url.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name)
  const inPath = names
    .filter((name) => name !== 'version')
    .map((name) => ({
      ...{ route, where: `path ${name}`, id: idFor(ids, route, name) },
      ask: (id: string, own: Own) => ({
        path: `${pathOf(route, { ...all(ids, route), ...own, [name]: id })}${queryOf(route, own)}`,
        ...withBody(route, bodyOf(route)),
      }),
    }))
  const inQuery = fieldsOf(route.query).map((field) => ({
    ...{ route, where: `query ${field.name}`, id: foreignId(ids, field) },
    ask: (id: string, own: Own) => ({
      path: [
        pathOf(route, { ...all(ids, route), ...own }),
        queryOf(route, own, { [field.name]: id }),
      ].join(''),
      ...withBody(route, bodyOf(route)),
    }),
  }))
  const inBody = fieldsOf(route.body).map((field) => ({
    ...{ route, where: `body ${pointerOf(field)}`, id: foreignId(ids, field) },
    ask: (id: string, own: Own) => ({
      path: `${pathOf(route, { ...all(ids, route), ...own })}${queryOf(route, own)}`,
      body: { ...sampled(route, field, id), ...onlyMissing(route, field) },
    }),
  }))
  return [...inPath, ...inQuery, ...inBody, ...inHeader(route, ids)]
}

type Own = Readonly<Record<string, string>>

/** The header that names the project, for routes whose path names none. */
function inHeader(route: Route, ids: Own): Cell[] {
  const { url, scope } = route
  if (/\{(project|organization)_id\}/.test(url) || scope.level === 'user') return []
  return [
    {
      ...{ route, where: 'header X-Project-ID', id: idFor(ids, route, 'project_id') },
      ask: (project_id, own) => ({ ...ownRequest(route, ids, own), project_id }),
    },
  ]
}

/** A request about the caller's objects, as far as it has some. */
export function ownRequest(route: Route, ids: Own, own: Own): Asked {
  const path = `${pathOf(route, { ...all(ids, route), ...own })}${queryOf(route, own)}`
  return { path, ...withBody(route, bodyOf(route)) }
}

function fieldsOf(schema: z.ZodType | undefined): IdField[] {
  return schema === undefined ? [] : idFields(schemaOf(schema))
}

const schemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema

function sampled(route: Route, field: IdField, id: string): object {
  return route.body === undefined ? {} : (sampleWith(schemaOf(route.body), field, id) as object)
}

/** The body that the route needs, without the property that the cell sets. */
function onlyMissing(route: Route, { steps: [first] }: IdField): object {
  const set = first !== undefined && 'property' in first ? first.property : ''
  const { [set]: _set, ...rest } = bodyOf(route) as Record<string, unknown>
  return rest
}

function withBody(route: Route, body: object): { body?: unknown } {
  return route.body === undefined ? {} : { body }
}

/** Returns the victim's id for a parameter of a path. Throws for a parameter without one. */
function idFor(ids: Own, { url }: Route, name: string): string {
  const list = /observability\/([a-z/-]+)\/\{job_id\}/.exec(url)?.[1]
  const id = ids[name === 'job_id' ? String(list) : name]
  if (id !== undefined) return id
  throw new Error(`${url}: the victim has no ${name}; create one in seedVictim`)
}

function all(ids: Own, route: Route): Own {
  const names = [...route.url.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name)
  return Object.fromEntries(names.map((name) => [name, idFor(ids, route, name)]))
}

function pathOf({ url }: Route, values: Own): string {
  return url.replaceAll(/\{([a-z_]+)\}/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  )
}

/** The victim's object that a field of a body or query names, where the names differ. */
const namedAs: Readonly<Record<string, (ids: Own) => string | undefined>> = {
  organization: () => `${marker} organization`,
  installation: (ids) => ids['installation_id'],
  actor_id: (ids) => ids['member_user_id'],
  user_id: (ids) => ids['member_user_id'],
  resource_id: (ids) => ids['unasked'],
  of_project: (ids) => ids['project_id'],
  finding_id: (ids) => ids['claim_id'],
  eval_run_ids: (ids) => ids['eval_run_id'],
  base: (ids) => ids['certification_id'],
  head: (ids) => ids['certification_id'],
  observation_id: () => `${marker}-0`,
  with: (ids) => ids['trace_id'],
  last_event_id: () => `${marker}-1`,
  channel: () => `${marker}-channel-1`,
  fallback: () => `${marker}-channel-1`,
  notify: () => `${marker}-channel-1`,
  rule: () => `${marker}-rule-1`,
  incident_id: (ids) => ids['id'],
  assign_to: (ids) => ids['member_user_id'],
  assignee: (ids) => ids['member_user_id'],
  archive_run_id: (ids) => ids['archive/runs'],
}

function foreignId(ids: Own, { name, schema }: IdField): string {
  const id = namedAs[name]?.(ids) ?? ids[name]
  if (id === undefined) throw new Error(`field ${name}: say in namedAs what it names`)
  const isUserOfAgent = name === 'user_id' && schema['format'] !== 'uuid'
  return isUserOfAgent ? `${marker}-user` : id
}

/** Returns an id of the same form that no object has. */
export function absentId(id: string): string {
  if (/^[0-9a-f-]{36}$/.test(id)) return `01890000-0000-7000-8000-${id.slice(-12)}`
  return id.replaceAll(marker, 'zqnobodyqz')
}

/** What a call answered, without what may differ between two calls. */
export type Seen = { status: number; text: string; request_id: string; asked: string }

/** Calls as an attacker with an id. */
export async function ask(
  world: World,
  { route, ask: build }: Cell,
  { who, own }: { who: Who; own: Own },
  id: string,
): Promise<Seen> {
  const { path, ...sent } = build(id, own)
  const reply = await world.call(route.method as Method, path, { ...who, ...sent })
  const asked = JSON.stringify([path, sent])
  return { ...comparable(reply, id), request_id: reply.request_id, asked }
}

/** Replaces the id of the request; in replies of success also what the service made up. */
export function comparable({ status, text }: Reply, id: string): { status: number; text: string } {
  const spelt = [id, id.replaceAll('-', ''), encodeURIComponent(id)]
  const without = spelt.reduce((rest, one) => rest.replaceAll(one, '<id>'), text)
  if (status >= 400) return { status, text: without }
  return { status, text: madeUp.reduce((rest, one) => rest.replaceAll(one, '<made>'), without) }
}

/**
 * What the service makes up for each call: ids, times, names of `bodyOf`, secrets, digests, and the
 * version of a document of the caller's project, which each write increments.
 */
const madeUp = [
  /((user|key|service_account):)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
  ...[/\d{4}-\d\d-\d\dT[\d:.]+Z/g, /mine-\d+/g],
  ...[/lti?_[A-Za-z0-9_]{16,}/g, /whsec_[A-Za-z0-9+/=]+/g, /"[a-z_]*digest":"[^"]*"/g],
  /"version":\d+/g,
]

/**
 * Returns what of the victim stands in a reply and not in the request: the marker, or the id of one
 * of its objects.
 */
export function leaks({ ids }: Victim, { text, asked }: { text: string; asked: string }): string[] {
  // The trail of a caller's own organization names what the caller asked for.
  const shown = text.replaceAll(/"resource_id":"[^"]*"/g, '')
  const secrets = [marker, ...Object.values(ids).filter((id) => id.length === 36)]
  const isIn = (one: string, where: string) =>
    where.includes(one) || where.includes(one.replaceAll('-', ''))
  return secrets.filter((one) => isIn(one, shown) && !isIn(one, asked))
}

/**
 * Returns how many records a call must leave in the trail. `isRead` says that the call is in the
 * list of reads: if such a call fails, the trail says so.
 */
export function expectedRecords(
  route: Route,
  status: number,
  { isPerson, isRead }: { isPerson: boolean; isRead: boolean },
): number {
  const kind = auditOf(route)
  if (kind === 'none') return 0
  const isDenied = status === 401 || status === 403 || status === 404
  if (status >= 400) return kind === 'change' || kind === 'people' || isDenied || isRead ? 1 : 0
  if (kind === 'change') return 1
  if (kind === 'people') return isPerson ? 1 : 0
  return 0
}
