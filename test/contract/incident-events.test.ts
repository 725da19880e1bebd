import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FindingChange } from '../../src/capabilities/incidents/evaluation/event-match.ts'
import type { Rule } from '../../src/capabilities/incidents/index.ts'
import { ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import { matchFindings } from '../../src/capabilities/incidents/worker/match-findings.ts'
import type { LedgerSums } from '../../src/capabilities/storage/index.ts'
import type { Kysely, TaskTables } from '../../src/platform/relational/index.ts'
import { openWorld } from '../support/evaluator-world.ts'
import { type IncidentBench, openIncidentBench, quietLogger } from '../support/incident-bench.ts'
import { at } from '../support/incident-records.ts'
import { minute_ms } from '../support/incident-steps.ts'

let bench: IncidentBench
beforeAll(async () => {
  bench = await openIncidentBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

function eventRule(name: string, match: object, more: object = {}): Rule {
  const event = { match: { source: 'finding', ...match }, ...more }
  return ruleShape.parse({ name, severity: 'high', notify: ['on-call'], event })
}

type World = Awaited<ReturnType<typeof openWorld>>
type Task = { models?: string[]; environment?: string; name?: string }

/** A project with event rules, and tasks whose findings are stored. */
async function eventWorld(rules: readonly Rule[]) {
  const world = await openWorld(bench, rules, () => null)
  const db = bench.db as unknown as Kysely<TaskTables>
  const addTask = async (task_id: string, task: Task = {}) => {
    const now = new Date(at(0))
    const times = { started_at: now, last_activity_at: now }
    await db
      .insertInto('tasks')
      .values({
        project_id: world.project_id,
        task_id,
        implicit: false,
        name: 'order',
        ...times,
        ...task,
      })
      .execute()
  }
  const find = (task_id: string, findings: readonly FindingChange[], minute: number) =>
    world.db.transaction().execute((trx) => {
      const tables = trx as unknown as Parameters<typeof matchFindings>[0]
      const stored = { project_id: world.project_id, task_id, findings }
      return matchFindings(tables, stored, {
        now_ms: at(minute),
        forget_after_ms: 24 * 60 * minute_ms,
        logger: quietLogger,
        onFailure: () => undefined,
      })
    })
  return { ...world, addTask, find }
}

let findings = 0
function finding(more: Partial<FindingChange['now']> = {}): FindingChange['now'] {
  findings += 1
  return {
    finding_id: `00000000-0000-4000-8000-${String(findings).padStart(12, '0')}`,
    ...{ kind: 'loop', type: 'repeat_call', severity: 'high', state: 'open', confidence: 1 },
    summary: 'The same call was repeated.',
    ...more,
  } as FindingChange['now']
}

const opened = (more: Partial<FindingChange['now']> = {}): FindingChange => {
  return { now: finding(more), before: undefined }
}

describe('findings', () => {
  test('a finding that matches opens an incident, with the finding as evidence', async () => {
    const world = await eventWorld([eventRule('loops', { kinds: ['loop'], min_severity: 'high' })])
    await world.addTask('t')
    await world.find('t', [opened({ severity: 'low' }), opened({ kind: 'failure' })], 1)
    expect(await world.messages()).toEqual([])
    const loop = opened()
    await world.find('t', [loop], 2)
    expect(await world.messages()).toEqual(['loops opened'])
    const row = await world.db
      .selectFrom('incidents')
      .selectAll()
      .where('project_id', '=', world.project_id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ signal: 'finding', opened_at: new Date(at(2)).toISOString() })
    expect(row.evidence).toMatchObject([
      { kind: 'finding', id: loop.now.finding_id, task_id: 't', type: 'repeat_call' },
    ])
    // While it fires, further matches are evidence, and no messages.
    await world.find('t', [opened()], 3)
    expect(await world.messages()).toHaveLength(1)
    const again = await world.db.selectFrom('incidents').select('evidence').where('id', '=', row.id)
    expect((await again.executeTakeFirstOrThrow()).evidence).toHaveLength(2)
  })

  test('an update matches only when the finding did not match before', async () => {
    const world = await eventWorld([
      eventRule('high', { min_severity: 'high' }, { count: 2, within: '1h' }),
    ])
    await world.addTask('t')
    const low = finding({ severity: 'low' })
    await world.find('t', [{ now: low, before: undefined }], 1)
    const high = { ...low, severity: 'high' } as const
    await world.find('t', [{ now: high, before: low }], 2)
    await world.find('t', [{ now: { ...high, summary: 'Again.' }, before: high }], 3)
    expect(await world.messages()).toEqual([])
    await world.find('t', [{ now: high, before: { ...high, state: 'withdrawn' } }], 4)
    expect(await world.messages()).toEqual(['high opened'])
  })

  test('groups are those of the task: one for each model that the selector names', async () => {
    const rule = {
      ...eventRule('by-model', {}),
      group_by: ['model', 'environment'],
      selector: { model: ['gpt-*'], task_name: ['order*'] },
    } as Rule
    const world = await eventWorld([rule])
    await world.addTask('t', { models: ['gpt-5', 'gpt-4', 'claude'], environment: 'prod' })
    await world.addTask('other', { name: 'return', models: ['gpt-5'] })
    await world.find('t', [opened()], 1)
    await world.find('other', [opened()], 1)
    const rows = await world.db
      .selectFrom('incidents')
      .select('group_values')
      .where('project_id', '=', world.project_id)
      .orderBy('dedup_key')
      .execute()
    expect(rows.map(({ group_values }) => group_values)).toEqual([
      { environment: 'prod', model: 'gpt-4' },
      { environment: 'prod', model: 'gpt-5' },
    ])
  })

  test('concurrent transactions lose no match and do not wait for each other in a circle', async () => {
    const rules = ['a', 'b', 'c'].map((name) => eventRule(name, {}, { count: 20, within: '1h' }))
    const world = await eventWorld(rules)
    for (let i = 0; i < 20; i += 1) await world.addTask(`t${i}`)
    await Promise.all(Array.from({ length: 20 }, (_, i) => world.find(`t${i}`, [opened()], 1)))
    expect((await world.messages()).toSorted()).toEqual(['a opened', 'b opened', 'c opened'])
  })

  test('a rule that fails is marked; the finding and the other rules do not fail with it', async () => {
    const broken = { ...eventRule('broken', {}), notify: null } as unknown as Rule
    const world = await eventWorld([broken, eventRule('good', {})])
    await world.addTask('t')
    await world.db.transaction().execute(async (trx) => {
      const tables = trx as unknown as Kysely<TaskTables>
      const mark = { name: 'stored in the same transaction' }
      await tables.updateTable('tasks').set(mark).where('task_id', '=', 't').execute()
      await matchFindings(
        trx as unknown as Parameters<typeof matchFindings>[0],
        { project_id: world.project_id, task_id: 't', findings: [opened()] },
        { now_ms: at(1), forget_after_ms: 1, logger: quietLogger, onFailure: () => undefined },
      )
    })
    expect(await world.messages()).toEqual(['good opened'])
    expect(await world.evaluation()).toMatchObject({ failures: 1, rule_version: 0 })
    const tasks = (bench.db as unknown as Kysely<TaskTables>).selectFrom('tasks').select('name')
    const own = await tasks.where('project_id', '=', world.project_id).execute()
    expect(own).toEqual([{ name: 'stored in the same transaction' }])
  })

  test('a finding that is rolled back opens nothing', async () => {
    const world = await eventWorld([eventRule('all', {})])
    await world.addTask('t')
    const rolledBack = world.db.transaction().execute(async (trx) => {
      await matchFindings(
        trx as unknown as Parameters<typeof matchFindings>[0],
        { project_id: world.project_id, task_id: 't', findings: [opened()] },
        { now_ms: at(1), forget_after_ms: 1, logger: quietLogger, onFailure: () => undefined },
      )
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await world.messages()).toEqual([])
  })
})

describe('ticks', () => {
  async function tick(world: World, evaluator: ReturnType<World['open']>, minute: number) {
    world.time.now_ms = at(minute)
    await evaluator.claim()
    await evaluator.tickEvents()
  }

  test('an incident ends `keep_firing_for` after its last match, once the backlog is stored', async () => {
    const rule = { ...eventRule('ends', {}), keep_firing_for: '5m' } as Rule
    const world = await eventWorld([rule])
    await world.addTask('t')
    await world.find('t', [opened()], 1)
    const evaluator = world.open()
    await tick(world, evaluator, 5)
    expect(await world.messages()).toEqual(['ends opened'])
    world.signals.lag_ms = 10 * minute_ms
    await tick(world, evaluator, 7)
    expect(await world.messages()).toEqual(['ends opened'])
    world.signals.lag_ms = 0
    await tick(world, evaluator, 8)
    expect(await world.messages()).toEqual(['ends opened', 'ends resolved'])
  })

  test('a new version counts as evaluated without a match', async () => {
    const world = await eventWorld([eventRule('calm', {})])
    const evaluator = world.open()
    await tick(world, evaluator, 1)
    expect(await world.evaluation()).toMatchObject({ rule_version: 1, groups: 0, failures: 0 })
  })

  test('ledger entries count once: from the creation of the rule, over restarts and the hour', async () => {
    const rule = {
      ...eventRule('lost', { source: 'ledger', types: ['lost'] }, { count: 3, within: '1h' }),
    }
    const world = await eventWorld([rule])
    const items = [{ at_minute: -100, lost: 50 }]
    const ledger = async (_: string, from_ms: number): Promise<LedgerSums[]> => {
      const lost = items
        .filter(({ at_minute }) => at(at_minute) >= from_ms)
        .reduce((all, one) => all + one.lost, 0)
      const sums = { path: 'proxy', requests: 1, accepted: lost, stored: 0, pending: 0, masked: 0 }
      return [{ ...sums, rejected: { too_large: 7 }, lost: { not_settled: lost } } as LedgerSums]
    }
    const one = world.open({ ledger })
    const other = world.open({ ledger })
    await tick(world, one, 1)
    items.push({ at_minute: 1, lost: 2 })
    await tick(world, one, 2)
    await tick(world, one, 3)
    expect(await world.messages()).toEqual([])
    items.push({ at_minute: 61, lost: 1 })
    await world.db
      .updateTable('evaluation_workers')
      .set({ expires_at: new Date(0) })
      .execute()
    await tick(world, other, 61)
    expect(await world.messages()).toEqual(['lost opened'])
    const row = await world.db
      .selectFrom('incidents')
      .select('evidence')
      .where('project_id', '=', world.project_id)
      .executeTakeFirstOrThrow()
    expect(row.evidence).toMatchObject([{ kind: 'ledger', type: 'lost', value: 1 }])
  })
})
