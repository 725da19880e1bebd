import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ruleTable } from '../../src/capabilities/incidents/api/rules/store.ts'
import { newGroup } from '../../src/capabilities/incidents/evaluation/step.ts'
import { incidentSchema } from '../../src/capabilities/incidents/incident-view.ts'
import { applyTimers, joinTimers } from '../../src/capabilities/incidents/life-cycle/due.ts'
import { openIncidents } from '../../src/capabilities/incidents/store/incident-book.ts'
import { coreOf, toIncidentView } from '../../src/capabilities/incidents/store/incident-row.ts'
import {
  deliveredOpening,
  type MoveRequest,
  moveStored,
  orphanRule,
} from '../../src/capabilities/incidents/store/moves.ts'
import { putStates } from '../../src/capabilities/incidents/store/rule-rows.ts'
import {
  type IncidentBench,
  openIncidentBench,
  putState,
  transit,
} from '../support/incident-bench.ts'
import { at, loudRule } from '../support/incident-records.ts'
import { blocked } from '../support/row-locks.ts'

let bench: IncidentBench
let project_id: string
beforeAll(async () => {
  bench = await openIncidentBench()
  project_id = await bench.newProject()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const ada = { type: 'user', id: 'ada' } as const

function move(incident_id: string, move: MoveRequest, minute: number, if_match?: number) {
  const now_ms = at(minute)
  return moveStored(bench.db, { project_id, incident_id, move, actor: ada, if_match, now_ms })
}

async function timeline(incident_id: string) {
  const rows = await bench.db
    .selectFrom('incident_events')
    .select(['seq', 'type', 'actor_type'])
    .where('incident_id', '=', incident_id)
    .orderBy('seq')
    .execute()
  return rows.map(({ seq, type, actor_type }) => `${seq} ${type} by ${actor_type}`)
}

async function outbox(incident_id: string) {
  const rows = await bench.db
    .selectFrom('notification_outbox')
    .select(['event_seq', 'reason', 'channel', 'message'])
    .where('incident_id', '=', incident_id)
    .orderBy('event_seq')
    .orderBy('channel')
    .execute()
  return rows.map((row) => `${row.event_seq} ${row.reason} to ${row.channel}`)
}

async function opened(name: string, more: object = {}) {
  const rule = loudRule({ name, ...more })
  const rule_id = await bench.addRule(project_id, rule)
  const incident = await transit(bench.db, project_id, { type: 'fired', minute: 0, rule })
  if (incident === undefined) throw new Error('nothing was opened')
  return { rule, rule_id, incident }
}

async function stored(incident_id: string) {
  return bench.db
    .selectFrom('incidents')
    .selectAll()
    .where('id', '=', incident_id)
    .executeTakeFirstOrThrow()
}

describe('a stored incident', () => {
  test('from the opening to the resolve: events and messages have the same positions', async () => {
    const { rule, incident } = await opened('whole-life', { notify: ['on-call', 'log'] })
    await transit(bench.db, project_id, { type: 'ended', minute: 5, rule })
    expect(await timeline(incident.id)).toEqual(['1 opened by rule', '2 resolved by rule'])
    const messages = ['1 opened to log', '1 opened to on-call']
    const ends = ['2 resolved to log', '2 resolved to on-call']
    expect(await outbox(incident.id)).toEqual([...messages, ...ends])
    const row = await stored(incident.id)
    expect(row).toMatchObject({ state: 'resolved', last_seq: 2, timer_at: null, moved: false })
    expect(row.resolved_at).toBe(new Date(at(5)).toISOString())
    expect(incidentSchema.parse(toIncidentView(row))).toMatchObject({
      ...{ state: 'resolved', rule: 'whole-life', rules: ['whole-life'], version: 2 },
    })
  })

  test('a message shows the incident as it was at its event', async () => {
    const { incident, rule } = await opened('as-it-was')
    await transit(bench.db, project_id, { type: 'ended', minute: 1, rule })
    const rows = await bench.db
      .selectFrom('notification_outbox')
      .select('message')
      .where('incident_id', '=', incident.id)
      .orderBy('event_seq')
      .execute()
    expect(rows.map(({ message }) => message)).toMatchObject([
      { reason: 'opened', note: null, incident: { state: 'open', version: 1 } },
      { reason: 'resolved', note: null, incident: { state: 'resolved', version: 2 } },
    ])
  })

  test('concurrent openings of one key are one incident; other keys have numbers without holes', async () => {
    const own = await bench.newProject()
    const rules = Array.from({ length: 12 }, (_, i) =>
      loudRule({ name: `rule-${i}`, ...(i % 2 === 0 && { dedup_key: 'shared' }) }),
    )
    await Promise.all(
      rules.map((rule) => transit(bench.db, own, { type: 'fired', minute: 0, rule })),
    )
    const rows = await bench.db
      .selectFrom('incidents')
      .select(['number', 'dedup_key', 'core'])
      .where('project_id', '=', own)
      .orderBy('number')
      .execute()
    expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7])
    const shared = rows.filter(({ dedup_key }) => dedup_key === 'key:shared')
    expect(shared).toHaveLength(1)
    expect(shared[0]?.core['contributors']).toHaveLength(6)
  })

  test('text of payloads that PostgreSQL cannot store does not block the incident', async () => {
    const group = { task_name: 'nul \u0000, half \ud83d, quote " and \u0001' }
    const rule = loudRule({ name: 'hostile', group_by: ['task_name'] })
    const change = { type: 'fired', minute: 0, rule, group } as const
    const incident = await transit(bench.db, project_id, change)
    const row = await stored(incident?.id ?? '')
    expect(row.group_values).toEqual({ task_name: 'nul \ufffd, half \ufffd, quote " and \u0001' })
  })
})

describe('moves', () => {
  test('a move has its actor and note; the same move twice changes nothing', async () => {
    const { incident } = await opened('moved')
    const note = 'I look at it'
    const first = await move(incident.id, { type: 'ack', note }, 1, 1)
    expect(first).toMatchObject({ kind: 'moved', incident: { state: 'acknowledged', version: 2 } })
    expect(await move(incident.id, { type: 'ack' }, 2)).toMatchObject({ kind: 'unchanged' })
    expect(await timeline(incident.id)).toEqual(['1 opened by rule', '2 acknowledged by user'])
    const row = await stored(incident.id)
    expect(row).toMatchObject({ moved: true, version: 2 })
    expect(row.first_acknowledged_at).toBe(new Date(at(1)).toISOString())
  })

  test('If-Match of an old version is refused, and of an unknown incident nothing is known', async () => {
    const { incident } = await opened('stale')
    await move(incident.id, { type: 'assign', assignee: 'bo' }, 1)
    expect(await move(incident.id, { type: 'ack' }, 2, 1)).toMatchObject({
      ...{ kind: 'refused', code: 'precondition_failed', incident: { version: 2 } },
    })
    const other = await bench.newProject()
    const request = { incident_id: incident.id, move: { type: 'ack' }, actor: ada } as const
    const moved = moveStored(bench.db, { ...request, project_id: other, now_ms: at(3) })
    expect(await moved).toBeUndefined()
  })

  test('a reminder between reading and acknowledging does not refuse the acknowledgement', async () => {
    const { incident, rule } = await opened('reminded')
    await bench.db.transaction().execute(async (trx) => {
      const book = await openIncidents(trx, { project_id, now_ms: at(300) })
      const before = await book.read(incident.id)
      if (before === undefined) throw new Error('no incident')
      const change = applyTimers(coreOf(before), joinTimers([rule]), at(300))
      expect(change.events.map(({ type }) => type)).toEqual(['reminder'])
      book.record({ before, change })
      await book.save()
    })
    expect(await outbox(incident.id)).toContain('2 reminder to on-call')
    expect(await move(incident.id, { type: 'ack' }, 301, 1)).toMatchObject({ kind: 'moved' })
  })

  test('a resolve by a person makes firing groups quiet; a reopening makes them fire again', async () => {
    const { incident, rule_id } = await opened('by-hand')
    const run = { since_ms: at(0), until_ms: at(0) }
    await putState(bench.db, { rule_id, project_id }, { phase: 'firing', run, severity: 'high' })
    const phase = async () => {
      const [row] = await bench.db
        .selectFrom('rule_states')
        .selectAll()
        .where('rule_id', '=', rule_id)
        .execute()
      return [row?.state['phase'], row?.firing]
    }
    await move(incident.id, { type: 'resolve' }, 1)
    expect(await phase()).toEqual(['quiet', false])
    await move(incident.id, { type: 'reopen' }, 2)
    expect(await phase()).toEqual(['firing', true])
    const row = await stored(incident.id)
    expect(row.core['contributors']).toEqual([{ rule: 'by-hand', group: '{}' }])
  })

  test('reopening an old incident while a newer one of its key is open is refused', async () => {
    const { incident, rule } = await opened('old-and-new', { reopen_within: '0s' })
    await transit(bench.db, project_id, { type: 'ended', minute: 1, rule })
    const newer = await transit(bench.db, project_id, { type: 'fired', minute: 2, rule })
    expect(newer?.id).not.toBe(incident.id)
    expect(await move(incident.id, { type: 'reopen' }, 3)).toMatchObject({
      ...{ kind: 'refused', code: 'incident_state_conflict' },
    })
    expect(await move(incident.id, { type: 'comment', note: 'later' }, 4)).toMatchObject({
      kind: 'moved',
    })
    // The comment did not make the old incident the newest one.
    await transit(bench.db, project_id, { type: 'ended', minute: 5, rule })
    expect((await stored(newer?.id ?? '')).state).toBe('resolved')
  })
})

describe('a rule that changes', () => {
  test('its incident is orphaned and stays open; its groups and slots begin anew', async () => {
    const { incident, rule_id, rule } = await opened('edited')
    await putState(bench.db, { rule_id, project_id }, { phase: 'firing' })
    const evaluation = { rule_id, project_id, rule_version: 1, last_slot: new Date(at(0)) }
    await bench.db.insertInto('rule_evaluations').values(evaluation).execute()
    await bench.db
      .transaction()
      .execute((trx) => orphanRule(trx, { project_id, rule_name: rule.name, now_ms: at(1) }))
    const row = await stored(incident.id)
    expect(row).toMatchObject({ state: 'open', orphaned: true, version: 2 })
    expect(await timeline(incident.id)).toEqual(['1 opened by rule', '2 orphaned by rule'])
    const of = (table: 'rule_states' | 'rule_evaluations') =>
      bench.db.selectFrom(table).selectAll().where('rule_id', '=', rule_id).execute()
    expect(await of('rule_states')).toEqual([])
    expect(await of('rule_evaluations')).toMatchObject([{ rule_version: 1, last_slot: null }])
  })
})

test('an edit and an evaluation of one rule do not wait for each other in a circle', async () => {
  const { rule, rule_id } = await opened('edited-at-once')
  let edit: Promise<void> | undefined
  await bench.db.transaction().execute(async (trx) => {
    await openIncidents(trx, { project_id, now_ms: at(1) })
    edit = bench.db.transaction().execute(async (other) => {
      await ruleTable.lock(other, { project_id, id: rule_id })
      await orphanRule(other, { project_id, rule_name: rule.name, now_ms: at(1) })
    })
    await blocked(bench.db, 1)
    await putStates(trx, project_id, [{ rule_id, group_key: '{}', state: newGroup }])
  })
  await edit
  const states = bench.db.selectFrom('rule_states').select('rule_id')
  expect(await states.where('rule_id', '=', rule_id).execute()).toEqual([])
})

describe('delivered openings', () => {
  test('a message of before the reopening does not count', async () => {
    const { incident, rule } = await opened('delivered')
    await transit(bench.db, project_id, { type: 'ended', minute: 1, rule })
    await transit(bench.db, project_id, { type: 'fired', minute: 2, rule })
    await deliveredOpening(bench.db, incident.id, 1)
    expect((await stored(incident.id)).core['opened_delivered']).toBe(false)
    await deliveredOpening(bench.db, incident.id, 3)
    const row = await stored(incident.id)
    expect(row.core['opened_delivered']).toBe(true)
    expect(row.version).toBe(3)
  })

  test('a change at the same time does not lose it', async () => {
    const { incident, rule } = await opened('at-once')
    await Promise.all([
      ...Array.from({ length: 5 }, (_, i) =>
        move(incident.id, { type: 'comment', note: `${i}` }, 1),
      ),
      bench.db.transaction().execute((trx) => deliveredOpening(trx, incident.id, 1)),
      transit(bench.db, project_id, { type: 'fired', minute: 1, rule }),
    ])
    const row = await stored(incident.id)
    expect(row.core['opened_delivered']).toBe(true)
    expect(await timeline(incident.id)).toHaveLength(7)
  })
})
