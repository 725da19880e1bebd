import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/platform/relational/index.ts'
import {
  type CertificationApi,
  openCertificationApi,
  type SeededTasks,
  successGate,
} from '../support/certification-api.ts'

/**
 * What somebody does who has a key that ingests records, or a pipeline that asks again, to get a bad
 * release certified. The tasks are written as a worker writes those of a key.
 */
let api: CertificationApi
beforeAll(async () => {
  api = await openCertificationApi()
  api.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** A start of tasks before any look of the test. */
const beforeLooks = () => new Date(Date.now() - 1_800_000)

/** A project whose release fails four of ten tasks, and was rejected for it. */
async function rejectedProject(rules: object = {}): Promise<string> {
  const project = await api.newProject()
  await api.putPolicy(project, { gates: [successGate], ...rules })
  await api.seedTasks(project, { users: 60, tasks: 10, failing: 4 })
  expect(await api.certify(project)).toMatchObject({ result: 'rejected', attempt: 1 })
  return project
}

describe('after a look that rejected a release, an ingest key', () => {
  const made: [string, Partial<SeededTasks>, string][] = [
    ['sends empty tasks dated before it', { is_empty: true }, 'late_evidence'],
    ['sends tasks with tokens dated before it', {}, 'late_evidence'],
  ]
  test.each(made)('%s: it is not certified', async (_name, tasks, obstacle) => {
    const project = await rejectedProject()
    const started_at = beforeLooks()
    await api.seedTasks(project, { users: 100, tasks: 40, started_at, prefix: 'made', ...tasks })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({ result: 'inconclusive', gates: [{ verdict: 'passed' }] })
    expect(ended.obstacles).toContain(obstacle)
  })

  test('sends empty tasks dated after it: it is not certified', async () => {
    const project = await rejectedProject()
    const made = { users: 100, tasks: 40, is_empty: true, started_at: new Date() }
    await api.seedTasks(project, { ...made, prefix: 'made' })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['equal_evidence'], gates: [{ verdict: 'passed' }] },
      tasks: { late: 0, equal: 3_999 },
    })
  })

  test('sends tasks dated after they were received: it is not certified', async () => {
    const project = await rejectedProject()
    const started_at = new Date(Date.now() + 900_000)
    await api.seedTasks(project, { users: 100, tasks: 40, started_at, prefix: 'made' })
    api.clock.ahead_ms = 1_000_000
    try {
      expect(await api.certify(project)).toMatchObject({
        ...{ result: 'inconclusive', obstacles: ['late_evidence'] },
        ...{ gates: [{ verdict: 'passed' }], tasks: { late: 4_000 } },
      })
    } finally {
      api.clock.ahead_ms = 0
    }
  })

  test('sends many more tasks than the release ever had: it is not certified', async () => {
    const project = await rejectedProject()
    // The release had its tasks over an hour, not at once.
    await sql`
      update tasks set created_at = created_at - interval '1 hour'
      where project_id = ${project} and task_id like '0-%'`.execute(api.db)
    const started_at = new Date()
    await api.seedTasks(project, { users: 100, tasks: 40, started_at, prefix: 'made' })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({ result: 'inconclusive', obstacles: ['evidence_jump'] })
    expect(ended.tasks).toMatchObject({ total: 4_600, late: 0, altered: 0, equal: 0 })
    expect(ended.tasks.jump).toBeGreaterThan(3_000)
    // Waiting a moment does not help.
    await api.seedTasks(project, { users: 1, tasks: 1, started_at: new Date(), prefix: 'more' })
    expect((await api.certify(project)).obstacles).toEqual(['evidence_jump'])
  })

  const altered: [string, object][] = [
    ['moves its failed tasks to another release', { release: 'elsewhere' }],
    ['moves its failed tasks to another environment', { environment: 'elsewhere' }],
    ['makes its failed tasks complete', { state: 'completed' }],
  ]
  test.each(altered)('%s: it is not certified, also not later', async (_name, change) => {
    const project = await rejectedProject()
    await api.db
      .updateTable('tasks')
      .set(change)
      .where('project_id', '=', project)
      .where('state', '=', 'failed')
      .execute()
    const ended = await api.certify(project)
    expect(ended).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['late_evidence'], tasks: { altered: 240 } },
      gates: [{ verdict: 'passed' }],
    })
    await api.seedTasks(project, { users: 1, tasks: 1, started_at: new Date(), prefix: 'more' })
    const again = await api.certify(project)
    expect(again).toMatchObject({ result: 'inconclusive', tasks: { altered: 240 } })
  })

  test('makes the baseline worse: the release is not certified by the comparison', async () => {
    const gate = { metric: 'task_success_rate', kind: 'regression', max_drop: 0.1 }
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [gate] })
    await api.seedTasks(project, { users: 60, tasks: 10, failing: 4 })
    await api.seedTasks(project, { users: 60, tasks: 10, release: '0.9.0', prefix: 'base' })
    const asked = { baseline: { version: '0.9.0' } }
    expect((await api.certify(project, asked)).result).toBe('rejected')
    const bad = { users: 200, tasks: 10, failing: 10, release: '0.9.0', started_at: beforeLooks() }
    await api.seedTasks(project, { ...bad, prefix: 'bad' })
    const ended = await api.certify(project, asked)
    expect(ended).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['late_baseline'] },
      gates: [{ verdict: 'passed' }],
      baseline_tasks: { total: 2_600, late: 2_000 },
    })
  })

  test('the statement names the counts', async () => {
    const project = await rejectedProject()
    await api.seedTasks(project, { users: 4, tasks: 1, started_at: beforeLooks(), prefix: 'late' })
    const ended = await api.certify(project)
    // Four of 604 tasks are less than one in a hundred.
    expect(ended).toMatchObject({ result: 'rejected', obstacles: [] })
    expect(ended.tasks).toEqual({
      ...{ total: 604, late: 4, altered: 0, equal: 0, jump: 0 },
      ...{ running: 0, unanalysed: 604, unchecked: 0, unverified: 0, unpriced: 0 },
    })
    const path = `/release-certification/${ended.certification_id}`
    const { body } = await api.call('GET', `${path}/statement`, project)
    const { predicate } = JSON.parse(Buffer.from(body.payload, 'base64').toString())
    expect(predicate.tasks).toEqual(ended.tasks)
    const again = await api.call('POST', `${path}/recompute`, project)
    expect(again.body).toMatchObject({ result: 'equal' })
  })

  test('a policy says which shares are too many', async () => {
    const shares = { max_late_share: 1, max_equal_share: 1, max_jump_share: 1 }
    const project = await rejectedProject(shares)
    await api.seedTasks(project, {
      ...{ users: 100, tasks: 40, is_empty: true, started_at: beforeLooks(), prefix: 'made' },
    })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({
      ...{ result: 'certified', obstacles: [], tasks: { total: 4_600, late: 4_000, equal: 3_999 } },
    })
  })
})

describe('evidence that is missing', () => {
  const loops = { metric: 'loop_rate', kind: 'absolute', threshold: 0.1 }
  const claims = { metric: 'unsupported_claim_rate', kind: 'absolute', threshold: 0.1 }

  /** Certifies 600 good tasks of which some lack what a gate needs. */
  async function certifyWith(gates: object[], change: (project: string) => Promise<unknown>) {
    const project = await api.newProject()
    await api.putPolicy(project, { gates })
    await api.seedTasks(project, { users: 60, tasks: 10, is_analysed: true })
    await change(project)
    return api.certify(project)
  }

  const setOne = (change: object) => (project: string) =>
    api.db
      .updateTable('tasks')
      .set(change)
      .where('project_id', '=', project)
      .where('task_id', 'like', '%-0')
      .execute()
  const withValues = (values: object | null) =>
    setOne({ verdict: sql`verdict || ${JSON.stringify({ values })}::jsonb` })
  /** Detection of one of ten tasks that a detector could not do. */
  const withoutDetector = (detector: string) => (project: string) =>
    sql`
      insert into task_detections (project_id, task_id, not_checked)
      select project_id, task_id, ${JSON.stringify([{ detector, reason: 'content is off' }])}
      from tasks where project_id = ${project} and task_id like '%-0'`.execute(api.db)

  const cases: [string, object[], (project: string) => Promise<unknown>, string][] = [
    ['tasks that still run', [successGate], setOne({ state: 'running' }), 'many_running_tasks'],
    ['tasks without analysis', [loops], setOne({ verdict: null }), 'many_unanalysed_tasks'],
    [
      'values that were not checked',
      [claims],
      withValues({ checked: 1, not_checked: 1 }),
      'many_unchecked_tasks',
    ],
    ['values that could not be checked', [claims], withValues(null), 'many_unchecked_tasks'],
    [
      'a detector of claims that could not check',
      [claims],
      withoutDetector('unsupported_value'),
      'many_unchecked_tasks',
    ],
    [
      'calls without a price',
      [successGate, { metric: 'cost_mean_usd', kind: 'absolute', threshold: 1 }],
      setOne({ unpriced_calls: 1 }),
      'many_unpriced_tasks',
    ],
    [
      'verifications that failed',
      [successGate, { metric: 'trust_score_mean', kind: 'absolute', threshold: 0.1 }],
      setOne({ verification_state: 'failed' }),
      'many_unverified_tasks',
    ],
  ]
  test.each(cases)('%s are an obstacle', async (_name, gates, change, obstacle) => {
    expect(await certifyWith(gates, change)).toMatchObject({
      ...{ result: 'inconclusive', obstacles: [obstacle] },
    })
  })

  test('another detector that could not check, and checked values, are none', async () => {
    const gates = [successGate, loops, claims]
    for (const change of [
      withoutDetector('lost_context'),
      withValues({ checked: 2, not_checked: 0 }),
    ]) {
      expect(await certifyWith(gates, change)).toMatchObject({ result: 'certified', obstacles: [] })
    }
  })
})
