import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Rule } from '../../src/capabilities/incidents/index.ts'
import { moveStored } from '../../src/capabilities/incidents/store/moves.ts'
import type { Evaluator } from '../../src/capabilities/incidents/worker/open-evaluator.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openWorld, spike } from '../support/evaluator-world.ts'
import type { FakeValues } from '../support/fake-signals.ts'
import { type IncidentBench, openIncidentBench } from '../support/incident-bench.ts'
import { at, loudRule } from '../support/incident-records.ts'

let bench: IncidentBench
beforeAll(async () => {
  bench = await openIncidentBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const world = (rules: readonly Rule[], values: FakeValues = () => 9) =>
  openWorld(bench, rules, values)
type World = Awaited<ReturnType<typeof openWorld>>

/** Applies timers and mutes at a minute, without a slot. */
async function look({ time }: World, evaluator: Evaluator, minute: number): Promise<void> {
  time.now_ms = at(minute)
  await evaluator.applyTimers()
  await evaluator.applyMutes()
}

async function suppress({ db, project_id }: World, more: object): Promise<string> {
  const id = newId()
  const now = new Date(at(0))
  const spec = { matchers: [], windows: [], comment: 'maintenance', ...more }
  const by = { created_at: now, created_by: 'user:ada', updated_at: now, updated_by: 'user:ada' }
  await db
    .insertInto('incident_suppressions')
    .values({ id, project_id, spec: JSON.stringify(spec), version: 1, ...by })
    .execute()
  return id
}

async function incidentIds({ db, project_id }: World): Promise<string[]> {
  const query = db.selectFrom('incidents').select('id').where('project_id', '=', project_id)
  return (await query.orderBy('number').execute()).map(({ id }) => id)
}

describe('timers', () => {
  test('escalation steps and reminders are messages; between them no timer is due', async () => {
    const rule = loudRule({
      escalation: [
        { after: '5m', notify: ['second'] },
        { after: '15m', notify: ['third'] },
      ],
      grouping: { repeat: '1h' },
    })
    const w = await world([rule])
    const evaluator = w.open()
    await w.run(evaluator, 0)
    for (const minute of [2, 5, 6, 7, 16, 17, 61, 62]) await look(w, evaluator, minute)
    const rows = await w.db
      .selectFrom('notification_outbox')
      .select(['reason', 'channel'])
      .where('project_id', '=', w.project_id)
      .orderBy('event_seq')
      .execute()
    expect(rows.map(({ reason, channel }) => `${reason} ${channel}`)).toEqual([
      ...['opened on-call', 'escalated second', 'escalated third', 'reminder on-call'],
    ])
    const [row] = await w.db
      .selectFrom('incidents')
      .select(['timer_at', 'version'])
      .where('project_id', '=', w.project_id)
      .execute()
    expect(row).toEqual({ timer_at: new Date(at(76)).toISOString(), version: 1 })
  })

  test('an acknowledgement that times out opens the incident again and takes the next step', async () => {
    const escalation = [{ after: '30m', notify: ['second'] }]
    const w = await world([loudRule({ ack_timeout: '10m', escalation })])
    const evaluator = w.open()
    await w.run(evaluator, 0)
    const [incident_id = ''] = await incidentIds(w)
    const move = { project_id: w.project_id, incident_id, move: { type: 'ack' } } as const
    await moveStored(w.db, { ...move, actor: { type: 'user', id: 'ada' }, now_ms: at(2) })
    await look(w, evaluator, 11)
    expect((await w.stored()).incidents).toMatchObject([{ state: 'acknowledged' }])
    await look(w, evaluator, 12)
    expect((await w.stored()).incidents).toMatchObject([{ state: 'open', version: 3 }])
    expect(await w.messages()).toEqual(['failures opened', 'failures ack_timed_out'])
  })

  test('two processes apply a timer once', async () => {
    const w = await world([loudRule({ escalation: [{ after: '5m', notify: ['second'] }] })])
    const both = [w.open(), w.open()]
    for (const one of both.slice(0, 1)) await w.run(one, 0)
    await Promise.all([...both, ...both].map((one) => look(w, one, 6)))
    expect(await w.messages()).toEqual(['failures opened', 'failures escalated'])
  })

  test('an incident whose rules are deleted has no timers, and does not fail the others', async () => {
    const w = await world([loudRule()])
    const evaluator = w.open()
    await w.run(evaluator, 0)
    await w.db.deleteFrom('incident_rules').execute()
    await look(w, evaluator, 600)
    expect(await w.messages()).toEqual(['failures opened'])
    const query = w.db.selectFrom('incidents').select('timer_at')
    expect(await query.where('project_id', '=', w.project_id).execute()).toEqual([
      { timer_at: null },
    ])
  })
})

describe('suppressions', () => {
  const matchers = [{ field: 'severity', op: 'lte', value: 'high' }]

  test('begin and end between two slots; what remains open is announced at the end', async () => {
    const w = await world([loudRule()])
    const windows = [{ from: new Date(at(1)).toISOString(), to: new Date(at(5)).toISOString() }]
    await suppress(w, { matchers, windows })
    const evaluator = w.open()
    await w.run(evaluator, 2)
    expect(await w.messages()).toEqual([])
    await look(w, evaluator, 4.9)
    expect(await w.messages()).toEqual([])
    await look(w, evaluator, 5)
    expect(await w.messages()).toEqual(['failures still_firing'])
    expect((await w.stored()).incidents).toMatchObject([{ version: 1 }])
  })

  test('a suppression of another project mutes nothing', async () => {
    const other = await world([])
    await suppress(other, { matchers, expires_at: new Date(at(900)).toISOString() })
    const w = await world([loudRule()])
    await w.run(w.open(), 2)
    expect(await w.messages()).toEqual(['failures opened'])
  })
})

describe('inhibition', () => {
  const inhibited_by = [{ rule: 'outage', equal: ['model'] }]
  const rules = [
    loudRule({ name: 'a-slow', group_by: ['model'], inhibited_by }),
    loudRule({ name: 'outage', group_by: ['model'] }),
  ]

  test('a source that opens in the same evaluation mutes; its end announces what remains', async () => {
    const w = await world(rules, (rule, end_ms) => {
      const isOver = rule.name === 'outage' && end_ms >= at(3)
      return [
        { group: { model: 'm1' }, value: isOver ? 0 : 9 },
        { group: { model: 'm2' }, value: rule.name === 'outage' ? 0 : 9 },
      ]
    })
    const evaluator = w.open()
    await w.run(evaluator, 2)
    expect((await w.messages()).toSorted()).toEqual(['a-slow opened', 'outage opened'])
    await w.run(evaluator, 3)
    await look(w, evaluator, 4)
    expect((await w.messages()).slice(2).toSorted()).toEqual([
      ...['a-slow still_firing', 'outage resolved'],
    ])
  })
})

test('samples are kept for two weeks', async () => {
  const w = await world([loudRule()], spike)
  const evaluator = w.open({ settings: { samples_ms: 60 * 60_000 } })
  await w.run(evaluator, 1)
  const count = async () => {
    const query = w.db.selectFrom('rule_samples').select('slot')
    return (await query.where('project_id', '=', w.project_id).execute()).length
  }
  w.time.now_ms = at(60)
  await evaluator.prune()
  expect(await count()).toBe(1)
  w.time.now_ms = at(62)
  await evaluator.prune()
  expect(await count()).toBe(0)
})

test('a rule without channels is announced to those of the default route of its project', async () => {
  const w = await world([loudRule({ notify: [], severity: 'high' })])
  const route = async (project_id: string, channel: string) => {
    const spec = JSON.stringify({ matches: [{ labels: {}, notify: [channel] }] })
    const by = { version: 1, updated_at: new Date(at(0)), updated_by: 'user:ada' }
    await w.db
      .insertInto('incident_default_routes')
      .values({ project_id, spec, ...by })
      .execute()
  }
  await route(w.project_id, 'night-shift')
  await route(await bench.newProject(), 'neighbour')
  await w.run(w.open(), 0)
  const rows = await w.db
    .selectFrom('notification_outbox')
    .select(['reason', 'channel'])
    .where('project_id', '=', w.project_id)
    .execute()
  expect(rows).toEqual([{ reason: 'opened', channel: 'night-shift' }])
})
