import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: IncidentApi
let project: string
beforeAll(async () => {
  api = await openIncidentApi()
})
beforeAll(async () => {
  project = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const acknowledge = (incidents: unknown, more: object = {}, project_id = project) =>
  api.call('POST', '/ack', project_id, { body: { incidents, ...more } })
const resultsOf = ({ body }: { body: Json }) =>
  body.results.map(({ incident, result }: Json) => [incident, result])
const read = async (id: string) => (await api.call('GET', `/${id}`, project)).body

test('each incident has its result; the same call again changes nothing', async () => {
  const open = await api.insertIncident(project)
  const second = await api.insertIncident(project)
  const resolved = await api.insertIncident(project, { state: 'resolved', version: 4 })
  const { number } = await read(second)
  const foreign = await api.insertIncident(await api.newProject())
  const missing = newId()
  const names = [open, number, resolved, foreign, missing, 'a-name', '0', String(number), open]
  const first = await acknowledge(names, { note: 'one outage' })
  expect([first.status, resultsOf(first)]).toEqual([
    200,
    [
      ...[
        [open, 'acknowledged'],
        [String(number), 'acknowledged'],
        [resolved, 'resolved'],
      ],
      ...[
        [foreign, 'not_found'],
        [missing, 'not_found'],
        ['a-name', 'not_found'],
      ],
      ...[
        ['0', 'not_found'],
        [String(number), 'already'],
        [open, 'already'],
      ],
    ],
  ])
  expect(first.body.results[1]).toEqual({
    ...{ incident: String(number), result: 'acknowledged', incident_id: second, number },
    version: 2,
  })
  expect(first.body.results[3]).toMatchObject({ incident_id: null, number: null, version: null })
  const again = await acknowledge([open, number])
  expect(resultsOf(again)).toEqual([
    [open, 'already'],
    [String(number), 'already'],
  ])
  const { state, version, timeline } = await read(open)
  expect([state, version, timeline.events.length]).toEqual(['acknowledged', 2, 1])
  expect(timeline.events[0]).toMatchObject({
    ...{ type: 'acknowledged', note: 'one outage', actor: { type: 'user', id: 'user-1' } },
  })
  expect((await read(resolved)).version).toBe(4)
})

/** The results of an incident in a state, and of the same incident again. */
const resultsOfState = {
  open: ['acknowledged', 'already'],
  acknowledged: ['already', 'already'],
  resolved: ['resolved', 'resolved'],
  missing: ['not_found', 'not_found'],
} as const

test('the results are those of single acknowledgements, in order', async () => {
  const states = ['open', 'acknowledged', 'resolved', 'missing'] as const
  const lists = fc.array(fc.record({ state: fc.constantFrom(...states), twice: fc.boolean() }), {
    ...{ minLength: 1, maxLength: 12 },
  })
  await fc.assert(
    fc.asyncProperty(lists, async (list) => {
      const named = await Promise.all(
        list.map(async ({ state, twice }) => {
          const id = state === 'missing' ? newId() : await api.insertIncident(project, { state })
          const [first, second] = resultsOfState[state]
          return twice ? [[id, first] as const, [id, second] as const] : [[id, first] as const]
        }),
      )
      const names = named.flat().map(([id]) => id)
      const expected = named.flat().map(([, result]) => result)
      const { body } = await acknowledge(names)
      expect(body.results.map((one: Json) => one.result)).toEqual(expected)
    }),
    { numRuns: 10 },
  )
})

test('100 incidents in one call, no more and not none', async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, () => api.insertIncident(project)))
  const { body } = await acknowledge(ids)
  expect(body.results.every((one: Json) => one.result === 'acknowledged')).toBe(true)
  for (const incidents of [[], [...ids, '1'], [1.5], [null], 'all', [''], undefined]) {
    expect((await acknowledge(incidents)).body.code).toBe('invalid_request')
  }
  expect((await acknowledge(['1'], { by: 'me' })).body.code).toBe('invalid_request')
})

test('editors and keys with `incidents:write`', async () => {
  const id = await api.insertIncident(project)
  const as = async (headers: Record<string, string>) =>
    (await api.call('POST', '/ack', project, { body: { incidents: [id] }, headers })).status
  expect(await as(tokenOf('viewer', project))).toBe(403)
  expect(await as(keyOf(project, 'incidents:read'))).toBe(403)
  expect(await as(keyOf(project, 'incidents:write'))).toBe(200)
  expect(await as(tokenOf('editor', project))).toBe(200)
})
