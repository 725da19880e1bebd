import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Rule } from '../../src/capabilities/incidents/index.ts'
import type { Message } from '../../src/capabilities/incidents/messages/message.ts'
import { orphanRule } from '../../src/capabilities/incidents/store/moves.ts'
import { durationMs } from '../../src/kernel/duration.ts'
import { minuteOf, openWorld, spike } from '../support/evaluator-world.ts'
import type { FakeValues } from '../support/fake-signals.ts'
import { type IncidentBench, openIncidentBench } from '../support/incident-bench.ts'
import { at, loudRule } from '../support/incident-records.ts'
import { minute_ms } from '../support/incident-steps.ts'

let bench: IncidentBench
beforeAll(async () => {
  bench = await openIncidentBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const world = (rules: readonly Rule[], values: FakeValues) => openWorld(bench, rules, values)

describe('slots', () => {
  test('a rule fires and resolves; each step is stored with its event and message', async () => {
    const { open, run, stored, messages, evaluation } = await world([loudRule()], spike)
    const evaluator = open()
    for (let minute = 0; minute <= 6; minute += 1) await run(evaluator, minute)
    expect(await messages()).toEqual(['failures opened', 'failures resolved'])
    const { incidents, events } = await stored()
    expect(incidents).toMatchObject([{ number: 1, state: 'resolved', version: 2, openings: 1 }])
    expect(events).toHaveLength(2)
    expect(await evaluation()).toMatchObject({
      ...{ rule_version: 1, groups: 1, overflow: 0, partial: false, failures: 0 },
      last_slot: new Date(at(6)).toISOString(),
    })
  })

  test('the message of the end has the value at the end', async () => {
    const { open, run, db, project_id } = await world([loudRule()], spike)
    const evaluator = open()
    for (let minute = 0; minute <= 6; minute += 1) await run(evaluator, minute)
    const rows = await db
      .selectFrom('notification_outbox')
      .select(['reason', 'message'])
      .where('project_id', '=', project_id)
      .orderBy('event_seq')
      .execute()
    const evidence = rows.map(({ message }) => (message as unknown as Message).incident.evidence)
    expect(evidence.map((all) => all.map(({ value }) => value))).toEqual([[9], [9, 0]])
  })

  test('a slot is evaluated once, and slots never move back with the clock', async () => {
    const { open, run, signals, evaluation, stored } = await world([loudRule()], spike)
    const evaluator = open()
    await run(evaluator, 3)
    const before = { stored: await stored(), evaluation: await evaluation() }
    const { measured } = signals
    for (const minute of [3, 2, -7, 3]) await run(evaluator, minute)
    expect(signals.measured).toBe(measured)
    expect({ stored: await stored(), evaluation: await evaluation() }).toEqual(before)
    await run(evaluator, 4)
    expect(signals.measured).toBeGreaterThan(measured)
  })

  test('a clock that jumps ten minutes ahead skips nothing and repeats nothing', async () => {
    const { open, run, messages, evaluation } = await world([loudRule()], spike)
    const evaluator = open()
    await run(evaluator, 0)
    await run(evaluator, 10)
    await run(evaluator, 1)
    await run(evaluator, 11)
    expect(await messages()).toEqual(['failures opened', 'failures resolved'])
    expect((await evaluation())?.gap_from).toBeNull()
  })

  test('missed slots are evaluated up to 15 minutes, then skipped and marked as a gap', async () => {
    const { open, run, evaluation } = await world([loudRule()], spike)
    const evaluator = open()
    await run(evaluator, 0)
    await run(evaluator, 60)
    expect(await evaluation()).toMatchObject({
      gap_from: new Date(at(16)).toISOString(),
      gap_to: new Date(at(59)).toISOString(),
      last_slot: new Date(at(60)).toISOString(),
    })
  })

  test('late rows open an incident that is marked late and ends by itself', async () => {
    let isLate = false
    const { open, run, messages, db, project_id } = await world([loudRule()], (_, end_ms) =>
      isLate && minuteOf(end_ms) === 2 ? 9 : 0,
    )
    const evaluator = open()
    for (let minute = 0; minute <= 4; minute += 1) await run(evaluator, minute)
    isLate = true
    await run(evaluator, 5)
    expect(await messages()).toEqual(['failures opened', 'failures resolved'])
    const rows = await db
      .selectFrom('notification_outbox')
      .select(['reason', 'late'])
      .where('project_id', '=', project_id)
      .orderBy('event_seq')
      .execute()
    expect(rows).toEqual([
      { reason: 'opened', late: true },
      { reason: 'resolved', late: false },
    ])
  })

  test('a changed version begins without state, and counts as evaluated after a slot of its own', async () => {
    const { open, run, db, ids, evaluation } = await world([loudRule()], () => 0)
    const evaluator = open()
    await run(evaluator, 0)
    await db
      .updateTable('incident_rules')
      .set({ version: 2 })
      .where('id', '=', ids[0] ?? '')
      .execute()
    expect((await evaluation())?.rule_version).toBe(1)
    await run(evaluator, 1)
    expect((await evaluation())?.rule_version).toBe(2)
  })
})

describe('a rule that is edited while a group is silent', () => {
  /** Rows of two agents up to minute 5 and from minute 30 on; a third one was silent for two days. */
  const talk: FakeValues = ({ condition }, end_ms) => {
    const window_ms = durationMs(Object(condition).window)
    const rowsOf = (name: string, minute: number) =>
      at(minute) <= end_ms && at(minute) > end_ms - window_ms
        ? [{ group: { task_name: name }, value: 1 }]
        : []
    const agents = ['a', 'b'].flatMap((name) => {
      const all = [...rowsOf(name, 5), ...rowsOf(name, 30)]
      return all.slice(0, 1)
    })
    return [...agents, ...rowsOf('old', -2 * 1440)]
  }
  const silent = loudRule({
    ...{ name: 'silent', group_by: ['task_name'], reopen_within: '0s' },
    condition: { signal: 'absent', window: '10m' },
  })
  const alerting = loudRule({
    ...{ name: 'no-data', group_by: ['task_name'], reopen_within: '0s', no_data: 'alerting' },
    condition: { signal: 'error_rate', window: '10m', threshold: 2 },
  })

  async function edit(
    { db, ids, project_id }: Awaited<ReturnType<typeof world>>,
    rule: Rule,
    minute: number,
  ) {
    await db.transaction().execute(async (trx) => {
      await orphanRule(trx, { project_id, rule_name: rule.name, now_ms: at(minute) })
      await trx
        .updateTable('incident_rules')
        .set({ version: 2, spec: JSON.stringify(rule) as never })
        .where('id', '=', ids[0] ?? '')
        .execute()
    })
  }

  test.each([silent, alerting])(
    '$name: the incident goes on, and its end resolves it',
    async (rule) => {
      const one = await world([rule], talk)
      const evaluator = one.open()
      for (let minute = 0; minute <= 18; minute += 1) await one.run(evaluator, minute)
      const before = (await one.stored()).incidents
      expect(before.map(({ state }) => state)).toEqual(['open', 'open'])
      await edit(one, { ...rule, severity: 'low', annotations: { summary: 'edited' } }, 19)
      await one.run(evaluator, 20)
      const incidents = await bench.db
        .selectFrom('incidents')
        .select(['number', 'state', 'orphaned'])
        .where('project_id', '=', one.project_id)
        .orderBy('number')
        .execute()
      expect(incidents).toEqual([
        { number: 1, state: 'open', orphaned: false },
        { number: 2, state: 'open', orphaned: false },
      ])
      for (let minute = 21; minute <= 31; minute += 1) await one.run(evaluator, minute)
      const after = (await one.stored()).incidents
      expect(after.map(({ state }) => state)).toEqual(['resolved', 'resolved'])
    },
  )

  test('a new rule knows the groups of the day before, and those that have rows come first', async () => {
    const one = await world([silent], talk)
    await one.run(one.open(), 20)
    const { incidents } = await one.stored()
    expect(incidents.map(({ dedup_key }) => dedup_key)).toEqual([
      'rule:["silent",{"task_name":"a"}]',
      'rule:["silent",{"task_name":"b"}]',
    ])
  })

  test('a rule whose earlier groups cannot be read waits', async () => {
    const down: FakeValues = (rule, end_ms) =>
      Object(rule.condition).window === '10m' ? talk(rule, end_ms) : { error: 'too slow' }
    const one = await world([silent], down)
    await one.run(one.open(), 20)
    expect(await one.evaluation()).toMatchObject({ last_slot: null, last_error: 'too slow' })
  })
})

describe('a backlog', () => {
  test('a partial slot waits; it is evaluated again once the rows are stored', async () => {
    const rule = loudRule({ condition: { signal: 'failure_rate', window: '5m', threshold: 0.5 } })
    const { open, run, signals, messages, evaluation } = await world([rule], spike)
    const evaluator = open()
    await run(evaluator, 1)
    signals.lag_ms = 5 * minute_ms
    for (const minute of [2, 3]) await run(evaluator, minute)
    expect(await evaluation()).toMatchObject({
      ...{ partial: true, lag_ms: 5 * minute_ms, rule_version: 1 },
      last_slot: new Date(at(1)).toISOString(),
    })
    expect(await messages()).toEqual([])
    signals.lag_ms = 0
    await run(evaluator, 4)
    expect(await messages()).toEqual(['failures opened'])
    expect(await evaluation()).toMatchObject({ partial: false })
  })

  test('a count that exceeds its threshold fires although rows are missing', async () => {
    const { open, run, signals, messages } = await world([loudRule()], spike)
    const evaluator = open()
    await run(evaluator, 1)
    signals.lag_ms = 5 * minute_ms
    for (const minute of [2, 3, 4, 5]) await run(evaluator, minute)
    expect(await messages()).toEqual(['failures opened'])
  })
})

describe('failures', () => {
  test('a store that is down keeps states, and nothing is lost when it is back', async () => {
    const { open, run, signals, messages, evaluation } = await world([loudRule()], spike)
    const evaluator = open()
    await run(evaluator, 1)
    signals.isDown = true
    for (const minute of [2, 3]) await run(evaluator, minute)
    const failed = await evaluation()
    expect(failed).toMatchObject({ failures: 2, last_slot: new Date(at(1)).toISOString() })
    expect(failed?.last_error).not.toContain('ECONNREFUSED')
    signals.isDown = false
    for (const minute of [4, 5, 6]) await run(evaluator, minute)
    expect(await messages()).toEqual(['failures opened', 'failures resolved'])
    expect(await evaluation()).toMatchObject({ failures: 0, last_error: null })
  })

  test('a rule that cannot be measured or evaluated does not hold up the others', async () => {
    const good = loudRule({ name: 'good' })
    const unread = loudRule({ name: 'unread' })
    // As a rule that an earlier version stored, without a field that is required now.
    const broken = { ...loudRule({ name: 'broken' }), notify: null } as unknown as Rule
    const w = await world([broken, unread, good], (rule, end_ms) =>
      rule.name === 'unread' ? { error: 'the query took more than 10 s' } : spike(rule, end_ms),
    )
    const evaluator = w.open()
    for (let minute = 0; minute <= 6; minute += 1) await w.run(evaluator, minute)
    expect(await w.messages()).toContain('good resolved')
    expect(await w.evaluation(w.ids[1])).toMatchObject({
      ...{ last_error: 'the query took more than 10 s', last_slot: null },
    })
    expect((await w.evaluation(w.ids[0]))?.last_error).toContain('could not be evaluated')
  })

  test('values of payloads that no index can hold do not block the rules of a project', async () => {
    const long = '\u0001'.repeat(9000)
    const rule = loudRule({ name: 'hostile', group_by: ['task_name'] })
    const other = loudRule({ name: 'other' })
    const w = await world([rule, other], (one, end_ms) => {
      if (one.name === 'other') return spike(one, end_ms)
      const values = [long, `${long}!`, 'nul \u0000', 'nul \ufffd', 'half \ud800']
      return values.map((task_name) => ({ group: { task_name }, value: 9 }))
    })
    await w.run(w.open(), 2)
    const { incidents } = await w.stored()
    expect(incidents.map(({ rule_name }) => rule_name).toSorted()).toEqual([
      ...['hostile', 'hostile', 'hostile', 'hostile', 'other'],
    ])
    await w.run(w.open(), 3)
    expect((await w.stored()).incidents).toHaveLength(5)
  })
})

describe('groups', () => {
  test('further groups than 500 are counted; a group without rows is forgotten after a day', async () => {
    const rule = loudRule({ group_by: ['model'] })
    const { open, run, evaluation } = await world([rule], (_, end_ms) =>
      minuteOf(end_ms) > 2
        ? []
        : Array.from({ length: 510 }, (_, i) => ({ group: { model: `m${i}` }, value: 0 })),
    )
    const evaluator = open()
    await run(evaluator, 1)
    expect(await evaluation()).toMatchObject({ groups: 500, overflow: 10 })
    await run(evaluator, 24 * 60 - 10)
    expect(await evaluation()).toMatchObject({ groups: 500 })
    await run(evaluator, 24 * 60 + 3)
    expect(await evaluation()).toMatchObject({ groups: 0, overflow: 0 })
  })
})
