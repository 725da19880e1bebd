import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import {
  type InsightApi,
  type Json,
  noon_ms,
  openInsightApi,
  personOf,
} from '../support/insight-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: InsightApi
beforeAll(async () => {
  api = await openInsightApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const at = new Date(noon_ms).toISOString()

async function seedFinding(project_id: string, task_id: string, given: object = {}) {
  const finding_id = newId()
  await api.db
    .insertInto('findings')
    .values({
      ...{ finding_id, project_id, task_id, kind: 'loop', type: 'repeat_call', state: 'open' },
      ...{ detector: 'repeat_call', detector_version: 1, severity: 'high', summary: 's' },
      ...{ places: '[]', trace_ids: [newId()], wasted_tokens: 0, wasted_cost_usd: '0' },
      ...{ recovered: false, confidence: 1, evidence: '{}', started_at: at },
      ...{ first_detected_at: at, updated_at: at, ...given },
    })
    .execute()
  return finding_id
}

/** A project with a task of each reason, and a healthy one. */
async function seedQueue() {
  const project = await api.newProject()
  await api.seedTask(project, 'severe', { worst_severity: 4, user_id: 'u1' })
  const finding_id = await seedFinding(project, 'severe')
  await api.seedTask(project, 'doubtful', { trust_score: 0.2, trust_coverage: 0.5 })
  await api.seedTask(project, 'healthy', { trust_score: 0.95, trust_coverage: 1 })
  await api.vote(project, [
    { task_id: 'angry', user: 'u2' },
    { task_id: 'happy', user: 'u3', sentiment: 'positive' },
  ])
  return { project, finding_id }
}

const queue = async (project: string, query = '', name = 'anna'): Promise<Json> => {
  const headers = personOf(name, 'viewer', project)
  const { status, body } = await api.call('GET', `/review${query}`, project, { headers })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const act = async (path: string, project: string, name: string, body?: unknown) =>
  api.call('POST', `/review/${path}`, project, {
    headers: personOf(name, 'editor', project),
    ...(body !== undefined && { body }),
  })
const idsOf = (body: Json) => body.tasks.map((one: Json) => one.task_id)

describe('the queue', () => {
  test('has risky tasks, highest risk first, each with its factors', async () => {
    const { project } = await seedQueue()
    const body = await queue(project)
    expect(idsOf(body)).toEqual(['severe', 'angry', 'doubtful'])
    expect(body).toMatchObject({ total: 3, next_cursor: null })
    expect(body.tasks[0]).toMatchObject({
      ...{ factors: { findings: 0.7, feedback: 0, trust: 0, uncertainty: 0 }, labels: 0 },
      ...{ claimed_until: null, findings_total: 1 },
      links: { labels: '/api/v1/feedback/review/severe/labels' },
    })
    expect(body.tasks[0].risk).toBeCloseTo(0.28, 9)
    expect(body.tasks[1].factors.feedback).toBe(1)
    expect(body.tasks[2].risk).toBeCloseTo(0.2 * 0.8 + 0.15 * 0.5, 9)
  })

  test('pages without gaps or repeats, and filters', async () => {
    const { project } = await seedQueue()
    const seen: string[] = []
    let cursor: string | null = ''
    for (let page = 0; page < 5 && cursor !== null; page += 1) {
      const body = await queue(project, `?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...idsOf(body))
      cursor = body.next_cursor
    }
    expect(seen).toEqual(['severe', 'angry', 'doubtful'])
    expect(idsOf(await queue(project, '?finding_type=repeat_call'))).toEqual(['severe'])
    expect(idsOf(await queue(project, '?name=none'))).toEqual([])
    const old = '?from=2026-10-01T00:00:00Z&to=2026-10-02T00:00:00Z'
    expect(idsOf(await queue(project, old))).toEqual([])
    const wrong = await api.call('GET', '/review?cursor=abc', project)
    expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_cursor'])
  })

  test('gives each task to one reviewer, also when several ask at once', async () => {
    const { project } = await seedQueue()
    const taken = await Promise.all(
      ['anna', 'bert', 'carl', 'dora'].map((name) => act('claim', project, name, {})),
    )
    const ids = taken.flatMap(({ body }) => idsOf(body))
    expect(ids.toSorted()).toEqual(['angry', 'doubtful', 'severe'])
    const holder = taken.findIndex(({ body }) => idsOf(body)[0] === 'severe')
    const name = ['anna', 'bert', 'carl', 'dora'][holder] ?? ''
    const mine = await queue(project, '', name)
    expect(mine.tasks[0].claimed_until).toBe(new Date(noon_ms + 900_000).toISOString())
    expect(idsOf((await act('claim', project, name, {})).body)).toEqual(['severe'])
  })

  test('a claim ends after 15 minutes, a skip after 7 days', async () => {
    const { project } = await seedQueue()
    await act('claim', project, 'anna', { tasks: 3 })
    expect(idsOf(await queue(project, '', 'bert'))).toEqual([])
    api.clock.ms = noon_ms + 900_001
    try {
      expect(idsOf(await queue(project, '', 'bert'))).toHaveLength(3)
      expect((await act('severe/skip', project, 'bert')).status).toBe(204)
      expect(idsOf(await queue(project, '', 'bert'))).toEqual(['angry', 'doubtful'])
      expect(idsOf(await queue(project, '', 'anna'))).toHaveLength(3)
      api.clock.ms = noon_ms + 8 * 86_400_000
      expect(idsOf(await queue(project, '', 'bert'))).toHaveLength(3)
    } finally {
      api.clock.ms = noon_ms
    }
  })

  test('two reviewers label a task independently', async () => {
    const { project } = await seedQueue()
    await act('severe/labels', project, 'anna', { label: 'correct' })
    expect(idsOf(await queue(project, '', 'bert'))).not.toContain('severe')
    expect(idsOf(await queue(project, '?reviewers=2', 'bert'))).toContain('severe')
    expect(idsOf(await queue(project, '?reviewers=2', 'anna'))).not.toContain('severe')
    await act('severe/labels', project, 'bert', { label: 'incorrect' })
    expect(idsOf(await queue(project, '?reviewers=2', 'carl'))).not.toContain('severe')
  })
})

describe('labels', () => {
  test('a label replaces that of the same reviewer, with its verdicts on findings', async () => {
    const { project, finding_id } = await seedQueue()
    const findings = [{ finding_id, verdict: 'right' }]
    const first = await act('severe/labels', project, 'anna', { label: 'incorrect', findings })
    expect(first.body.labels).toMatchObject([
      { reviewer: 'user:anna', label: 'incorrect', findings, version: 1 },
    ])
    const second = await act('severe/labels', project, 'anna', { label: 'partly' })
    expect(second.body.labels).toMatchObject([{ label: 'partly', findings: [], version: 2 }])
    const { body } = await api.call('GET', '/review/severe/labels', project)
    expect(body).toEqual(second.body)
    const headers = personOf('anna', 'editor', project)
    const removed = await api.call('DELETE', '/review/severe/labels', project, { headers })
    expect(removed.status).toBe(204)
    expect((await api.call('GET', '/review/severe/labels', project)).body.labels).toEqual([])
  })

  test('wrong labels and findings of other tasks are refused', async () => {
    const { project } = await seedQueue()
    await api.seedTask(project, 'other')
    const foreign = await seedFinding(project, 'other')
    const refused = async (body: object) => {
      const reply = await act('severe/labels', project, 'anna', body)
      return [reply.status, reply.body.errors?.[0]?.pointer]
    }
    expect(await refused({ label: 'good' })).toEqual([400, '/label'])
    const findings = [{ finding_id: foreign, verdict: 'right' }]
    const pointer = '/findings/0/finding_id'
    expect(await refused({ label: 'correct', findings })).toEqual([400, pointer])
    expect(await refused({ label: 'correct', note: 'x' })).toEqual([400, expect.any(String)])
    expect((await act('missing/labels', project, 'anna', { label: 'correct' })).status).toBe(404)
  })

  test('viewers read, editors write, keys do neither', async () => {
    const { project } = await seedQueue()
    const status = async (method: 'GET' | 'POST', path: string, headers: Record<string, string>) =>
      (await api.call(method, path, project, { headers, body: method === 'POST' ? {} : undefined }))
        .status
    const [viewer, key] = [tokenOf('viewer', project), keyOf(project, 'tasks:read tasks:write')]
    for (const path of ['/review', '/review/severe/labels', '/review/agreement']) {
      expect([path, await status('GET', path, viewer)]).toEqual([path, 200])
      expect([path, await status('GET', path, key)]).toEqual([path, 401])
    }
    for (const path of ['/review/claim', '/review/severe/skip', '/review/severe/labels']) {
      expect([path, await status('POST', path, viewer)]).toEqual([path, 403])
      expect([path, await status('POST', path, key)]).toEqual([path, 401])
    }
  })

  test('tasks and findings of another project are not found', async () => {
    const { finding_id } = await seedQueue()
    const neighbour = await api.newProject()
    for (const path of ['severe/labels', 'severe/skip']) {
      const reply = await act(path, neighbour, 'eve', { label: 'correct' })
      expect([path, reply.status]).toEqual([path, 404])
    }
    expect((await api.call('GET', '/review/severe/labels', neighbour)).status).toBe(404)
    expect(idsOf(await queue(neighbour))).toEqual([])
    expect(idsOf((await act('claim', neighbour, 'eve', { tasks: 20 })).body)).toEqual([])
    await api.seedTask(neighbour, 'severe')
    const findings = [{ finding_id, verdict: 'wrong' }]
    const stolen = await act('severe/labels', neighbour, 'eve', { label: 'correct', findings })
    expect(stolen.status).toBe(400)
    const { body } = await api.call('GET', '/export', neighbour)
    expect(body.tasks).toEqual([])
    const { body: found } = await api.call('GET', '/review/agreement', neighbour)
    expect(found.labels).toBe(0)
  })
})

test('agreement: κ of each two reviewers and of all', async () => {
  const project = await api.newProject()
  const given = [
    ['correct', 'correct'],
    ['correct', 'incorrect'],
    ['incorrect', 'incorrect'],
    ['incorrect', 'incorrect'],
  ]
  for (const [task, labels] of given.entries()) {
    await api.seedTask(project, `t${task}`)
    for (const [at, label] of labels.entries()) {
      await act(`t${task}/labels`, project, ['anna', 'bert'][at] ?? '', { label })
    }
  }
  const query = `?to=${new Date(noon_ms + 3_600_000).toISOString()}`
  const { body } = await api.call('GET', `/review/agreement${query}`, project)
  expect(body).toMatchObject({ labels: 8, all: { tasks: 4, observed: 0.75 } })
  expect(body.pairs).toMatchObject([
    { reviewers: ['user:anna', 'user:bert'], tasks: 4, observed: 0.75, expected: 0.5, kappa: 0.5 },
  ])
})

test('precision of detectors is null for too few findings, and ties are counted separately', async () => {
  const project = await api.newProject()
  for (let task = 0; task < 12; task += 1) {
    await api.seedTask(project, `t${task}`, { user_id: `u${task % 6}` })
    const findings = [{ finding_id: await seedFinding(project, `t${task}`), verdict: 'right' }]
    if (task < 3) findings[0] = { finding_id: findings[0]?.finding_id ?? '', verdict: 'wrong' }
    await act(`t${task}/labels`, project, 'anna', { label: 'unclear', findings })
    if (task !== 11) continue
    const other = findings.map((one) => ({ ...one, verdict: 'wrong' }))
    await act(`t${task}/labels`, project, 'bert', { label: 'unclear', findings: other })
  }
  await api.seedTask(project, 'rare')
  const rare = { type: 'stalled', detector: 'stalled' }
  const finding_id = await seedFinding(project, 'rare', rare)
  const findings = [{ finding_id, verdict: 'right' }]
  await act('rare/labels', project, 'anna', { label: 'correct', findings })
  const query = `?to=${new Date(noon_ms + 3_600_000).toISOString()}`
  const { body } = await api.call('GET', `/detector-precision${query}`, project)
  expect(body.detectors).toMatchObject([
    { detector: 'repeat_call', reviewed: 11, right: 8, disputed: 1, too_few: false },
    { detector: 'stalled', reviewed: 1, right: 1, precision: null, interval: null, too_few: true },
  ])
  const [known] = body.detectors
  expect(known.precision).toBeCloseTo(8 / 11, 9)
  expect(known.interval[0]).toBeLessThan(8 / 11)
  expect(known.interval[1]).toBeGreaterThan(8 / 11)
})

test('export: one line a task, resumed by cursor', async () => {
  const { project, finding_id } = await seedQueue()
  await act('severe/labels', project, 'anna', { label: 'incorrect' })
  await api.db
    .updateTable('feedback')
    .set({ comment: 'no\nrefund' })
    .where('project_id', '=', project)
    .where('task_id', '=', 'angry')
    .execute()
  const headers = { ...tokenOf('viewer', project), accept: 'application/x-ndjson' }
  const lines: Json[] = []
  let cursor: string | undefined = ''
  for (let page = 0; page < 5 && cursor !== undefined; page += 1) {
    const query = cursor === '' ? '' : `&cursor=${cursor}`
    const reply = await api.call('GET', `/export?limit=2${query}`, project, { headers })
    expect(reply.headers['content-type']).toContain('application/x-ndjson')
    lines.push(
      ...reply.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    cursor = reply.headers['x-next-cursor']
  }
  expect(lines.map((line) => line.task_id)).toEqual(['angry', 'happy', 'severe'])
  expect(lines[0].feedback).toMatchObject([{ sentiment: 'negative', comment: 'no\nrefund' }])
  expect(lines[2]).toMatchObject({
    findings: [{ finding_id, type: 'repeat_call' }],
    labels: [{ reviewer: 'user:anna', label: 'incorrect' }],
    trace_ids: [expect.any(String)],
  })
  const { body } = await api.call('GET', '/export?labelled=true', project)
  expect(idsOf(body)).toEqual(['severe'])
  expect(body.next_cursor).toBeNull()
  const wrong = await api.call('GET', '/export?cursor=abc', project)
  expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_cursor'])
})
