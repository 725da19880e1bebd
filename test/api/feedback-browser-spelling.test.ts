import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type FeedbackApi, openFeedbackApi, type Reply } from '../support/feedback-api.ts'
import { tokenOf } from '../support/task-api.ts'

/** A browser key that names one task by several spellings of its id. */
let api: FeedbackApi
let project: string
let key: string
let networks = 0

beforeAll(async () => {
  api = await openFeedbackApi({ real_keys: true })
  project = await api.newProject()
  const made = await api.call('POST', project, `/api/v2/access/projects/${project}/api-keys`, {
    headers: tokenOf('admin', project),
    body: {
      ...{ name: 'page', scopes: ['feedback:write'], user_rate_per_minute: 600 },
      origins: ['https://app.example.com'],
    },
  })
  key = made.body.key
})
afterAll(() => api?.[Symbol.asyncDispose]())

const hexOf = (id: string) => id.replaceAll('-', '')
const spellings: readonly ((id: string) => string)[] = [
  (id) => id,
  hexOf,
  (id) => id.toUpperCase(),
  (id) => hexOf(id).toUpperCase(),
  (id) => `${id.slice(0, 10).toUpperCase()}${id.slice(10)}`,
]
const spell = (id: string, at: number) => spellings[at]?.(id) ?? id
const hour_ms = 3_600_000

const action = fc.record({
  kind: fc.constantFrom('POST', 'PUT', 'DELETE', 'attach'),
  item: fc.nat(1),
  spelling: fc.nat(spellings.length - 1),
  user: fc.constantFrom('ann', 'bob', undefined),
  thumbs: fc.constantFrom('up', 'down'),
  version: fc.constantFrom(undefined, '"1"', '"2"'),
  at_ms: fc.constantFrom(undefined, -hour_ms, -30 * hour_ms, hour_ms),
})
type Action = { kind: string; item: number; spelling: number; thumbs: string } & {
  user: string | undefined
  version: string | undefined
  at_ms: number | undefined
}
type Named = { task_id: string; items: readonly string[]; from: string }

function send({ task_id, items, from }: Named, given: Action): Promise<Reply> {
  const { kind, spelling, item, user, thumbs, version, at_ms } = given
  const feedback_id = items[item]
  const headers = {
    ...{ 'x-api-key': key, origin: 'https://app.example.com' },
    ...(version !== undefined && kind !== 'POST' && { 'if-match': version }),
  }
  const task = encodeURIComponent(spell(task_id, spelling))
  if (kind === 'POST') {
    const at = at_ms === undefined ? {} : { at: new Date(api.clock.ms + at_ms).toISOString() }
    const body = { feedback_id, thumbs, ...(user !== undefined && { user_id: user }), ...at }
    return api.call('POST', project, `${task}/feedback`, { headers, from, body })
  }
  const path = `${task}/feedback/${feedback_id}${user === undefined ? '' : `?user_id=${user}`}`
  const body = kind === 'PUT' ? { body: { thumbs } } : {}
  return api.call(kind === 'PUT' ? 'PUT' : 'DELETE', project, path, { headers, from, ...body })
}

/** Returns a reply without what differs in every reply. */
function shown({ status, body, headers }: Reply, { task_id, items }: Named) {
  const { date: _date, 'x-request-id': _id, 'content-length': _length, ...more } = headers
  let text = JSON.stringify({ status, body, headers: more })
  for (const at of spellings.keys()) text = text.replaceAll(spell(task_id, at), 'TASK')
  for (const item of items) text = text.replaceAll(item, 'ITEM')
  return text
    .replaceAll(/"ratelimit-\w+":"\d+"/g, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
}

test.each<[string, boolean, number]>([
  ['an implicit task', true, 0],
  ['a task whose id is a UUID', false, 0],
  ['a task whose id is hex', false, 1],
  ['a task whose id is a UUID in capitals', false, 2],
  ['a task whose id is hex in capitals', false, 3],
  ['a task whose id is a UUID in both cases', false, 4],
])('%s has the same answers as an unknown one, in any spelling', async (_name, implicit, form) => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 8 }), async (actions) => {
      api.clock.ms += 1_000
      networks += 1
      const from = `10.${networks >> 8}.${networks & 255}.1`
      const named = () => ({ task_id: newId(), items: [newId(), newId()], from })
      const [known, unknown] = [named(), named()]
      await api.newTask(project, { task_id: spell(known.task_id, form), implicit })
      for (const one of actions) {
        if (one.kind === 'attach') {
          api.clock.ms += 600_000
          await api.attach()
          continue
        }
        const reply = shown(await send(unknown, one), unknown)
        expect(reply).toBe(shown(await send(known, one), known))
      }
    }),
    { numRuns: 20 },
  )
})

test('items that wait under several spellings have the limits of one task together', async () => {
  const task_id = newId()
  let accepted = 0
  for (let at = 0; at < 20; at += 1) {
    api.clock.ms += 100
    const headers = { 'x-api-key': key, origin: 'https://app.example.com' }
    const body = { feedback_id: newId(), user_id: `user ${at}`, thumbs: 'up' }
    const about = { headers, from: '10.200.0.1' }
    const reply = await api.give(project, spell(task_id, at % spellings.length), body, about)
    if (reply.status === 201) accepted += 1
  }
  await api.newTask(project, { task_id, implicit: true })
  api.clock.ms += 600_000
  await api.attach()
  const items = await api.db
    .selectFrom('feedback')
    .select('state')
    .where('task_id', '=', task_id)
    .execute()
  expect([accepted, items.length]).toEqual([10, 10])
  expect(items.every(({ state }) => state === 'attached')).toBe(true)
})
