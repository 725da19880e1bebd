import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Rule } from '../../src/capabilities/incidents/index.ts'
import type { IncidentDb } from '../../src/capabilities/incidents/ports.ts'
import { openIncidents } from '../../src/capabilities/incidents/store/incident-book.ts'
import type { Evaluator } from '../../src/capabilities/incidents/worker/open-evaluator.ts'
import { type IncidentTables, openRelational, sql } from '../../src/platform/relational/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { openWorld, spike } from '../support/evaluator-world.ts'
import { type IncidentBench, openIncidentBench, quietLogger } from '../support/incident-bench.ts'
import { at, loudRule } from '../support/incident-records.ts'
import { quarterOf } from '../support/suite/budget.ts'
import { tcpGate } from '../support/tcp-gate.ts'

let bench: IncidentBench
beforeAll(async () => {
  bench = await openIncidentBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

/** A rule of its own, two that share an incident, and one with timers. */
const rules: Rule[] = [
  loudRule({ name: 'plain' }),
  loudRule({ name: 'one', dedup_key: 'shared', severity: 'low', notify: ['log'] }),
  loudRule({ name: 'other', dedup_key: 'shared', keep_firing_for: '1m' }),
  loudRule({ name: 'timers', escalation: [{ after: '2m', notify: ['second'] }] }),
]

/** Minutes at which something changes: openings, escalation, ends. */
const minutes = [2, 4, 6]

type World = Awaited<ReturnType<typeof openWorld>>

/** All that an evaluator does at a minute. */
async function live(world: World, evaluator: Evaluator, minute: number): Promise<void> {
  await world.run(evaluator, minute)
  await evaluator.applyTimers()
  await evaluator.applyMutes()
}

/** Ends the leases of a process that was killed, as time does. */
async function endLeases(world: World): Promise<void> {
  await world.db
    .updateTable('evaluation_workers')
    .set({ expires_at: new Date(0) })
    .execute()
}

/** A database whose statement `k` does not happen, because the process is killed before it. */
function dyingDb(db: IncidentDb, k: number) {
  const life = { statements: 0, isOver: false }
  const dying = db.withPlugin({
    transformQuery: ({ node }) => {
      life.statements += 1
      if (life.statements >= k) {
        life.isOver = true
        throw new Error('killed')
      }
      return node
    },
    transformResult: async ({ result }) => result,
  })
  return { dying, life }
}

describe('a killed evaluator', () => {
  test('before any statement: nothing is lost, and nothing is written twice', async () => {
    const calm = await openWorld(bench, rules, spike)
    const counted = dyingDb(calm.db, Number.POSITIVE_INFINITY)
    const undisturbed = calm.open({ db: counted.dying })
    for (const minute of minutes) await live(calm, undisturbed, minute)
    const expected = await calm.stored()
    expect(expected.incidents).toHaveLength(3)
    expect(expected.messages.length).toBeGreaterThan(6)
    const statements = Array.from({ length: counted.life.statements }, (_, at) => 1 + at)
    for (const k of quarterOf(statements)) {
      const world = await openWorld(bench, rules, spike)
      const { dying, life } = dyingDb(world.db, k)
      let evaluator = world.open({ db: dying })
      for (const minute of minutes) {
        await live(world, evaluator, minute).catch(() => undefined)
        if (!life.isOver) continue
        life.isOver = false
        await endLeases(world)
        evaluator = world.open()
        await live(world, evaluator, minute)
      }
      expect(await world.stored(), `killed before statement ${k}`).toEqual(expected)
    }
  })
})

describe('two evaluators', () => {
  test('one that was stopped past its lease writes nothing', async () => {
    const world = await openWorld(bench, rules, spike)
    const first = world.open()
    await world.run(first, 1)
    const before = await world.evaluation()
    const measured = Promise.withResolvers<void>()
    const resumed = Promise.withResolvers<void>()
    world.signals.beforeAnswer = async () => {
      measured.resolve()
      await resumed.promise
    }
    const stopped = world.run(first, 2)
    await measured.promise
    world.signals.beforeAnswer = async () => undefined
    await endLeases(world)
    // The second evaluator has the project, and has evaluated nothing yet.
    const second = world.open()
    await second.claim()
    resumed.resolve()
    await stopped
    expect((await world.stored()).incidents).toEqual([])
    expect(await world.evaluation()).toEqual(before)
    await world.run(second, 2)
    expect((await world.stored()).incidents).toHaveLength(3)
    await world.run(first, 3)
    expect((await world.evaluation())?.last_slot).toBe(new Date(at(2)).toISOString())
  })

  test('a lease that ended counts no longer, even if nobody took it', async () => {
    const world = await openWorld(bench, rules, spike)
    const evaluator = world.open()
    world.signals.beforeAnswer = () => endLeases(world)
    await world.run(evaluator, 2)
    expect((await world.stored()).incidents).toEqual([])
  })

  test('both at once write what one writes', async () => {
    const alone = await openWorld(bench, rules, spike)
    const evaluator = alone.open()
    for (const minute of minutes) await live(alone, evaluator, minute)
    const world = await openWorld(bench, rules, spike)
    const both = [world.open(), world.open()]
    for (const minute of minutes) {
      await endLeases(world)
      await Promise.all(both.map((one) => live(world, one, minute)))
    }
    expect(await world.stored()).toEqual(await alone.stored())
  })

  test('a process that is stopped inside a transaction loses its locks after ten seconds', async () => {
    const project_id = await bench.newProject()
    await bench.db.transaction().execute(async (trx) => {
      await openIncidents(trx, { project_id, now_ms: at(0) })
      const { rows } = await sql`show idle_in_transaction_session_timeout`.execute(trx)
      expect(rows).toEqual([{ idle_in_transaction_session_timeout: '10s' }])
    })
  })

  test('a project whose lease is locked does not hold up the claims of others', async () => {
    const world = await openWorld(bench, rules, spike)
    await world.open().claim()
    await endLeases(world)
    const other = await openIncidentProject()
    await bench.db.transaction().execute(async (trx) => {
      await sql`
        select 1 from evaluation_leases where project_id = ${world.project_id} for share
      `.execute(trx)
      await world.open().claim()
    })
    const leases = await bench.db.selectFrom('evaluation_leases').select('project_id').execute()
    expect(leases.map(({ project_id }) => project_id)).toContain(other)
  })
})

async function openIncidentProject(): Promise<string> {
  const project_id = await bench.newProject()
  await bench.addRule(project_id, loudRule())
  return project_id
}

describe('an outage of PostgreSQL', () => {
  test('in the middle of an evaluation, nothing is lost and nothing is written twice', async () => {
    const alone = await openWorld(bench, rules, spike)
    const evaluator = alone.open()
    for (const minute of minutes) await live(alone, evaluator, minute)
    const world = await openWorld(bench, rules, spike)
    await using gate = await tcpGate(bench.url)
    const limits = { pool_max: 4, connect_timeout_ms: 500, statement_timeout_ms: 2000 }
    const relational = openRelational<IncidentTables>({
      scope: allTenants,
      ...{ url: gate.url, logger: quietLogger, ...limits },
    })
    const cut = world.open({ db: relational.db })
    for (const minute of minutes) {
      world.signals.beforeAnswer = async () => gate.close()
      await live(world, cut, minute).catch(() => undefined)
      world.signals.beforeAnswer = async () => undefined
      gate.open()
      await live(world, cut, minute)
    }
    await relational.close()
    expect(await world.stored()).toEqual(await alone.stored())
  })
})
