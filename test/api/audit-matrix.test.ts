import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyScopes } from '../../src/kernel/scopes.ts'
import { auditOf, keyScopesOf, type Route } from '../../src/platform/http/index.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { type AccessApp, callsAs, startAccessApp } from '../support/access-app.ts'
import { inParallel } from '../support/isolation/in-parallel.ts'
import { printCounts } from '../support/print-counts.ts'
import {
  makeRefusedCredentials,
  type RefusedCredential,
  signedInMs,
} from '../support/refused-credentials.ts'
import { quarterOf } from '../support/suite/budget.ts'

const root = '/api/v2/access'
const stranger = '01890000-0000-7000-8000-000000000000'

/** Routes of the product that check who calls, and are not those of the access app already. */
const guarded = routeCatalogue().filter(
  (route): route is Route => route.kind === 'api' && route.scope.level !== 'public' && !route.page,
)
const other = guarded.filter(
  ({ url }) => !url.startsWith(root) && !/^\/api\/(v1\/auth|v2\/audit)\//.test(url),
)

let app: AccessApp
let owner: string
let credentials: RefusedCredential[]
/** Callers that every route must refuse. */
let callers: {
  foreign: { token: string; project_id: string; organization_id: string }
  viewer: string
  member: string
  disabled: string
  expired_key: string
  revoked_key: string
  /** A key with one scope. */
  keys: Map<string, string>
}

beforeAll(async () => {
  app = await startAccessApp({ routes: other, public_url: 'https://looptrace.test' })
  credentials = await makeRefusedCredentials(app)
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  const { organization_id, project_id } = app.first
  const newKey = async (body: object) =>
    (await post(`${root}/projects/${project_id}/api-keys`, { name: 'k', ...body })).body
  const members = `${root}/projects/${project_id}/members`
  const viewer = await app.person('viewer@example.com', 'member')
  await put(`${members}/${viewer.user_id}`, { role: 'viewer' })
  const disabled = await app.person('disabled@example.com', 'admin')
  await post(`${root}/users/${disabled.user_id}/disable`)
  const made = (await post(`${root}/organizations`, { name: 'theirs' })).body
  const theirs = await app.person('foreign@example.com', 'admin', made.id)
  const project = (await post(`${root}/organizations/${made.id}/projects`, { name: 'p' })).body
  const revoked = await newKey({})
  await post(`${root}/projects/${project_id}/api-keys/${revoked.id}/revoke`)
  const soon = new Date(app.clock.now_ms() + 1_000).toISOString()
  const expired = await newKey({ expires_at: soon })
  const keys = new Map<string, string>()
  for (const scope of keyScopes) keys.set(scope, (await newKey({ scopes: [scope] })).key)
  app.clock.ahead_ms += 60_000
  callers = {
    foreign: { token: theirs.token, project_id: project.id, organization_id: made.id },
    ...{ viewer: viewer.token, disabled: disabled.token, keys },
    member: (await app.person('member@example.com', 'member', organization_id)).token,
    ...{ expired_key: expired.key, revoked_key: revoked.key },
  }
})
afterAll(() => app.close())

const { post, put } = callsAs(() => ({ app, token: owner }))

type Who = { token?: string; key?: string; headers?: Record<string, string> }
let calls = 0

/** Calls a route in the first project, and returns its reply and the id of the call. */
async function ask(route: Route, who: Who) {
  const { project_id, organization_id } = app.first
  const path = route.url
    .replace('{project_id}', project_id)
    .replace('{organization_id}', organization_id)
    .replaceAll(/\{[a-z_]+\}/g, stranger)
  const request_id = `matrix-${++calls}`
  const { status, body } = await app.call(route.method, path, {
    ...who,
    ...(route.body !== undefined && { body: {} }),
    headers: { ...who.headers, 'x-request-id': request_id, 'x-project-id': project_id },
    // An address of its own, because some routes limit calls by address.
    from: `10.1.${calls >> 8}.${calls & 255}`,
  })
  return { request_id, status, body }
}

/** The records of calls, by the id of the call. They have no index of it, so many are read at once. */
async function recordsOf(request_ids: readonly string[]) {
  const records = await app.relational.db
    .selectFrom('audit_records')
    .selectAll()
    .where('request_id', 'in', request_ids)
    .execute()
  return Map.groupBy(records, ({ request_id }) => request_id)
}

/** Expects a refusal with one record, or none on the data plane. */
async function expectRefused(route: Route, who: Who, statuses: readonly number[]) {
  const { request_id, status, body } = await ask(route, who)
  expect(statuses).toContain(status)
  const records = (await recordsOf([request_id])).get(request_id) ?? []
  if (auditOf(route) === 'none') {
    expect(records).toEqual([])
    return undefined
  }
  expect(records).toHaveLength(1)
  const [record] = records
  expect(record).toMatchObject({ action: route.id, outcome: 'refused', code: body?.code })
  if (auditOf(route) === 'people') expect(record?.change_hash).toBeNull()
  return record
}

const named = guarded.map((route) => [`${route.method} ${route.url}`, route] as const)
const takesKeys = ({ auth }: Route) => auth === 'key' || auth === 'jwt_or_key'
const takesTokens = ({ auth }: Route) => auth !== 'key'
const withTokens = named.filter(([, route]) => takesTokens(route))
const ofTenants = withTokens.filter(([, route]) => route.scope.level !== 'user')

test('the matrix has every guarded route', () => {
  expect(named.length).toBeGreaterThan(120)
})

test('the data of applications that people may send too is not in the trail', () => {
  const ofPeople = guarded.filter((route) => auditOf(route) === 'people').map(({ id }) => id)
  expect(ofPeople.toSorted()).toEqual([
    ...['createFeedback', 'editFeedback', 'postOnboardingEvents', 'withdrawFeedback'],
  ])
})

test.each(quarterOf(named))('%s: without credentials', async (_name, route) => {
  const record = await expectRefused(route, {}, [401])
  if (record) expect(record).toMatchObject({ actor_kind: 'anonymous', actor_id: null })
})

test.each(quarterOf(named))('%s: a revoked and an expired key', async (_name, route) => {
  await expectRefused(route, { key: callers.revoked_key }, [401])
  await expectRefused(route, { key: callers.expired_key }, [401])
})

test.each(quarterOf(withTokens))('%s: a disabled user', async (_name, route) => {
  await expectRefused(route, { token: callers.disabled }, [401])
})

test.each(quarterOf(ofTenants))('%s: a user of another organization', async (_name, route) => {
  const record = await expectRefused(route, { token: callers.foreign.token }, [404])
  // A stranger can not write into the chain of the organization.
  if (record) expect(record.chain_id).not.toBe(app.first.organization_id)
})

const takesEveryScope = ({ scope }: Route) =>
  scope.level === 'project' && keyScopesOf(scope.key).length === keyScopes.length

const needsRole = ({ scope }: Route) =>
  (scope.level === 'project' && scope.role !== 'viewer') ||
  (scope.level === 'organization' && scope.role !== 'member')

const ofRoles = withTokens.filter(([, route]) => needsRole(route))
const ofScopes = named.filter(([, route]) => takesKeys(route) && !takesEveryScope(route))

test.each(quarterOf(ofRoles))('%s: a lower role', async (_name, route) => {
  const record = await expectRefused(route, { token: callers.viewer }, [403])
  if (record) expect(record.chain_id).toBe(app.first.organization_id)
})

test.each(quarterOf(ofScopes))('%s: a key without the scope', async (_name, route) => {
  const accepted = route.scope.level === 'project' ? keyScopesOf(route.scope.key) : []
  const [, key = ''] =
    [...callers.keys].find(([scope]) => !accepted.some((one) => one === scope)) ?? []
  const record = await expectRefused(route, { key }, [403])
  if (record) expect(record.chain_id).toBe(app.first.organization_id)
})

/** Returns what tells the credentials from unknown ones of their kind, over the routes. */
async function findDifferences(some: readonly RefusedCredential[]): Promise<string[]> {
  const pairs = quarterOf(guarded).flatMap((route) => some.map((one) => ({ route, ...one })))
  const asked = await inParallel(pairs, async ({ route, name, sent, unknown }) => {
    const [seen, other] = [await ask(route, sent), await ask(route, unknown)]
    return { route, name, seen, other }
  })
  const records = await recordsOf(asked.map(({ seen }) => seen.request_id))
  printCounts('refused credentials', { credentials: some.length, cells: pairs.length })
  return asked.flatMap(({ route, name, seen, other }) => {
    const left = records.get(seen.request_id)?.length ?? 0
    const expected = auditOf(route) === 'none' ? 0 : 1
    const isRefused = seen.status === 401 && left === expected
    // An expired access token says so, because its signature is right.
    const mayDiffer = name === 'access token, expired'
    const isSame = JSON.stringify(seen.body) === JSON.stringify(other.body)
    return isRefused && (isSame || mayDiffer) && other.status === 401
      ? []
      : [`${route.id}, ${name}: ${seen.status} ${seen.body?.detail} ≠ ${other.body?.detail}`]
  })
}

/** Whether a credential ends with the sign-in. The clock of the last test is beyond that. */
const endsWithSignIn = ({ name }: RefusedCredential) =>
  /^(access token|session cookie), expired$/.test(name)

test('expired, revoked and disabled credentials are refused as unknown ones are, by every route', async () => {
  const some = credentials.filter((one) => !endsWithSignIn(one))
  expect(some.length).toBe(14)
  expect(await findDifferences(some)).toEqual([])
})

test('expired access tokens and sessions are refused as unknown ones are', async () => {
  app.clock.ahead_ms += signedInMs
  const some = credentials.filter(endsWithSignIn)
  expect(some.length).toBe(2)
  expect(await findDifferences(some)).toEqual([])
})
