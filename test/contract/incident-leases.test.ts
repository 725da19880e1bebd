import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findDueProjects } from '../../src/capabilities/incidents/worker/due-projects.ts'
import { claimProjects, releaseProjects } from '../../src/capabilities/incidents/worker/leases.ts'
import { oldestSlotStatement } from '../../src/capabilities/incidents/worker/open-evaluator.ts'
import { RuleCache } from '../../src/capabilities/incidents/worker/rule-cache.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { openWorld, spike } from '../support/evaluator-world.ts'
import { eventually } from '../support/eventually.ts'
import { type IncidentBench, openIncidentBench } from '../support/incident-bench.ts'
import { loudRule } from '../support/incident-records.ts'
import { killableProcesses } from '../support/killable-processes.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

const evaluators = killableProcesses(new URL('../support/evaluator-process.ts', import.meta.url))

let bench: IncidentBench
beforeAll(async () => {
  bench = await openIncidentBench()
})
afterAll(async () => {
  await evaluators.killAll()
  await bench?.[Symbol.asyncDispose]()
})
const clear = async () => {
  await bench.db.deleteFrom('incident_rules').execute()
  await bench.db.deleteFrom('evaluation_leases').execute()
  await bench.db.deleteFrom('evaluation_workers').execute()
}
beforeEach(clear)

async function addProjects(many: number): Promise<void> {
  for (let at = 0; at < many; at += 1) {
    await bench.addRule(await bench.newProject(), loudRule())
  }
}

/** The number of projects by holder, of living workers only. */
async function readShares(): Promise<number[]> {
  const { rows } = await sql<{ projects: number }>`
    select count(lease.project_id)::int as projects
    from evaluation_workers as worker left join evaluation_leases as lease using (holder)
    where worker.expires_at > now() group by holder order by 1 desc
  `.execute(bench.db)
  return rows.map(({ projects }) => projects)
}

const lease_ms = 60_000
const claim = (holder: string) => claimProjects(bench.db, { holder, lease_ms })

async function die(holder: string): Promise<void> {
  await bench.db
    .updateTable('evaluation_workers')
    .set({ expires_at: new Date(0) })
    .where('holder', '=', holder)
    .execute()
}

describe('projects are shared out by count', () => {
  test('one worker has all; a second one gets half, a third one a third', async () => {
    await addProjects(7)
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()] as const
    expect(await claim(one)).toBe(7)
    expect(await claim(two)).toBe(0)
    expect(await claim(one)).toBe(4)
    expect(await claim(two)).toBe(3)
    expect(await claim(three)).toBe(0)
    expect(await claim(one)).toBe(3)
    expect(await claim(three)).toBe(1)
    expect(await readShares()).toEqual([3, 3, 1])
  })

  test('the projects of a dead worker are taken, and its row goes', async () => {
    await addProjects(4)
    const [one, two] = [randomUUID(), randomUUID()] as const
    for (const holder of [one, two, one, two]) await claim(holder)
    expect(await readShares()).toEqual([2, 2])
    await die(one)
    expect(await claim(two)).toBe(4)
    expect(await readShares()).toEqual([4])
    const workers = await bench.db.selectFrom('evaluation_workers').select('holder').execute()
    expect(workers).toEqual([{ holder: two }])
  })

  test('a worker that was stopped past its lease counts again what it has', async () => {
    await addProjects(3)
    const [one, two] = [randomUUID(), randomUUID()] as const
    expect(await claim(one)).toBe(3)
    await die(one)
    expect(await claim(two)).toBe(3)
    expect(await claimProjects(bench.db, { holder: one, lease_ms, held: 3 })).toBe(0)
    expect(await claim(two)).toBe(2)
  })

  test('one that stops gives all back at once', async () => {
    await addProjects(3)
    const [one, two] = [randomUUID(), randomUUID()] as const
    await claim(one)
    await releaseProjects(bench.db, { holder: one })
    expect(await claim(two)).toBe(3)
  })

  test('a fence grows with each new holder, not with a claim of the same one', async () => {
    await addProjects(1)
    const [one, two] = [randomUUID(), randomUUID()] as const
    const fence = async () =>
      (await bench.db.selectFrom('evaluation_leases').select('fence').execute())[0]?.fence
    await claim(one)
    await claim(one)
    expect(await fence()).toBe(1)
    await die(one)
    await claim(two)
    expect(await fence()).toBe(2)
  })

  test('whatever workers join, die and claim at once, each project has one holder in the end', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('join' as const) }),
      fc.record({ do: fc.constantFrom('die' as const, 'stop' as const), at: fc.nat(9) }),
      fc.record({ do: fc.constant('add' as const) }),
      fc.record({ do: fc.constant('claim' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        await clear()
        const history = { living: [randomUUID() as string], projects: 3 }
        await addProjects(history.projects)
        for (const one of steps) await apply(history, one)
        for (let round = 0; round < 4; round += 1) {
          for (const holder of history.living) await claim(holder)
        }
        const shares = await readShares()
        const share = Math.ceil(history.projects / history.living.length)
        expect(shares).toHaveLength(history.living.length)
        expect(shares.reduce((sum, one) => sum + one, 0)).toBe(history.projects)
        expect(Math.max(...shares)).toBeLessThanOrEqual(share)
      }),
      { numRuns: fuzzRuns(40) },
    )
  })
})

type History = { living: string[]; projects: number }
type Step = { do: 'join' | 'add' | 'claim' } | { do: 'die' | 'stop'; at: number }

async function apply(history: History, one: Step): Promise<void> {
  if (one.do === 'join') history.living.push(randomUUID())
  if (one.do === 'claim') await Promise.all(history.living.map(claim))
  if (one.do === 'add') {
    await addProjects(1)
    history.projects += 1
  }
  if ('at' in one && history.living.length > 1) {
    const [holder = ''] = history.living.splice(one.at % history.living.length, 1)
    await (one.do === 'die' ? die(holder) : releaseProjects(bench.db, { holder }))
  }
}

describe('real workers', () => {
  const limits = { timeout_ms: 20_000 }

  test('share projects when one joins, and take those of one that is killed', async () => {
    await addProjects(9)
    const first = evaluators.start(bench.url)
    await eventually('one has all', async () => String(await readShares()) === '9', limits)
    const second = evaluators.start(bench.url)
    await eventually('two share', async () => String(await readShares()) === '5,4', limits)
    evaluators.start(bench.url)
    await eventually('three share', async () => String(await readShares()) === '3,3,3', limits)
    await evaluators.kill(second)
    await eventually('two are left', async () => String(await readShares()) === '5,4', limits)
    await evaluators.kill(first)
    await eventually('one is left', async () => String(await readShares()) === '9', limits)
    const slots = async () => {
      const rows = await bench.db.selectFrom('rule_evaluations').select('last_slot').execute()
      return rows.filter(({ last_slot }) => last_slot !== null).length
    }
    await eventually('each rule was evaluated', async () => (await slots()) === 9, limits)
    await evaluators.killAll()
  })
})

describe('what a worker reads does not grow with all projects', () => {
  test('due projects and free ones are found by an index', async () => {
    await addProjects(1)
    const holder = randomUUID()
    await claim(holder)
    const others = randomUUID()
    await sql`insert into evaluation_workers (holder, expires_at) values (${others}, 'infinity')`.execute(
      bench.db,
    )
    await sql`
      with made as (
        insert into projects (id, organization_id, name)
        select gen_random_uuid(), organization_id, gen_random_uuid()
        from (select organization_id from projects limit 1) as any_one, generate_series(1, 20000)
        returning id
      )
      insert into evaluation_leases (project_id, holder, due_at) select id, ${others}, now() from made
    `.execute(bench.db)
    await sql`analyze evaluation_leases`.execute(bench.db)
    const due = await explain(sql`
      select project_id from evaluation_leases where holder = ${holder}::uuid and due_at <= now()
        and not project_id = any('{}'::uuid[]) order by due_at limit 256`)
    expect(due).toContain('evaluation_leases_by_due')
    expect(due).not.toContain('Seq Scan')
    const free = await explain(sql`
      select project_id from evaluation_leases
      where holder is null or holder = any(${[holder]}::uuid[]) limit 5000 for update skip locked`)
    expect(free).not.toContain('Seq Scan')
    const limited = { holder: others, kind: 'due_at', now_ms: Date.now() + 1, but: [], limit: 3 }
    const found = await findDueProjects(bench.db, { ...limited, kind: 'due_at' })
    expect(found.projects).toHaveLength(3)
  })

  test('rules in memory are bounded, and each version is read', async () => {
    const project_id = await bench.newProject()
    const ids = []
    for (let at = 0; at < 5; at += 1) {
      ids.push(await bench.addRule(project_id, loudRule({ name: `rule-${at}` })))
    }
    const cache = new RuleCache(bench.db, 3)
    const wanted = ids.map((id) => ({ id, version: 1 }))
    expect([...(await cache.load(wanted)).keys()].toSorted()).toEqual(ids.toSorted())
    expect(cache.size).toBe(3)
    expect((await cache.load(wanted)).size).toBe(5)
    expect((await cache.load(ids.map((id) => ({ id, version: 2 })))).size).toBe(0)
  })
})

describe('when rules are looked at', () => {
  test('a project without a due rule is not read again until a rule changes', async () => {
    const world = await openWorld(bench, [loudRule()], spike)
    const evaluator = world.open()
    await world.run(evaluator, 1)
    const due = async () => {
      const row = await world.db
        .selectFrom('evaluation_leases')
        .select(['due_at', 'changes'])
        .where('project_id', '=', world.project_id)
        .executeTakeFirstOrThrow()
      return row
    }
    const before = await due()
    expect(Date.parse(before.due_at)).toBeGreaterThan(world.time.now_ms)
    await bench.addRule(world.project_id, loudRule({ name: 'another' }))
    expect(await due()).toEqual({ due_at: '-infinity', changes: before.changes + 1 })
    await world.run(evaluator, 1)
    expect(Date.parse((await due()).due_at)).toBeGreaterThan(world.time.now_ms)
    const stored = await world.db.selectFrom('rule_evaluations').select('rule_id').execute()
    expect(stored.length).toBeGreaterThanOrEqual(2)
  })

  test('a rule that is added during an evaluation is evaluated at the next look', async () => {
    const world = await openWorld(bench, [loudRule()], spike)
    const evaluator = world.open()
    let added: string | undefined
    world.signals.beforeAnswer = async () => {
      added ??= await bench.addRule(world.project_id, loudRule({ name: 'late' }))
    }
    await world.run(evaluator, 1)
    expect(await world.evaluation(added)).toBeUndefined()
    await world.run(evaluator, 1)
    expect(await world.evaluation(added)).toBeDefined()
  })
})

async function explain(statement: ReturnType<typeof sql>): Promise<string> {
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${statement}`.execute(bench.db)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

test('the gauge of the oldest slot reads one slot, however many rules there are', async () => {
  const project = await bench.newProject()
  const [oldest, suspended] = [
    await bench.addRule(project, loudRule({ name: 'oldest' })),
    await bench.addRule(project, loudRule({ name: 'suspended' })),
  ]
  await sql`
    insert into incident_rules (id, project_id, name, kind, spec, suspended, version, created_at,
      updated_at, updated_by)
    select gen_random_uuid(), project_id, 'rule ' || n, kind, spec, false, 1, now(), now(), 'test'
    from incident_rules, generate_series(1, 5000) as n where id = ${oldest}
  `.execute(bench.db)
  await sql`
    insert into rule_evaluations (rule_id, project_id, last_slot)
    select id, project_id, case when id = ${oldest} then now() - interval '1 hour' else now() end
    from incident_rules where id <> ${suspended}
  `.execute(bench.db)
  await sql`update incident_rules set suspended = true where id = ${suspended}`.execute(bench.db)
  await sql`analyze incident_rules, rule_evaluations`.execute(bench.db)
  const { rows } = await oldestSlotStatement.execute(bench.db)
  expect(Math.round((rows[0]?.lag_s ?? 0) / 60)).toBe(60)
  const plan = await sql`explain (analyze, format json) ${oldestSlotStatement}`.execute(bench.db)
  const read = [...JSON.stringify(plan.rows).matchAll(/"Actual Rows":(\d+)/g)]
  expect(read.length).toBeGreaterThan(2)
  expect(Math.max(...read.map(([, many]) => Number(many)))).toBeLessThan(10)
})
