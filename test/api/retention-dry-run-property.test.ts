import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { enqueueTestJob } from '../support/job-workers.ts'
import {
  dateAgo,
  daysAgo,
  openRetentionApi,
  type RetentionApi,
  retentionNowMs,
} from '../support/retention-api.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const environments = ['', 'prod', 'dev'] as const
const users = ['', 'ada', 'bob'] as const
const ago = fc.integer({ min: -1, max: 8 })
const environment = fc.constantFrom(...environments)
const user = fc.constantFrom(...users)

/** A trace whose records are on days of their own, and its owners. */
const anyTrace = fc.record({
  observations: fc.array(fc.record({ ago, environment, user, said: fc.boolean() }), {
    maxLength: 3,
  }),
  traces: fc.array(fc.record({ ago, environment }), { maxLength: 1 }),
  events: fc.array(ago, { maxLength: 2 }),
  links: fc.array(ago, { maxLength: 1 }),
  correlations: fc.array(fc.record({ ago, baggage: fc.boolean() }), { maxLength: 2 }),
  task: fc.constantFrom('', 't-0', 't-1', 't-2', 't-3'),
  /** Stored after the archives were made. */
  is_late: fc.boolean(),
})
const anyTask = fc.record({ ago, environment, user, talk: fc.constantFrom(-1, 0, 1, 2) })
const anyTalk = fc.record({ ago, user, tasks: fc.constantFrom(0, 2) })

/** Consistent days: shorter periods lie within longer ones. */
const anyDays = fc
  .array(fc.option(fc.integer({ min: 1, max: 6 }), { freq: 6 }), { minLength: 4, maxLength: 4 })
  .map((days) => {
    const sorted = days.toSorted((left, right) => (left ?? 99) - (right ?? 99))
    const [content = null, events = null, observations = null, traces = null] = sorted
    return { content, events, observations, traces }
  })

const anyCase = fc.record({
  traces: fc.array(anyTrace, { minLength: 1, maxLength: 6 }),
  tasks: fc.array(anyTask, { maxLength: 4 }),
  talks: fc.array(anyTalk, { minLength: 3, maxLength: 3 }),
  days: anyDays,
  own: fc.dictionary(fc.constantFrom('prod', 'dev'), anyDays, { maxKeys: 2 }),
  archive_before_delete: fc.boolean(),
  archives: fc.array(
    fc.record({
      ago,
      state: fc.constantFrom('succeeded', 'succeeded', 'running'),
      all: fc.boolean(),
    }),
    { maxLength: 8 },
  ),
  holds: fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('trace'), value: fc.nat({ max: 5 }) }),
      fc.record({ kind: fc.constant('task'), value: fc.constantFrom('t-0', 't-1', 't-2') }),
      fc.record({ kind: fc.constant('user'), value: fc.constantFrom('ada', 'bob') }),
      fc.record({ kind: fc.constant('conversation'), value: fc.nat({ max: 2 }) }),
    ),
    { maxLength: 2 },
  ),
})
type Case = typeof anyCase extends fc.Arbitrary<infer Given> ? Given : never

/** Writes a case into both stores; returns its project. */
async function write(given: Case): Promise<string> {
  const project = await api.newProject()
  const trace_ids = given.traces.map(() => newId())
  const talk_ids = given.talks.map(() => newId())
  await seed(project, given, { trace_ids, is_late: false })
  const [now] = await api.ask<{ at: string }>(
    'SELECT toString(toUnixTimestamp64Milli(now64(3))) AS at',
  )
  await new Promise((resolve) => setTimeout(resolve, 5))
  await seed(project, given, { trace_ids, is_late: true })
  await writeOwners(project, given, talk_ids)
  for (const archive of given.archives) await writeArchive(project, archive, Number(now?.at) + 2)
  for (const { kind, value } of given.holds) {
    const ids = kind === 'trace' ? trace_ids : talk_ids
    const named = typeof value === 'number' ? (ids[value] ?? newId()) : value
    const body = { kind, value: named, reason: 'a case' }
    expect((await api.call('POST', '/legal-holds', project, { body })).status).toBeLessThan(202)
  }
  const { days, own, archive_before_delete } = given
  const body = {
    ...{ days, archive_before_delete },
    environments: Object.entries(own).map(([name, its]) => ({ environment: name, days: its })),
  }
  const put = await api.call('PUT', '/retention-policy', project, { body })
  expect([put.status, put.body['errors']]).toEqual([200, undefined])
  return project
}

async function seed(
  project: string,
  { traces }: Case,
  about: { trace_ids: readonly string[]; is_late: boolean },
): Promise<void> {
  const some = traces.flatMap((trace, at) => {
    const trace_id = about.trace_ids[at] ?? ''
    return trace.is_late === about.is_late ? [{ ...trace, trace_id }] : []
  })
  const each = <Of, To>(
    of: (trace: (typeof some)[number]) => Of[],
    make: (one: Of, at: number) => To,
  ) =>
    some.flatMap((trace) =>
      of(trace).map((one, at) => ({ trace_id: trace.trace_id, ...make(one, at) })),
    )
  await api.seed(project, {
    observations: some.flatMap(({ trace_id, task: task_id, observations }) =>
      observations.map(({ ago: days, environment: its, user: user_id, said }, at) => ({
        ...{ trace_id, task_id, user_id, environment: its, observation_id: `o-${at}` },
        ...{ start_time: daysAgo(days, at), ...(!said && { content_state: 'dropped' as const }) },
      })),
    ),
    traces: each(
      (trace) => trace.traces,
      ({ ago: days, environment: its }) => ({
        time: daysAgo(days),
        environment: its,
        input: 'asked',
      }),
    ),
    events: each(
      (trace) => trace.events,
      (days, at) => ({ time: daysAgo(days), event_id: `e-${at}`, body: Buffer.from('said') }),
    ),
    links: each(
      (trace) => trace.links,
      (days, at) => ({ time: daysAgo(days), link_id: `l-${at}` }),
    ),
    correlations: each(
      (trace) => trace.correlations,
      ({ ago: days, baggage }, at) => ({
        ...{ time: daysAgo(days), correlation_value: `v-${at}` },
        correlation_type: baggage ? 'w3c_baggage' : 'order',
      }),
    ),
  })
}

const at = (days: number) => new Date(retentionNowMs - days * 86_400_000)

async function writeOwners(
  project_id: string,
  { tasks, talks }: Case,
  talk_ids: readonly string[],
): Promise<void> {
  const rows = tasks.map(({ ago: days, environment: its, user: user_id, talk }, index) => ({
    ...{ project_id, task_id: `t-${index}`, name: '', implicit: false, environment: its || null },
    ...{ user_id: user_id || null, conversation_id: talk_ids[talk] ?? null },
    ...{ started_at: at(20), last_activity_at: at(days) },
  }))
  if (rows.length > 0) await api.db.insertInto('tasks').values(rows).execute()
  const conversations = talks.map(({ ago: days, user: user_id, tasks: count }, index) => ({
    ...{ project_id, conversation_id: talk_ids[index] ?? newId(), tasks: count },
    ...{ user_id: user_id || null, started_at: at(20), last_activity_at: at(days) },
  }))
  await api.db.insertInto('conversations').values(conversations).execute()
}

async function writeArchive(
  project_id: string,
  archive: Case['archives'][number],
  now_ms: number,
): Promise<void> {
  const from = `${dateAgo(archive.ago)}T00:00:00.000Z`
  const to = `${dateAgo(archive.ago - 1)}T00:00:00.000Z`
  const { id } = await enqueueTestJob(api.db, { project_id, kind: 'archive', params: { from, to } })
  const stored_before = new Date(archive.all ? now_ms : 0).toISOString()
  const { state } = archive
  await api.db
    .updateTable('job_runs')
    .set({
      ...{ state, result: JSON.stringify({ verified: true, stored_before }) },
      // The lease keeps other workers away.
      ...(state === 'running' && { lease_until: '2100-01-01T00:00:00Z', lease_owner: newId() }),
    })
    .where('id', '=', id)
    .execute()
}

/** Records that reads see, by kind; each once a day and environment, as buckets count. */
async function records(project_id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = { ...(await api.rows(project_id)) }
  for (const table of ['tasks', 'conversations'] as const) {
    const rows = await api.db
      .selectFrom(table)
      .select('project_id')
      .where('project_id', '=', project_id)
      .execute()
    counts[table] = rows.length
  }
  const [content] = await api.ask<{ n: string }>(
    `SELECT count() AS n FROM observations
     WHERE project_id = {project_id:UUID} AND content_state IN ('full', 'truncated')`,
    { project_id },
  )
  counts['content'] = Number(content?.n)
  return counts
}

/** Baggage that the default's days would mask, and those of `dev` delete. */
const baggageOfTwoEnvironments: Case = {
  traces: [
    {
      ...{ events: [], links: [], task: '', is_late: false },
      observations: [{ ago: 3, environment: 'dev', user: '', said: true }],
      traces: [{ ago: 8, environment: 'prod' }],
      correlations: [{ ago: 3, baggage: true }],
    },
  ],
  ...{ tasks: [], archives: [], holds: [], archive_before_delete: false },
  talks: [0, 1, 2].map(() => ({ ago: 0, user: '', tasks: 0 })),
  days: { content: 1, events: 4, observations: 4, traces: 4 },
  own: { dev: { content: 1, events: 1, observations: 3, traces: null } },
}

type Bucket = Record<'kind' | 'action', string> & { rows: number }

/** Rows that a dry run reports as deleted or masked, by kind. */
function reported(buckets: unknown): Record<string, number> {
  const sums: Record<string, number> = {}
  const add = (kind: string, rows: number) => {
    sums[kind] = (sums[kind] ?? 0) + rows
  }
  for (const { kind, action, rows } of buckets as Bucket[]) {
    // Baggage is content as a whole, so its rows are deleted.
    if (action === 'delete' || (action === 'mask' && kind === 'correlations')) add(kind, rows)
    if (action === 'mask' && kind === 'observations') add('content', rows)
  }
  return sums
}

const withoutBytes = (buckets: unknown) =>
  (buckets as Record<string, unknown>[]).map(({ bytes: _, ...bucket }) => bucket)

test('a dry run counts exactly what the run then deletes and masks, for random data and rules', async () => {
  const check = async (given: Case) => {
    const project = await write(given)
    const before = await records(project)
    const dry = await api.dryRun(project)
    expect(await records(project)).toEqual(before)
    const real = await api.run(project)
    expect(withoutBytes(real['buckets'])).toEqual(withoutBytes(dry.buckets))
    const { deleted_bytes: _, is_partial, ...result } = dry.result
    expect(is_partial).toBe(false)
    expect(real['result']).toMatchObject(result)
    const after = await records(project)
    const sums = reported(dry.buckets)
    for (const [kind, rows] of Object.entries(before)) {
      if (kind === 'content') continue
      expect([kind, rows - (after[kind] ?? 0)]).toEqual([kind, sums[kind] ?? 0])
    }
    // Masked rows lose their content, deleted rows too.
    const said = (before['content'] ?? 0) - (after['content'] ?? 0)
    expect(said).toBeGreaterThanOrEqual(sums['content'] ?? 0)
  }
  const examples: [Case][] = [[baggageOfTwoEnvironments]]
  // An example takes one of the runs.
  const numRuns = examples.length + fuzzRuns(6)
  await fc.assert(fc.asyncProperty(anyCase, check), { numRuns, endOnFailure: true, examples })
}, 900_000)
