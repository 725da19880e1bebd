import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  duringRestore,
  waitForRestores,
} from '../../src/capabilities/lifecycle/retention/erasures/restore-lock.ts'
import { newId } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import { openRelational, type Relational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

let store: Relational<object>
beforeAll(async () => {
  store = openRelational({
    scope: allTenants,
    ...{ url: await testPostgres('empty'), pool_max: 4, connect_timeout_ms: 2_000 },
    statement_timeout_ms: 20_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
})
afterAll(() => store?.close())

/** One wait for the lock ends after 2 s. */
const longer_ms = 2_600

test('an erasure waits for a restore step that outlasts one wait for the lock', async () => {
  const { signal } = new AbortController()
  const project = newId()
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const work = async () => {
    begun.resolve()
    await goOn.promise
  }
  const step = duringRestore(store.db, project, work, signal)
  await begun.promise
  let knows = false
  const erasing = waitForRestores(store.db, project, signal).then(() => {
    knows = true
  })
  await Promise.race([erasing, sleep(longer_ms)]).finally(goOn.resolve)
  expect(knows).toBe(false)
  await step
  await erasing
  expect(knows).toBe(true)
})
