import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Route } from '../../src/platform/http/index.ts'
import type { Json as Schema } from '../../src/platform/http/json-schema.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { bodyOf } from '../support/isolation/bodies.ts'
import { ownRequest } from '../support/isolation/cells.ts'
import { allFields, type IdField, pointerOf, sampleWith } from '../support/isolation/id-fields.ts'
import { inParallel } from '../support/isolation/in-parallel.ts'
import { seedVictim, signIn, type Victim } from '../support/isolation/victim.ts'
import { startWorld, type World } from '../support/isolation/world.ts'
import { printCounts } from '../support/print-counts.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { quarterOf } from '../support/suite/budget.ts'

/**
 * Every route × every field of its body and query, and every parameter of its path × values that
 * break careless code: the service refuses or accepts them, and never fails.
 */
const routes = routeCatalogue().filter(
  (route): route is Route => route.kind === 'api' && !route.page,
)

/** JSON of values. Texts, because `JSON.stringify` writes no lone surrogates as values. */
const hostileValues: readonly string[] = [
  ...['"\\u0000"', '"\\ud800"', '{"\\ud800":"\\udc00\\ud800"}'],
  ...['1e308', '"0000-01-01T00:00:00Z"'],
]

/** Values in the path and query. */
const hostileTexts: readonly string[] = [
  ...['a\u0000b', '99999999999999999999', '0000-01-01T00:00:00Z'],
]

/** Bodies that are refused before they are read. */
const hostileBodies: readonly string[] = [
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  ...['{"__proto__":{"a":1}}', '{"constructor":{"prototype":1}}', '{"\\ud800":1}', '[]', '1'],
]

/** Calls that would end the caller's own access, and calls that cost a hash of a password each. */
const isLeftOut =
  /^(createToken|setPassword|archiveProject|deleteOrganization|deleteProject|disableUser|deleteUser|setUserPassword|revokeTokens|deleteSession|leaveOrganization)$/

let world: World
let receiver: Receiver
let victim: Victim
let token: string
const counts: Record<string, number> = {}

beforeAll(async () => {
  receiver = await startReceiver()
  world = await startWorld(receiver.port)
  victim = await seedVictim(world, receiver.url)
  token = victim.owner.token
})
afterAll(async () => {
  printCounts('hostile values', counts)
  await world?.[Symbol.asyncDispose]()
  await receiver?.close()
})

type Attack = { route: Route; where: string; value: string; path: string; body?: string }

const placeholder = '@hostile@'
const schemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema

/** Returns the calls with a hostile value in one place. */
function attacksOn(route: Route): Attack[] {
  const { path, body } = ownRequest(route, victim.ids, {})
  const whole = body === undefined ? {} : { body: JSON.stringify(body) }
  const inBody = fieldsOf(route.body).flatMap((field) => {
    const text = JSON.stringify(withPlaceholder(route, field))
    const isWhole = field.steps.length === 0
    return (isWhole ? hostileBodies : hostileValues).map((value) => ({
      ...{ route, value, where: `body ${pointerOf(field)}`, path },
      body: text.replace(JSON.stringify(placeholder), () => value),
    }))
  })
  const inQuery = fieldsOf(route.query).flatMap(({ name, steps }) =>
    (steps.length === 1 ? hostileTexts : []).map((value) => ({
      ...{ route, value, where: `query ${name}`, ...whole },
      path: withQuery(path, name, value),
    })),
  )
  const inPath = route.url.split('/').flatMap((step, at) =>
    (step.startsWith('{') ? hostileTexts : []).map((value) => ({
      ...{ route, value, where: `path ${step}`, ...whole },
      path: withStep(path, at, value),
    })),
  )
  return [...inBody, ...inQuery, ...inPath]
}

function withStep(path: string, at: number, value: string): string {
  const [steps = '', query] = path.split('?')
  const changed = steps.split('/').with(at, encodeURIComponent(value)).join('/')
  return query === undefined ? changed : `${changed}?${query}`
}

function fieldsOf(schema: z.ZodType | undefined): IdField[] {
  return schema === undefined ? [] : allFields(schemaOf(schema))
}

function withQuery(path: string, name: string, value: string): string {
  const url = new URL(path, 'http://host')
  url.searchParams.set(name, value)
  return `${url.pathname}${url.search}`
}

function withPlaceholder(route: Route, field: IdField): unknown {
  if (route.body === undefined || field.steps.length === 0) return placeholder
  const sample = sampleWith(schemaOf(route.body), field, placeholder) as object
  const [first] = field.steps
  const set = first !== undefined && 'property' in first ? first.property : ''
  const { [set]: _set, ...rest } = bodyOf(route) as Record<string, unknown>
  return { ...sample, ...rest }
}

/** In a soak, some 7,000 calls take 30 s, and longer beside other tests. */
const timeout = 300_000
let calls = 0
async function call({ route, path, body }: Attack) {
  const n = ++calls
  const reply = await fetch(`${world.service.base_url}${path}`, {
    method: route.method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${token}`,
      'x-project-id': victim.owner.project_id,
      'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })
  return { status: reply.status, text: await reply.text() }
}

async function attack(one: Attack): Promise<string[]> {
  const { route, where, value } = one
  const { status, text } = await call(one)
  counts[String(status)] = (counts[String(status)] ?? 0) + 1
  if (status === 401) token = await signIn(world, world.admin)
  if (status < 500) return []
  return [`${route.id} ${where} ${value.slice(0, 40)}: ${status} ${text.slice(0, 200)}`]
}

test('no value of any field, parameter or body fails the service', { timeout }, async () => {
  const attacks = routes.filter(({ id }) => !isLeftOut.test(id)).flatMap(attacksOn)
  expect(attacks.length).toBeGreaterThan(4_000)
  const chosen = new Set(quarterOf(routes))
  const faults = await inParallel(
    attacks.filter(({ route }) => chosen.has(route)),
    attack,
  )
  expect(faults.flat()).toEqual([])
})
