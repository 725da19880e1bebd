import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AccessTables,
  deleteExpiredIdempotencyKeys,
  openIdempotencyStore,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

let store: Relational<AccessTables>
let keys: ReturnType<typeof openIdempotencyStore>

beforeAll(async () => {
  store = openRelational({
    scope: allTenants,
    url: await testPostgres(),
    pool_max: 8,
    connect_timeout_ms: 10_000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  keys = openIdempotencyStore(store.db)
})

afterAll(() => store.close())

function callNamed(name: string, kept_ms = 3_600_000) {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return { scope_hash: hash(name), request_hash: hash(`body of ${name}`), kept_ms }
}

test('of many concurrent calls one is new, the others get its request', async () => {
  const call = callNamed('at-once')
  const claims = await Promise.all(Array.from({ length: 20 }, () => keys.claim(call)))
  expect(claims.filter((claim) => claim.state === 'new')).toHaveLength(1)
  const known = { state: 'known', request_hash: call.request_hash, reply: null }
  expect(claims.filter((claim) => claim.state === 'known')).toEqual(Array(19).fill(known))
})

test.each([{ id: 1, tags: ['a'] }, [1, 2], 'text', null])('%j is answered again', async (body) => {
  const call = callNamed(JSON.stringify(body))
  await keys.claim(call)
  await keys.keep(call.scope_hash, { status: 201, body })
  expect(await keys.claim(call)).toMatchObject({ state: 'known', reply: { status: 201, body } })
})

test('a released key is new again, an answered one stays', async () => {
  const call = callNamed('released')
  await keys.claim(call)
  await keys.release(call.scope_hash)
  expect(await keys.claim(call)).toEqual({ state: 'new' })
  await keys.keep(call.scope_hash, { status: 200, body: {} })
  await keys.release(call.scope_hash)
  expect(await keys.claim(call)).toMatchObject({ state: 'known' })
})

test('an expired key is new again, and is deleted by the job', async () => {
  const expired = callNamed('expired', -1_000)
  await keys.claim(expired)
  expect(await keys.claim(expired)).toEqual({ state: 'new' })
  await keys.claim(callNamed('not expired'))
  expect(await deleteExpiredIdempotencyKeys(store.db)).toBe(1)
  expect(await keys.claim(callNamed('not expired'))).toMatchObject({ state: 'known' })
})

test('a call whose process died frees its key after two minutes', async () => {
  const call = callNamed('abandoned')
  await keys.claim(call)
  const age = "update idempotency_keys set created_at = now() - interval '121 seconds'"
  await store.pool.query(`${age} where scope_hash = $1`, [call.scope_hash])
  expect(await keys.claim(call)).toEqual({ state: 'new' })
})
