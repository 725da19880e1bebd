import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route } from '../../src/platform/http/index.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { type Attacker, makeAttackers } from '../support/isolation/attackers.ts'
import { bodyOf } from '../support/isolation/bodies.ts'
import {
  absentId,
  ask,
  type Cell,
  cellsOf,
  comparable,
  expectedRecords,
  leaks,
  ownRequest,
  type Seen,
} from '../support/isolation/cells.ts'
import { inParallel } from '../support/isolation/in-parallel.ts'
import { storedReads } from '../support/isolation/stored-reads.ts'
import { settledRows } from '../support/isolation/unchanged.ts'
import { seedVictim, type Victim } from '../support/isolation/victim.ts'
import { type Method, startWorld, type World } from '../support/isolation/world.ts'
import { printCounts } from '../support/print-counts.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { quarterOf } from '../support/suite/budget.ts'

/**
 * Every route × every caller without access × every place of a request that names an object: the
 * answer equals that for an object that never existed, holds nothing of the victim, changes nothing
 * of the victim, and has exactly the records that the route declares.
 */
const routes = routeCatalogue().filter(
  (route): route is Route => route.kind === 'api' && route.scope.level !== 'public' && !route.page,
)

const shapeOf = (schema: unknown): object =>
  typeof schema === 'object' && schema !== null && 'shape' in schema ? Object(schema.shape) : {}
const lists = routes.filter(({ method, query }) => method === 'GET' && 'cursor' in shapeOf(query))

let world: World
let receiver: Receiver
let victim: Victim
let attackers: Attacker[]
let before: Record<string, string>
/** The victim's cursors, by the id of the list. */
const cursors = new Map<string, string>()
/** Calls of cells, whose records are counted at the end. */
const calls: { route: Route; seen: Seen; attacker: Attacker }[] = []
const counts: Record<string, number> = {}

beforeAll(async () => {
  receiver = await startReceiver()
  world = await startWorld(receiver.port)
  victim = await seedVictim(world, receiver.url)
  attackers = await makeAttackers(world, victim)
  await inParallel(lists, async (route) => {
    const { path } = ownRequest(route, victim.ids, {})
    const url = `${path}${path.includes('?') ? '&' : '?'}limit=1`
    const { body } = await world.call('GET', url, victim.owner)
    if (typeof body?.next_cursor === 'string') cursors.set(route.id, body.next_cursor)
  })
  before = await settledRows(world, victim)
})
afterAll(async () => {
  printCounts('isolation matrix', counts)
  await world?.[Symbol.asyncDispose]()
  await receiver?.close()
})

type Pair<T> = { of: T; attacker: Attacker }

const pairsOf = <T>(
  all: readonly T[],
  isPair: (one: T, attacker: Attacker) => boolean,
): Pair<T>[] =>
  all.flatMap((of) =>
    attackers.filter((attacker) => isPair(of, attacker)).map((attacker) => ({ of, attacker })),
  )

/** The neighbour is a member of the victim's organization, and knows its people. */
function isForeign({ where, route }: Cell, { organization_id }: Attacker): boolean {
  if (organization_id !== victim.organization_id) return true
  return route.scope.level !== 'organization' && !/organization|member_user|assign/.test(where)
}

/** Asks with the victim's id and with one that never existed, and returns what tells them apart. */
async function compare({ of: cell, attacker }: Pair<Cell>): Promise<string[]> {
  const { route, id } = cell
  const theirs = await ask(world, cell, attacker, id)
  const nobodys = await ask(world, cell, attacker, absentId(id))
  for (const seen of [theirs, nobodys]) calls.push({ route, seen, attacker })
  const name = `${route.id} ${cell.where} ${attacker.name}`
  const faults = leaks(victim, theirs).map((leak) => `${name}: leaks ${leak}`)
  if (theirs.status >= 500) faults.push(`${name}: ${theirs.status} ${theirs.text}`)
  if (theirs.status === nobodys.status && theirs.text === nobodys.text) return faults
  return [...faults, `${name}: ${theirs.status} ${theirs.text} ≠ ${nobodys.status} ${nobodys.text}`]
}

/**
 * Calls as an attacker, and returns the faults of the reply: leaks, and failures of the service.
 */
async function attack(
  { of: route, attacker }: Pair<Route>,
  change: { query?: Record<string, string>; headers?: Record<string, string>; body?: object } = {},
): Promise<{ faults: string[]; status: number; headers: Headers }> {
  const own = ownRequest(route, victim.ids, attacker.own)
  const { query = {}, headers = {}, body = own.body } = change
  const more = new URLSearchParams(query).toString()
  const path = `${own.path}${own.path.includes('?') ? '&' : '?'}${more}`
  const sent = { ...attacker.who, ...(body !== undefined && { body }), headers }
  const reply = await world.call(route.method as Method, path, sent)
  const seen = {
    ...{ ...comparable(reply, 'no id'), request_id: reply.request_id },
    asked: JSON.stringify([path, body, ...Object.values(query).map(decoded)]),
  }
  calls.push({ route, seen, attacker })
  const name = `${route.id} ${more} ${attacker.name}`
  const faults = leaks(victim, seen).map((leak) => `${name}: leaks ${leak}`)
  if (reply.status >= 500) faults.push(`${name}: ${reply.status} ${reply.text}`)
  return { faults, status: reply.status, headers: reply.headers }
}

const decoded = (cursor: string) => Buffer.from(cursor, 'base64url').toString()
const encoded = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url')

test('lists, statistics and exports have own data only, as JSON and as lines', async () => {
  const reads = routes.filter(({ method }) => method === 'GET')
  const pairs = pairsOf(quarterOf(reads), (route, attacker) => attacker.mayCall(route))
  const accepts = ['application/json', 'application/x-ndjson', 'text/event-stream, */*']
  const faults = await inParallel(pairs, async (pair) => {
    if (isOfOrganization(pair)) return []
    const all = accepts.map((accept) => attack(pair, { headers: { accept } }))
    return (await Promise.all(all)).flatMap((one) => one.faults)
  })
  counts['reads'] = pairs.length * accepts.length
  expect(faults.flat()).toEqual([])
})

/** What the neighbour may know as a member of the organization. */
function isOfOrganization({ of: { scope, id }, attacker }: Pair<Route>): boolean {
  if (attacker.organization_id !== victim.organization_id) return false
  return (
    scope.level === 'organization' ||
    /^(listOrganizations|listProjectMembers|getProjectMember)$/.test(id)
  )
}

test('cursors of another tenant, changed and hostile ones, lead to own data or to a 400', async () => {
  counts['lists with a second page'] = cursors.size
  const others = [...cursors.values()]
  const pairs = pairsOf(quarterOf(lists), (route, attacker) => attacker.mayCall(route))
  let tried = 0
  const faults = await inParallel(pairs, async (pair) => {
    if (isOfOrganization(pair)) return []
    const given = cursors.get(pair.of.id)
    const [list, ...position] = given === undefined ? ['x'] : JSON.parse(decoded(given))
    const hostile = [
      ...(given === undefined ? [] : [given, `${given.slice(0, -2)}AA`]),
      ...[encoded([list, ...position, victim.ids['project_id']]), encoded([list])],
      encoded([list, ...position.map(() => "' or project_id <> '")]),
      encoded([list, ...position.map(() => null)]),
      encoded([list, ...position.map(() => -1e308)]),
      ...[encoded({ project_id: victim.ids['project_id'] }), '%00', 'a'.repeat(5_000)],
      others[tried % others.length] ?? 'x',
    ]
    const all = hostile.map((cursor) => attack(pair, { query: { cursor, limit: '100' } }))
    tried += all.length
    return (await Promise.all(all)).flatMap((one) => one.faults)
  })
  counts['cursors'] = tried
  expect(faults.flat()).toEqual([])
  expect(cursors.size).toBeGreaterThan(25)
})

test('ids of another tenant in paths, queries, bodies and headers are answered as unknown ids', async () => {
  const cells = routes.flatMap((route) => cellsOf(route, victim))
  const all = pairsOf(
    cells,
    (cell, attacker) => attacker.mayCall(cell.route) && isForeign(cell, attacker),
  )
  expect(all.length).toBeGreaterThan(600)
  const chosen = new Set(quarterOf(routes))
  const pairs = all.filter(({ of: { route } }) => chosen.has(route))
  const faults: string[][] = []
  // What creates objects comes last, because an attacker may give them the ids of the victim's.
  for (const method of ['GET', 'DELETE', 'PUT', 'POST']) {
    const some = pairs.filter(({ of: { route } }) => route.method === method)
    faults.push(...(await inParallel(some, compare)))
  }
  counts['cells of ids'] = pairs.length
  expect(faults.flat()).toEqual([])
})

test('no attack changed a row of the victim, or sent something to its receiver', async () => {
  const after = await settledRows(world, victim)
  counts['tables compared'] = Object.keys(before).length
  expect(Object.keys(before).length).toBeGreaterThan(60)
  const changed = Object.keys(after).filter((table) => after[table] !== before[table])
  expect(changed).toEqual([])
  expect(receiver.received.map(({ path, body }) => `${path} ${body}`)).toEqual([])
  // The owner's own test reaches it.
  const channel = `/api/v2/observability/incidents/channels/${victim.ids['channel_id']}`
  await world.call('POST', `${channel}/test`, victim.owner)
  expect(receiver.received.map(({ path }) => path)).toEqual(['/victim'])
})

test('an Idempotency-Key returns the first answer to its caller in its project only', async () => {
  const once = routes.filter(({ idempotent }) => idempotent === true)
  const replayed = (headers: Headers) => headers.get('idempotency-replayed')
  const faults = await inParallel(once, async (route) => {
    const headers = { 'idempotency-key': `${route.id}-key` }
    const body = { ...bodyOf(route) }
    const { path } = ownRequest(route, victim.ids, {})
    const call = () => world.call(route.method as Method, path, { ...victim.owner, body, headers })
    const [first, again] = [await call(), await call()]
    const isKept = first.status >= 300 || replayed(again.headers) === 'true'
    const found = isKept ? [] : [`${route.id}: ${again.status} is not replayed to its caller`]
    counts['keys with a kept answer'] =
      (counts['keys with a kept answer'] ?? 0) + Number(first.status < 300)
    const tried = pairsOf([route], (_one, attacker) => attacker.mayCall(route))
    counts['idempotency keys'] = (counts['idempotency keys'] ?? 0) + tried.length
    for (const pair of tried) {
      if (isOfOrganization(pair)) continue
      const reply = await attack(pair, { headers, body })
      found.push(...reply.faults)
      if (replayed(reply.headers) !== null)
        found.push(`${route.id} ${pair.attacker.name}: replayed`)
    }
    return found
  })
  expect(faults.flat()).toEqual([])
})

test('each call has exactly the records that its route declares, in the chain of its caller', async () => {
  const reads = await storedReads(world)
  const rows = await world.db
    .selectFrom('audit_records')
    .select(['request_id', 'chain_id', 'outcome', 'action'])
    .execute()
  const records = Map.groupBy(rows, ({ request_id }) => request_id)
  const faults = calls.flatMap(({ route, seen, attacker }) => {
    const found = records.get(seen.request_id) ?? []
    const name = `${route.id} ${attacker.name} ${seen.status} ${seen.asked.slice(0, 200)}`
    const caller = {
      isPerson: attacker.who.token !== undefined,
      isRead: reads.has(seen.request_id),
    }
    const expected = expectedRecords(route, seen.status, caller)
    const isOwnChain = attacker.organization_id === victim.organization_id
    return [
      ...(found.length === expected ? [] : [`${name}: ${found.length} records, not ${expected}`]),
      ...(found.every(({ action }) => action === route.id) ? [] : [`${name}: another action`]),
      ...(isOwnChain || found.every(({ chain_id }) => chain_id !== victim.organization_id)
        ? []
        : [`${name}: a record in the chain of the victim`]),
    ]
  })
  counts['calls with counted records'] = calls.length
  expect(faults).toEqual([])
})

test('the ids exist: the owner’s calls with them find the objects', async () => {
  const own = routes.filter(
    ({ url, scope }) =>
      scope.level === 'project' && /\{(?!project_id|installation_id)[a-z_]+\}/.test(url),
  )
  const faults: string[] = []
  for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
    const some = own.filter((route) => route.method === method)
    // A part before the whole: deletions of inner objects come first.
    for (const route of some.toSorted((a, b) => b.url.length - a.url.length)) {
      const { path, ...sent } = ownRequest(route, victim.ids, victim.ids)
      const reply = await world.call(route.method, path, { ...victim.owner, ...sent })
      if ([400, 401, 403, 404].includes(reply.status))
        faults.push(`${route.id}: ${reply.status} ${reply.text.slice(0, 300)}`)
    }
  }
  counts['objects found by their owner'] = own.length
  expect(faults).toEqual([])
})
