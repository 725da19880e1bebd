import { afterAll, beforeAll, expect, test } from 'vitest'
import { ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type FeedbackTables, type Kysely, sql } from '../../src/platform/relational/index.ts'
import { end_ms } from '../support/incidents/signal-data.ts'
import { openSignalStores, type SignalStores } from '../support/incidents/signal-stores.ts'

let stores: SignalStores
beforeAll(async () => {
  stores = await openSignalStores()
})
afterAll(() => stores?.close())

const iso = (before_ms: number) => new Date(end_ms - before_ms).toISOString()

/** A project with a task that has votes: `-` negative, `0` neutral, `+` positive. */
async function vote(
  project_id: string,
  votes: string,
  more: { task_name?: string; environment?: string; given?: object } = {},
) {
  const db = stores.relational.db as unknown as Kysely<FeedbackTables>
  const task_id = newId()
  await sql`insert into organizations (id, name) values (${project_id}, ${project_id})
    on conflict do nothing`.execute(db)
  await sql`insert into projects (id, organization_id, name)
    values (${project_id}, ${project_id}, ${project_id}) on conflict do nothing`.execute(db)
  const { task_name: name = 'pay', environment = 'prod', given = {} } = more
  const at = iso(60_000)
  await stores.relational.db
    .insertInto('tasks')
    .values({
      project_id,
      task_id,
      name,
      environment,
      implicit: false,
      started_at: at,
      last_activity_at: at,
    })
    .execute()
  await db
    .insertInto('feedback_tasks')
    .values({ project_id, task_id, task_ref: task_id, first_at: at, last_at: at, created_at: at })
    .execute()
  const sentiments = { '-': 'negative', '0': 'neutral', '+': 'positive' } as const
  const rows = [...votes].map((sign) => ({
    ...{ project_id, task_id, feedback_id: newId(), source: 'end_user', subject: newId() },
    ...{ state: 'attached', metadata: '{}', counts: true, at, version: 1, by_browser: false },
    ...{ sentiment: sentiments[sign as '-'], created_at: at, created_by: 'key:k', updated_at: at },
    ...{ updated_by: 'key:k', body_digest: Buffer.alloc(32), ...given },
  }))
  await db
    .insertInto('feedback')
    .values(rows as never)
    .execute()
}

async function measure(project_id: string, group_by: string[] = []) {
  const condition = { signal: 'feedback_negative_rate', window: '10m', threshold: 0.5 }
  const rule = ruleShape.parse({ name: 'rule', severity: 'low', condition, group_by })
  const [measured] = await stores.signals.measure({
    project_id,
    slots: [{ rule_id: 'r', rule, end_ms }],
    lag_ms: 0,
  })
  if (measured === undefined || 'error' in measured) throw new Error(JSON.stringify(measured))
  return measured
}

test('the signal is the share of negative votes of end users that count, in the window', async () => {
  const project_id = newId()
  await vote(project_id, '--0+')
  await vote(project_id, '+', { task_name: 'book' })
  await vote(project_id, '----', { given: { counts: false } })
  await vote(project_id, '----', { given: { source: 'annotator' } })
  await vote(project_id, '----', { given: { at: iso(11 * 60_000) } })
  await vote(project_id, '----', { environment: 'looptrace-onboarding' })
  await vote(newId(), '----')
  const { groups } = await measure(project_id)
  expect(groups).toMatchObject([{ group: {}, sample: { value: 2 / 5, samples: 5 } }])
  const byName = await measure(project_id, ['task_name'])
  expect(byName.groups).toMatchObject([
    { group: { task_name: 'book' }, sample: { value: 0 } },
    { group: { task_name: 'pay' }, sample: { value: 0.5 } },
  ])
})

test('without votes there is no value', async () => {
  const { groups, empty } = await measure(newId())
  expect({ groups, empty }).toMatchObject({ groups: [], empty: { value: null, samples: 0 } })
})
