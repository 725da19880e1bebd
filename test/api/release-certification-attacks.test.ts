import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/platform/relational/index.ts'
import {
  type CertificationApi,
  openCertificationApi,
  releaseBody,
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

/** A project whose release fails three of ten tasks, and was rejected for it. */
async function rejectedProject(rules: object = {}): Promise<string> {
  const project = await api.newProject()
  await api.putPolicy(project, { gates: [successGate], ...rules })
  await api.seedTasks(project, { users: 60, tasks: 10, failing: 3 })
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
    await api.seedTasks(project, { users: 100, tasks: 10, started_at, prefix: 'made', ...tasks })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({ result: 'inconclusive', gates: [{ verdict: 'passed' }] })
    expect(ended.obstacles).toContain(obstacle)
  })

  test('sends empty tasks dated after it: it is not certified', async () => {
    const project = await rejectedProject()
    const made = { users: 100, tasks: 10, is_empty: true, started_at: new Date() }
    await api.seedTasks(project, { ...made, prefix: 'made' })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['equal_evidence'], gates: [{ verdict: 'passed' }] },
      tasks: { late: 0, equal: 999 },
    })
  })

  test('sends tasks dated after they were received: it is not certified', async () => {
    const project = await rejectedProject()
    const started_at = new Date(Date.now() + 900_000)
    await api.seedTasks(project, { users: 100, tasks: 10, started_at, prefix: 'made' })
    api.clock.ahead_ms = 1_000_000
    try {
      expect(await api.certify(project)).toMatchObject({
        ...{ result: 'inconclusive', obstacles: ['late_evidence'] },
        ...{ gates: [{ verdict: 'passed' }], tasks: { late: 1_000 } },
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
    await api.seedTasks(project, { users: 100, tasks: 10, started_at, prefix: 'made' })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({ result: 'inconclusive', obstacles: ['evidence_jump'] })
    expect(ended.tasks).toMatchObject({ total: 1_600, late: 0, altered: 0, equal: 0 })
    expect(ended.tasks.jump).toBeGreaterThan(800)
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
      ...{ result: 'inconclusive', obstacles: ['late_evidence'], tasks: { altered: 180 } },
      gates: [{ verdict: 'passed' }],
    })
    await api.seedTasks(project, { users: 1, tasks: 1, started_at: new Date(), prefix: 'more' })
    const again = await api.certify(project)
    expect(again).toMatchObject({ result: 'inconclusive', tasks: { altered: 180 } })
  })

  test('makes the baseline worse: the release is not certified by the comparison', async () => {
    const gate = { metric: 'task_success_rate', kind: 'regression', max_drop: 0.1 }
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [gate] })
    await api.seedTasks(project, { users: 60, tasks: 10, failing: 3 })
    await api.seedTasks(project, { users: 60, tasks: 10, release: '0.9.0', prefix: 'base' })
    const asked = { baseline: { version: '0.9.0' } }
    expect((await api.certify(project, asked)).result).toBe('rejected')
    const bad = { users: 100, tasks: 10, failing: 10, release: '0.9.0', started_at: beforeLooks() }
    await api.seedTasks(project, { ...bad, prefix: 'bad' })
    const ended = await api.certify(project, asked)
    expect(ended).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['late_baseline'] },
      gates: [{ verdict: 'passed' }],
      baseline_tasks: { total: 1_600, late: 1_000 },
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
      ...{ users: 100, tasks: 10, is_empty: true, started_at: beforeLooks(), prefix: 'made' },
    })
    const ended = await api.certify(project)
    expect(ended).toMatchObject({
      ...{ result: 'certified', obstacles: [], tasks: { total: 1_600, late: 1_000, equal: 999 } },
    })
  })
})

describe('a group of tasks that always fails and vanishes', () => {
  const gate = { metric: 'task_success_rate', kind: 'worst_group', threshold: 0.8 }

  async function renamed(gates: object[], asked: object = {}) {
    const project = await api.newProject()
    await api.putPolicy(project, { gates })
    const tasks = { users: 60, tasks: 10 }
    for (const name of ['search', 'refund']) {
      await api.seedTasks(project, { ...tasks, name, release: '0.9.0', prefix: `base ${name}` })
    }
    await api.seedTasks(project, { ...tasks, name: 'search', prefix: 'search' })
    return api.certify(project, asked)
  }

  test('is missed by the names of the policy, and by those of the baseline', async () => {
    const named = await renamed([{ ...gate, groups: ['search', 'refund'] }])
    const compared = await renamed([gate], { baseline: { version: '0.9.0' } })
    for (const ended of [named, compared]) {
      expect(ended).toMatchObject({
        ...{ result: 'inconclusive', obstacles: ['missing_group'] },
        gates: [{ group: 'refund', reason: 'missing_group', n: 0 }],
      })
    }
  })

  test('is missed after a look that saw it', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [gate] })
    await api.seedTasks(project, { users: 60, tasks: 10, name: 'search', prefix: 'search' })
    await api.seedTasks(project, { users: 60, tasks: 10, failing: 9, prefix: 'refund' })
    expect((await api.certify(project)).result).toBe('rejected')
    await api.db
      .updateTable('tasks')
      .set({ name: 'search' })
      .where('project_id', '=', project)
      .where('name', '=', 'refund')
      .where('state', '=', 'completed')
      .execute()
    await api.db
      .deleteFrom('tasks')
      .where('project_id', '=', project)
      .where('state', '=', 'failed')
      .execute()
    expect(await api.certify(project)).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['late_evidence'], tasks: { altered: 600 } },
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
    const values = { checked: 2, not_checked: 0 }
    const checkAll = (project: string) =>
      api.db
        .updateTable('tasks')
        .set({ verdict: sql`verdict || ${JSON.stringify({ values })}::jsonb` })
        .where('project_id', '=', project)
        .execute()
    for (const change of [withoutDetector('lost_context'), withValues(values)]) {
      const certified = await certifyWith(gates, async (project) => {
        await checkAll(project)
        await change(project)
      })
      expect(certified).toMatchObject({ result: 'certified', obstacles: [] })
    }
  })
})

describe('a pipeline that asks again', () => {
  const url = '/release-certification'
  const image = (digit: string) => ({
    release: { name: 'agent', version: '1.0.0', image_digest: `sha256:${digit.repeat(64)}` },
  })

  async function goodProject(rules: object = {}): Promise<string> {
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [successGate], max_attempts: 2, ...rules })
    await api.seedTasks(project, { users: 60, tasks: 10 })
    return project
  }

  const statementOf = async (
    project: string,
    { certification_id: id }: { certification_id: string },
  ) => (await api.call('GET', `${url}/${id}/statement`, project)).text
  const newTask = (project: string, prefix: string) =>
    api.seedTasks(project, { users: 1, tasks: 1, started_at: new Date(), prefix })

  test('without new evidence gets the same statement, and uses no attempt', async () => {
    const project = await goodProject()
    const first = await api.certify(project)
    expect(first).toMatchObject({ result: 'certified', attempt: 1, same_as: null })
    const statement = await statementOf(project, first)
    for (let again = 0; again < 3; again += 1) {
      const ended = await api.certify(project)
      const { certification_id: _, ...shown } = ended
      expect(shown).toMatchObject({
        ...{ result: 'certified', attempt: 1, same_as: first.certification_id },
        ...{ window: first.window, expires_at: first.expires_at, gates: first.gates },
      })
      expect(await statementOf(project, ended)).toBe(statement)
      const path = `${url}/${ended.certification_id}/recompute`
      expect((await api.call('POST', path, project)).body).toMatchObject({ result: 'equal' })
    }
    await newTask(project, 'new')
    const second = await api.certify(project)
    expect(second).toMatchObject({ result: 'certified', attempt: 2, same_as: null })
    // The attempts are used up, and the same evidence has the same statement still.
    expect(await api.certify(project)).toMatchObject({
      ...{ result: 'certified', attempt: 2, same_as: second.certification_id },
    })
    await newTask(project, 'newer')
    const third = await api.certify(project)
    expect(third).toMatchObject({ result: 'inconclusive', obstacles: ['attempts_exhausted'] })
  })

  test('waits for pending items without an attempt', async () => {
    const project = await goodProject()
    const restore = { ...api.ledger }
    Object.assign(api.ledger, { pending: 9, stored: 991 })
    const first = await api.certify(project).finally(() => Object.assign(api.ledger, restore))
    expect(first).toMatchObject({ result: 'inconclusive', attempt: 1 })
    const second = await api.certify(project)
    expect(second).toMatchObject({ result: 'certified', attempt: 1, same_as: null })
    expect(await statementOf(project, second)).not.toBe(await statementOf(project, first))
  })

  test('with another version of the policy uses an attempt', async () => {
    const project = await goodProject()
    await api.certify(project)
    await api.putPolicy(project, { gates: [{ ...successGate, threshold: 0.7 }], max_attempts: 2 })
    expect(await api.certify(project)).toMatchObject({ attempt: 2, same_as: null })
  })

  test('gets a new statement when the first one has expired', async () => {
    const project = await goodProject({ valid_for: '1h' })
    const first = await api.certify(project)
    api.clock.ahead_ms = 3_700_000
    try {
      const second = await api.certify(project)
      expect(second).toMatchObject({ result: 'certified', attempt: 1, same_as: null })
      expect(second.expires_at).not.toBe(first.expires_at)
    } finally {
      api.clock.ahead_ms = 0
    }
  })

  const restarts: [string, object[]][] = [
    ['leaves out the digest', [image('a'), {}]],
    ['adds a digest', [{}, image('a')]],
    ['names another digest', [image('a'), image('b')]],
    [
      'names another version with the digest',
      [image('a'), { release: { ...image('a').release, version: '1.0.0-again' } }],
    ],
  ]
  test.each(restarts)('and %s does not begin anew', async (_name, [one = {}, other = {}]) => {
    const project = await goodProject({ max_attempts: 1 })
    expect(await api.certify(project, one)).toMatchObject({ result: 'certified', attempt: 1 })
    expect(await api.certify(project, other)).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['attempts_exhausted'], attempt: 2 },
    })
  })

  test('and leaves out the digest cannot choose another window or baseline', async () => {
    const project = await goodProject()
    const first = await api.certify(project, image('a'))
    const changes = [
      { window: { from: new Date(Date.now() - 60_000).toISOString() } },
      { window: { to: new Date(Date.parse(first.window.to) - 1).toISOString() } },
      { baseline: { version: '0.9.0' } },
    ]
    for (const change of changes) {
      for (const release of [{}, image('b')]) {
        const body = { ...releaseBody, ...release, ...change }
        const { body: got } = await api.call('POST', url, project, { body })
        expect(got).toMatchObject({ status: 409, code: 'certification_plan_conflict' })
      }
    }
    const second = await api.certify(project)
    expect(second.window.from).toBe(first.window.from)
  })

  test('counts attempts over a chain of digests and versions, and of no other release', async () => {
    const project = await goodProject({ max_attempts: 20 })
    const of = (version: string, digit: string) => ({
      release: { ...image(digit).release, version, tags: ['1.0.0'] },
    })
    const attempts: number[] = []
    for (const asked of [of('1', 'a'), of('1', 'b'), of('2', 'b'), of('2', 'c'), of('3', 'd')]) {
      attempts.push((await api.certify(project, asked)).attempt)
    }
    expect(attempts).toEqual([1, 2, 3, 4, 1])
    const other = await goodProject()
    expect((await api.certify(other, of('1', 'a'))).attempt).toBe(1)
  })

  test('at once with several digests counts each', async () => {
    const project = await goodProject({ max_attempts: 20 })
    const ended = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((digit) => api.certify(project, image(digit))),
    )
    expect(ended.map(({ attempt }) => attempt).toSorted()).toEqual([1, 2, 3, 4, 5])
  })
})
