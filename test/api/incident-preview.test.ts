import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MeasuredSample, RangeRequest } from '../../src/capabilities/incidents/ports.ts'
import { newId } from '../../src/kernel/ids.ts'
import { callsOfGuide } from '../support/guide-calls.ts'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'
import { openSignalStores, type SignalStores } from '../support/incidents/signal-stores.ts'
import { observationOf } from '../support/observations.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

/** Measures the values of a test, one a minute, or rows that are stored. */
const world = {
  values: [] as number[],
  hold: Promise.resolve(),
  isStored: false,
  stored_from_ms: undefined as number | undefined,
}
let api: IncidentApi
let stores: SignalStores
let project: string
let neighbour: string
beforeAll(async () => {
  stores = await openSignalStores()
  api = await openIncidentApi({
    measureRange: async (request) => {
      if (world.isStored) return stores.signals.measureRange(request)
      await world.hold
      return {
        available_from_ms: world.stored_from_ms ?? request.from_ms,
        earlier: [],
        slots: slotsOf(request),
      }
    },
  })
})
beforeAll(async () => {
  project = await api.newProject()
  neighbour = await api.newProject()
})
afterAll(() => Promise.all([api?.[Symbol.asyncDispose](), stores?.close()]))

async function* slotsOf({ from_ms }: RangeRequest): AsyncGenerator<MeasuredSample> {
  const empty = { kind: 'condition', value: null, samples: 0, lag_ms: 0 } as const
  for (const [at, value] of world.values.entries()) {
    const sample = { ...empty, value, samples: 1 }
    yield { end_ms: from_ms + (at + 1) * 60_000, groups: [{ group: {}, sample }], empty }
  }
}

/** The clock of the routes is at noon of 2026-11-23. */
const now_ms = Date.UTC(2026, 10, 23, 12)
const rule = {
  ...{ name: 'dear', severity: 'high', notify: ['chat'] },
  condition: { signal: 'cost', window: '10m', threshold: 5 },
}
const preview = (body: object, project_id = project, headers = tokenOf('viewer', project_id)) =>
  api.call('POST', '/rules/preview', project_id, { body, headers })
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body?.code]

describe('a preview of a condition', () => {
  test('has transitions, pages a week, recipients, the series and warnings', async () => {
    world.values = [1, 9, 9, 1]
    const { status, body } = await preview({ rule, days: 14 })
    expect([status, body.code]).toEqual([200, undefined])
    const from_ms = Date.UTC(2026, 10, 9, 11, 59)
    const at = (minute: number) => new Date(from_ms + minute * 60_000).toISOString()
    expect(body).toMatchObject({
      ...{ from: at(0), to: '2026-11-23T11:59:00.000Z', available_from: at(0) },
      transitions: [
        { at: at(2), group: {}, type: 'fired', severity: 'high' },
        { at: at(4), group: {}, type: 'ended', severity: null },
      ],
      ...{ transitions_total: 2, minutes_firing: 2, incidents: 1, pages: 1, pages_per_week: 0.5 },
      ...{ messages: { opened: 1, resolved: 1 }, recipients: ['chat'], groups: 1, overflow: 0 },
      dedup_keys: [{ dedup_key: 'rule:["dear",{}]', groups: 1 }],
      warnings: [expect.stringContaining('`chat`')],
    })
    // A point is 40 minutes of 14 days: the highest value of its slots.
    expect(body.series[0].points).toEqual([{ at: at(2), value: 9, samples: 1 }])
    const list = await api.call('GET', '/rules', project)
    expect(list.body.total).toBe(0)
  })

  test('does not say how many pages a week a part of a day means', async () => {
    world.values = [1, 9, 9, 1]
    world.stored_from_ms = now_ms - 26 * 60_000
    const { body } = await preview({ rule })
    world.stored_from_ms = undefined
    expect(body).toMatchObject({ pages: 1, pages_per_week: null, evaluated_minutes: 25 })
    expect(body.warnings).toContainEqual(expect.stringContaining('25 minutes'))
  })

  test.each<[string, object, string]>([
    ['a range above 28 days', { from: '2026-10-01T00:00:00Z' }, '/from'],
    ['an empty range', { from: '2026-11-23T12:00:00Z' }, '/from'],
    ['days and an instant', { from: '2026-11-22T12:00:00Z', days: 1 }, '/days'],
    ['too many days', { days: 29 }, '/days'],
    ['too many slots', { rule: { ...rule, interval: '10s' }, days: 28 }, '/rule/interval'],
    [
      'a rule that can never fire',
      { rule: { ...rule, group_by: ['tag', 'tag'] } },
      '/rule/group_by',
    ],
    [
      'text with U+0000',
      { rule: { ...rule, annotations: { a: '\u0000' } } },
      '/rule/annotations/a',
    ],
  ])('refuses %s', async (_what, change, pointer) => {
    const reply = await preview({ rule, ...change })
    expect(codeOf(reply)).toEqual([400, 'invalid_request'])
    expect(reply.body.errors.map((each: Json) => each.pointer)).toContain(pointer)
  })

  test('runs one at a time in a project, and does not keep another project waiting', async () => {
    let release = () => {}
    world.hold = new Promise((resolve) => {
      release = resolve
    })
    const first = preview({ rule })
    await expect.poll(async () => codeOf(await preview({ rule }))).toEqual([429, 'rate_limited'])
    const other = preview({ rule }, neighbour)
    release()
    world.hold = Promise.resolve()
    expect([(await first).status, (await other).status]).toEqual([200, 200])
    expect((await preview({ rule })).status).toBe(200)
  })

  test('keys with `incidents:read` preview, others do not', async () => {
    expect((await preview({ rule }, project, keyOf(project, 'incidents:read'))).status).toBe(200)
    const denied = await preview({ rule }, project, keyOf(project, 'query:run'))
    expect(codeOf(denied)).toEqual([403, 'permission_denied'])
  })
})

test('a preview reads the stored calls of its project', async () => {
  world.isStored = true
  const call = (project_id: string, minutes: number, cost_usd: string) =>
    observationOf({
      ...{ project_id, observation_id: newId().slice(-16), model: 'm-1', cost_usd },
      start_time: BigInt(now_ms - minutes * 60_000) * 1_000_000n,
      end_time: BigInt(now_ms - minutes * 60_000 + 1_000) * 1_000_000n,
    })
  const calls = [call(project, 600, '1'), call(project, 120, '9'), call(neighbour, 60, '9')]
  await stores.observations.insert(calls, { token: newId() })
  const { body } = await preview({ rule: { ...rule, group_by: ['model'] }, days: 1 })
  world.isStored = false
  expect(body.transitions).toMatchObject([
    { group: { model: 'm-1' }, type: 'fired' },
    { group: { model: 'm-1' }, type: 'ended' },
  ])
  expect([body.minutes_firing, body.incidents]).toEqual([10, 1])
  expect(body.available_from).not.toBe(null)
})

describe('a preview of an event rule', () => {
  const at = (minutes: number) => new Date(now_ms - minutes * 60_000).toISOString()
  async function finding(minutes: number, given: object = {}, project_id = project) {
    const task_id = newId()
    const times = { started_at: at(minutes + 5), last_activity_at: at(minutes) }
    await api.db
      .insertInto('tasks')
      .values({
        ...{ project_id, task_id, name: 'plan', implicit: false, models: ['m'] },
        ...times,
      })
      .execute()
    await api.db
      .insertInto('findings')
      .values({
        ...{ finding_id: newId(), project_id, task_id, kind: 'loop', type: 'repeat_call' },
        ...{ detector: 'repeat_call', detector_version: 1, severity: 'high', state: 'open' },
        ...{ places: '[]', trace_ids: [], wasted_tokens: 0, wasted_cost_usd: '0' },
        ...{
          confidence: 1,
          recovered: false,
          evidence: '{}',
          summary: '',
          started_at: at(minutes),
        },
        ...{ first_detected_at: at(minutes), updated_at: at(minutes), ...given },
      } as never)
      .execute()
  }
  const event = { match: { source: 'finding', kinds: ['loop'], min_severity: 'high' } }
  const loops = { name: 'loops', severity: 'high', event, keep_firing_for: '10m' }

  test('reads the stored findings of its project', async () => {
    await finding(120)
    await finding(115, { kind: 'failure' })
    await finding(112, { severity: 'low' })
    await finding(60, { state: 'withdrawn' })
    await finding(30)
    await finding(90, {}, neighbour)
    const body = { rule: { ...loops, group_by: ['task_name', 'model'] }, days: 1 }
    const reply = await preview(body)
    const group = { model: 'm', task_name: 'plan' }
    expect(reply.body.transitions).toEqual([
      { at: at(120), group, type: 'fired', severity: 'high' },
      { at: at(110), group, type: 'ended', severity: null },
      { at: at(30), group, type: 'fired', severity: 'high' },
      { at: at(20), group, type: 'ended', severity: null },
    ])
    expect([reply.body.minutes_firing, reply.body.available_from]).toEqual([20, at(125)])
    const none = { ...loops, selector: { model: ['other-*'] } }
    expect((await preview({ rule: none, days: 1 })).body.transitions).toEqual([])
  })

  test('says that only findings are previewed', async () => {
    const ledger = { ...loops, event: { match: { source: 'ledger', types: ['lost'] } } }
    const { body } = await preview({ rule: ledger })
    expect(body.transitions).toEqual([])
    expect(body.warnings).toContainEqual(expect.stringContaining('Only findings'))
  })
})

test('the calls of the guide have the answers that it shows', async () => {
  const calls = await callsOfGuide('docs/guides/answer-an-incident.md')
  expect(calls).toHaveLength(9)
  const reader = await api.newProject()
  await api.newMember(reader, 'ada@example.com')
  await api.insertIncident(reader, { number: 1 })
  world.values = []
  for (const { path, body, answer } of calls) {
    const reply = await api.call('POST', path, reader, { body: body as object })
    expect(reply.body, path).toMatchObject(answer as object)
  }
})
