import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insightRoutes } from '../../src/capabilities/feedback/index.ts'
import type { VerificationRoutesDeps } from '../../src/capabilities/verification/api/contract.ts'
import { verificationRoutes } from '../../src/capabilities/verification/api/verification-routes.ts'
import type { RunsDb } from '../../src/capabilities/verification/contract.ts'
import { openRunsRetention } from '../../src/capabilities/verification/index.ts'
import { calibrate } from '../../src/capabilities/verification/trust/calibration.ts'
import { calibrationsOf } from '../../src/capabilities/verification/trust/calibration-store.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { startAccessApp } from '../support/access-app.ts'
import { allTenants } from '../support/all-tenants.ts'
import { type SeededClaim, type SeededRun, seedClaims } from '../support/claims-of-task.ts'
import {
  type InsightApi,
  type InsightTestTables,
  type Json,
  openInsightApi,
  personOf,
} from '../support/insight-api.ts'
import { testPostgres } from '../support/postgres.ts'
import { tokenOf } from '../support/task-api.ts'

let api: InsightApi
beforeAll(async () => {
  // Calibrations and overrides need the database and the clock only.
  api = await openInsightApi(({ db, clock }) =>
    verificationRoutes({
      ...{ db, clock, onOverride: async () => () => undefined },
    } as unknown as VerificationRoutesDeps),
  )
})
afterAll(() => api?.[Symbol.asyncDispose]())

const runsDb = () => api.db as unknown as RunsDb
const claimsOf = (count: number, text = 'claim'): SeededClaim[] =>
  Array.from({ length: count }, (_, at) => ({ text: `${text} ${at}` }))

/** A task of the queue with a verified answer of so many claims. */
async function seedTask(
  project_id: string,
  task_id: string,
  claims: number | readonly SeededClaim[] = 3,
  more: Partial<SeededRun> = {},
) {
  const { user_id = null } = more
  await api.seedTask(project_id, task_id, { trust_score: 0.2, trust_coverage: 0.5, user_id })
  const list = typeof claims === 'number' ? claimsOf(claims) : claims
  return seedClaims(runsDb(), { project_id, task_id, ...more }, list)
}

const post = (project: string, name: string, path: string, body?: unknown) =>
  api.call('POST', path, project, { headers: personOf(name, 'editor', project), body })
const label = (project: string, name: string, task_id: string, claims: unknown) =>
  post(project, name, `/review/${task_id}/labels`, { label: 'partly', claims })
const unlabel = (project: string, name: string, task_id: string) =>
  api.call('DELETE', `/review/${task_id}/labels`, project, {
    headers: personOf(name, 'editor', project),
  })
const say = (claim_ids: readonly string[], verdict: 'supported' | 'contradicted' = 'supported') =>
  claim_ids.map((claim_id) => ({ claim_id, verdict }))
const calibrationUrl = '/api/v1/verification/calibration'

async function calibrationOf(project: string): Promise<Json> {
  const { status, body } = await api.call('GET', calibrationUrl, project)
  expect(status, JSON.stringify(body)).toBe(200)
  return { ...body, kb: body.verifiers.find(({ name }: { name: string }) => name === 'kb') }
}
const labelsIn = async (project: string): Promise<number> =>
  (await calibrationOf(project)).kb.labels
const stored = (project: string) =>
  api.db
    .selectFrom('verification_claim_labels')
    .selectAll()
    .where('project_id', '=', project)
    .orderBy('claim_id')
    .execute()

describe('verdicts on claims in a label', () => {
  test('the queue shows the claims, and one call labels the task and them', async () => {
    const project = await api.newProject()
    const { claim_ids, trace_id } = await seedTask(project, 'chat', 60)
    const { body: queue } = await api.call('GET', '/review', project)
    expect(queue.tasks).toHaveLength(1)
    const [task] = queue.tasks
    expect([task.claims_total, task.claims.length]).toEqual([60, 50])
    expect(task.claims[1]).toEqual({
      ...{ claim_id: claim_ids[1], trace_id, text: 'claim 1', at: [100, 107] },
      ...{ verdict: 'supported', probability: 0.9 },
    })
    const claims = [
      { claim_id: task.claims[0].claim_id, verdict: 'supported', reason: 'in the invoice' },
      { claim_id: task.claims[1].claim_id, verdict: 'contradicted', reason: null },
    ]
    const { status, body } = await label(project, 'anna', 'chat', claims)
    expect([status, body.labels[0].claims]).toEqual([200, claims])
    expect((await api.call('GET', '/review/chat/labels', project)).body).toEqual(body)
    const { body: exported } = await api.call('GET', '/export?labelled=true', project)
    expect(exported.tasks[0].labels[0].claims).toEqual(claims)
  })

  test('the queue shows the claims of the newest verified answer', async () => {
    const project = await api.newProject()
    await seedTask(project, 'chat', [{ text: 'old' }])
    const trace_start = '2026-11-23T11:59:30.000Z'
    await seedClaims(runsDb(), { project_id: project, task_id: 'chat', trace_start }, [
      { text: 'new' },
    ])
    const { body } = await post(project, 'anna', '/review/claim', {})
    expect(body.tasks[0].claims.map(({ text }: Json) => text)).toEqual(['new'])
  })

  test('claims of another task or project, unknown and equal ones store nothing', async () => {
    const [project, neighbour] = [await api.newProject(), await api.newProject()]
    const own = await seedTask(project, 'chat', [{ text: 'a' }, { text: 'b' }, { text: 'a' }])
    const other = await seedTask(project, 'other')
    const theirs = await seedTask(neighbour, 'chat')
    const [first = '', , twin = ''] = own.claim_ids
    const refused = async (claims: unknown) => {
      const { status, body } = await label(project, 'anna', 'chat', claims)
      return [status, body.errors?.[0]?.pointer, body.errors?.[0]?.detail]
    }
    for (const foreign of [other.claim_ids[0], theirs.claim_ids[0], randomUUID()]) {
      expect(await refused(say([first, foreign ?? '']))).toEqual([
        ...[400, '/claims/1/claim_id', `got "${foreign}", expected a claim of this task`],
      ])
    }
    const same = `got "${twin}", the same claim as in /claims/0; send it once`
    expect(await refused(say([first, twin]))).toEqual([400, '/claims/1/claim_id', same])
    expect((await refused(say([first, first])))[1]).toBe('/claims/1/claim_id')
    expect((await refused([{ claim_id: 'x', verdict: 'supported' }]))[1]).toBe('/claims/0/claim_id')
    expect((await refused([{ claim_id: first, verdict: 'right' }]))[1]).toBe('/claims/0/verdict')
    expect((await refused([{ ...say([first])[0], reason: 'x'.repeat(2_001) }]))[1]).toBe(
      '/claims/0/reason',
    )
    expect((await refused([{ ...say([first])[0], reason: 'a\u0000b' }]))[0]).toBe(400)
    const flood = Array.from({ length: 51 }, () => say([first])[0])
    expect(await refused(flood)).toEqual([400, '/claims', 'expected at most 50 claims'])
    expect(await stored(project)).toEqual([])
    const { body } = await api.call('GET', '/review/chat/labels', project)
    expect(body.labels).toEqual([])
    // A refused label leaves the earlier one as it was.
    await label(project, 'anna', 'chat', say([first]))
    await refused(say([first, randomUUID()], 'contradicted'))
    expect(await stored(project)).toMatchObject([{ claim_id: first, verdict: 'supported' }])
  })
})

describe('calibration by labels of reviewers', () => {
  test('labels of two reviewers calibrate a verifier; later runs use it', async () => {
    const project = await api.newProject()
    for (let task = 0; task < 4; task += 1) {
      const { claim_ids } = await seedTask(project, `t${task}`, 50)
      const claims = claim_ids.map((claim_id, at) => {
        return { claim_id, verdict: at % 10 < 6 ? 'supported' : 'contradicted' }
      })
      if (task === 3) expect(await labelsIn(project)).toBe(150)
      await label(project, task % 2 === 0 ? 'anna' : 'bert', `t${task}`, claims)
    }
    const before = await calibrationOf(project)
    expect(before.kb).toMatchObject({ labels: 200, labels_counted: 200, people: 2, fit: null })
    const admin = { headers: tokenOf('admin', project) }
    const { body } = await api.call('POST', `${calibrationUrl}/fit`, project, admin)
    expect(body.verifiers[0]).toMatchObject({ name: 'kb', fit: { calibrated: true, labels: 200 } })
    const { kb } = await calibrationsOf(runsDb(), project)
    if (kb === undefined) throw new Error('no calibration')
    expect([calibrate(kb, 0.9), body.verifiers[1].labels]).toEqual([0.6, 0])
  })

  test('a claim is one label: the majority decides, a tie decides nothing', async () => {
    const project = await api.newProject()
    const { claim_ids } = await seedTask(project, 'chat', 1)
    await label(project, 'anna', 'chat', say(claim_ids))
    expect((await calibrationOf(project)).kb).toMatchObject({ labels: 1, people: 1 })
    await label(project, 'bert', 'chat', say(claim_ids, 'contradicted'))
    const tied = await calibrationOf(project)
    expect([tied.kb.labels, tied.claims_disputed]).toEqual([0, 1])
    await label(project, 'carl', 'chat', say(claim_ids, 'contradicted'))
    const decided = await calibrationOf(project)
    expect([decided.kb.labels, decided.kb.people, decided.claims_disputed]).toEqual([1, 2, 0])
    expect(decided.kb.brier).toBeCloseTo(0.81, 12)
  })

  test('an edited or withdrawn label takes its verdicts back', async () => {
    const project = await api.newProject()
    const { claim_ids } = await seedTask(project, 'chat', 3)
    await label(project, 'anna', 'chat', say(claim_ids))
    expect((await calibrationOf(project)).kb.brier).toBeCloseTo(0.01, 12)
    await label(project, 'anna', 'chat', say(claim_ids.slice(0, 1), 'contradicted'))
    const edited = await calibrationOf(project)
    expect([edited.kb.labels, edited.kb.brier]).toEqual([1, expect.closeTo(0.81, 12)])
    await post(project, 'anna', '/review/chat/labels', { label: 'correct' })
    expect(await labelsIn(project)).toBe(0)
    await label(project, 'anna', 'chat', say(claim_ids))
    expect(await labelsIn(project)).toBe(3)
    expect((await unlabel(project, 'anna', 'chat')).status).toBe(204)
    expect([await labelsIn(project), await stored(project)]).toEqual([0, []])
  })

  test('of an override and a label of one person only the newest counts', async () => {
    const project = await api.newProject()
    const { claim_ids } = await seedTask(project, 'chat', 1)
    await label(project, 'anna', 'chat', say(claim_ids))
    api.clock.ms += 1_000
    const override = { verdict: 'contradicted', reason: 'read the invoice' }
    const url = `/api/v1/verification/claims/${claim_ids[0]}/override`
    expect((await post(project, 'anna', url, override)).status).toBe(200)
    const { kb } = await calibrationOf(project)
    expect([kb.labels, kb.brier]).toEqual([1, expect.closeTo(0.81, 12)])
    api.clock.ms += 1_000
    await label(project, 'bert', 'chat', say(claim_ids, 'contradicted'))
    expect((await calibrationOf(project)).kb).toMatchObject({ labels: 1, people: 2 })
  })

  test('attack: a flood of verdicts of one reviewer counts as often as those of the others', async () => {
    const project = await api.newProject()
    for (let task = 0; task < 8; task += 1) {
      const { claim_ids } = await seedTask(project, `t${task}`, 50)
      await label(project, 'mallory', `t${task}`, say(claim_ids, 'contradicted'))
    }
    expect((await calibrationOf(project)).kb).toMatchObject({ labels: 400, labels_counted: 0 })
    const { claim_ids } = await seedTask(project, 'honest', 20)
    await label(project, 'anna', 'honest', say(claim_ids))
    const { kb } = await calibrationOf(project)
    expect(kb).toMatchObject({ labels: 420, labels_counted: 40, people: 2 })
    const admin = { headers: tokenOf('admin', project) }
    const { body } = await api.call('POST', `${calibrationUrl}/fit`, project, admin)
    expect(body.verifiers[0].fit).toMatchObject({ calibrated: false, labels: 40, steps: [] })
  })

  test('labels of another project change nothing', async () => {
    const [project, neighbour] = [await api.newProject(), await api.newProject()]
    const { claim_ids } = await seedTask(neighbour, 'chat', 3)
    await label(neighbour, 'eve', 'chat', say(claim_ids))
    expect([await labelsIn(project), await labelsIn(neighbour)]).toEqual([0, 3])
    await seedTask(project, 'chat', 1)
    expect((await unlabel(project, 'eve', 'chat')).status).toBe(204)
    expect(await labelsIn(neighbour)).toBe(3)
  })
})

describe('retention and erasure', () => {
  const day_ns = 86_400_000_000_000n
  const today = (BigInt(Date.UTC(2026, 10, 23)) * 1_000_000n) / day_ns
  const sliceOf = (project_id: string, held_trace_ids: string[] = []) => ({
    ...{ project_id, kind: 'observations' as const, held_trace_ids },
    ...{ from: today * day_ns, to: (today + 1n) * day_ns },
  })
  const retention = () => openRunsRetention({ db: runsDb() })

  /** A task with a label that quotes content, and a held one. */
  async function seedLabels(more: Partial<SeededRun> = {}) {
    const project = await api.newProject()
    const held = await seedTask(project, 'held', 1, { ...more, trace_id: randomUUID() })
    const free = await seedTask(project, 'free', 1, more)
    for (const [task_id, { claim_ids }] of Object.entries({ held, free })) {
      const reason = 'Bob lives in Kiel.'
      await label(project, 'anna', task_id, [{ ...say(claim_ids)[0], reason }])
    }
    return { project, held, free }
  }

  test('deleting observations deletes the verdicts on their traces, but not on held ones', async () => {
    const { project, held } = await seedLabels()
    await retention().deleteRows(sliceOf(project, [held.trace_id]))
    expect(await stored(project)).toMatchObject([{ trace_id: held.trace_id }])
    await retention().deleteRows(sliceOf(project))
    expect(await stored(project)).toEqual([])
  })

  test('masking content removes reasons and quotes, and keeps verdicts and labels', async () => {
    const { project, held, free } = await seedLabels()
    await retention().maskContent(sliceOf(project, [held.trace_id]))
    const byTask = new Map((await stored(project)).map((one) => [one.task_id, one]))
    expect(byTask.get('held')?.reason).toBe('Bob lives in Kiel.')
    expect(byTask.get('free')).toMatchObject({
      ...{ claim_id: free.claim_ids[0], reason: 'The text is no longer stored.' },
      machine: [{ verifier: 'kb', evidence: [] }, { verifier: 'web' }],
    })
    expect(JSON.stringify(byTask.get('free')?.machine)).not.toContain('claim 0')
    expect(await labelsIn(project)).toBe(2)
  })

  test('erasing a user deletes the verdicts on the traces of the user', async () => {
    const { project, held } = await seedLabels({ user_id: 'bob' })
    const erasure = { project_id: project, user_id: 'bob', trace_ids: [] }
    await retention().eraseUser?.({ ...erasure, held_trace_ids: [held.trace_id] })
    expect(await stored(project)).toMatchObject([{ trace_id: held.trace_id }])
    await retention().eraseUser?.({ ...erasure, held_trace_ids: [] })
    expect(await stored(project)).toEqual([])
  })

  test('verdicts go with their task', async () => {
    const { project } = await seedLabels()
    await api.db.deleteFrom('tasks').where('project_id', '=', project).execute()
    expect(await stored(project)).toEqual([])
  })
})

test('the audit trail records a label with its verdicts, and its removal', async () => {
  const url = await testPostgres()
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<InsightTestTables>({
    scope: allTenants,
    ...{ url, logger, pool_max: 4, connect_timeout_ms: 2_000, statement_timeout_ms: 20_000 },
  })
  const { db } = relational
  const app = await startAccessApp({
    database_url: url,
    routes: insightRoutes({ db, clock: systemClock }),
  })
  try {
    const { project_id, admin_email, admin_password } = app.first
    const token = await app.signIn(admin_email, admin_password)
    const at = '2026-11-23T12:00:00.000Z'
    await db
      .insertInto('tasks')
      .values({
        ...{ project_id, task_id: 'chat', name: '', implicit: false },
        ...{ started_at: at, last_activity_at: at },
      })
      .execute()
    const { claim_ids } = await seedClaims(
      db as unknown as RunsDb,
      { project_id, task_id: 'chat' },
      claimsOf(1),
    )
    const path = '/api/v1/feedback/review/chat/labels'
    const headers = { 'x-project-id': project_id }
    const body = { label: 'partly', claims: say(claim_ids) }
    expect((await app.call('POST', path, { token, headers, body })).status).toBe(200)
    expect((await app.call('DELETE', path, { token, headers })).status).toBe(204)
    const records = await app.relational.db
      .selectFrom('audit_records')
      .select(['action', 'outcome', 'change_value'])
      .where('project_id', '=', project_id)
      .where('action', 'in', ['labelTask', 'unlabelTask'])
      .orderBy('seq')
      .execute()
    expect(records).toMatchObject([
      { action: 'labelTask', outcome: 'succeeded' },
      { action: 'unlabelTask', outcome: 'succeeded' },
    ])
    expect(records[0]?.change_value).toContain(claim_ids[0])
  } finally {
    await app.close()
    await relational.close()
  }
})
