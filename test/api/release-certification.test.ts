import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSigningKey, readStatement } from '../../src/capabilities/certification/index.ts'
import { statementPayloadType } from '../../src/capabilities/certification/statement/statement.ts'
import { openEnvelope, readPublicKeys } from '../../src/capabilities/signing/index.ts'
import { maxProjectWaits } from '../../src/kernel/wait-slots.ts'
import { sql } from '../../src/platform/relational/index.ts'
import {
  type CertificationApi,
  openCertificationApi,
  releaseBody,
  secret,
  successGate,
} from '../support/certification-api.ts'
import { eventually } from '../support/eventually.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: CertificationApi
beforeAll(async () => {
  api = await openCertificationApi()
  api.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const url = '/release-certification'

/** A project with a policy of one gate, whose tasks meet it by far. */
async function goodProject(rules: object = { gates: [successGate] }): Promise<string> {
  const project = await api.newProject()
  await api.putPolicy(project, rules)
  await api.seedTasks(project, { users: 60, tasks: 10 })
  return project
}

describe('a certification', () => {
  test('certifies a release that meets its policy by far, and signs a statement', async () => {
    const project = await goodProject()
    const ended = await api.certify(project)
    expect(ended).toMatchObject({
      ...{ state: 'ended', result: 'certified', verdict: 'certified', obstacles: [], attempt: 1 },
      gates: [{ metric: 'task_success_rate', n: 600, k: 600, clusters: 60, verdict: 'passed' }],
      ledger: { accepted: 1_000, stored: 1_000, lost: 0, pending: 0 },
      requested_by: 'user:user-1',
    })
    const { body: jwks } = await api.call(
      'GET',
      '/.well-known/looptrace-certification-keys.json',
      project,
    )
    const { text } = await api.call('GET', `${url}/${ended.certification_id}/statement`, project)
    const { payload, keyid } = openEnvelope(
      text,
      statementPayloadType,
      readPublicKeys(JSON.stringify(jwks)),
    )
    expect(keyid).toBe(ended.key_id)
    const { subject, predicate } = readStatement(payload)
    expect(`sha256:${subject[0].digest.sha256}`).toBe(ended.subject)
    expect(predicate).toMatchObject({
      ...{ project_id: project, verdict: 'certified', policy: ended.policy, attempt: 1 },
    })
    expect(text).not.toContain('user-1')
  })

  test('rejects a release that misses its policy by far', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [successGate] })
    await api.seedTasks(project, { users: 60, tasks: 10, failing: 5 })
    expect(await api.certify(project)).toMatchObject({
      result: 'rejected',
      gates: [{ verdict: 'failed', n: 600, k: 300 }],
    })
  })

  const inconclusive: [string, object, (project: string) => Promise<void>][] = [
    ['without tasks', { reason: 'no_samples', n: 0 }, async () => undefined],
    [
      'with one user who makes all tasks',
      { reason: 'too_few_clusters', clusters: 1, n: 600 },
      (project) => api.seedTasks(project, { users: 60, tasks: 10, user: () => 'u' }),
    ],
    [
      'with few users who all fail',
      { reason: 'too_few_clusters', k: 0 },
      (project) => api.seedTasks(project, { users: 10, tasks: 10, failing: 10 }),
    ],
    [
      'near the limit',
      { reason: 'interval_spans_limit', verdict: 'inconclusive' },
      (project) => api.seedTasks(project, { users: 60, tasks: 10, failing: 2 }),
    ],
    [
      'with tasks of another release and environment',
      { reason: 'no_samples' },
      async (project) => {
        await api.seedTasks(project, { users: 60, tasks: 10, release: '1.0.1', prefix: 'a' })
        await api.seedTasks(project, { users: 60, tasks: 10, environment: 'prod', prefix: 'b' })
      },
    ],
    [
      'with tasks before the window',
      { reason: 'no_samples' },
      (project) => {
        const started_at = new Date(Date.now() - 8 * 86_400_000)
        return api.seedTasks(project, { users: 60, tasks: 10, started_at })
      },
    ],
    [
      'with tasks that still run',
      { reason: 'no_samples' },
      (project) => api.seedTasks(project, { users: 60, tasks: 10, state: 'running' }),
    ],
  ]
  test.each(inconclusive)('%s is inconclusive', async (_name, gate, seed) => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [successGate] })
    await seed(project)
    const ended = await api.certify(project)
    expect(ended).toMatchObject({ result: 'inconclusive', gates: [gate] })
  })

  test('a broken number is inconclusive', async () => {
    const gates = [{ metric: 'trust_score_mean', kind: 'absolute', threshold: 0.5 }]
    const project = await goodProject({ gates })
    await api.db
      .updateTable('tasks')
      .set((eb) => ({ trust_score: eb.val(0.9) }))
      .where('project_id', '=', project)
      .execute()
    await api.db
      .updateTable('tasks')
      .set({ trust_score: Number.NaN })
      .where('project_id', '=', project)
      .where('task_id', '=', '0-0')
      .execute()
    expect(await api.certify(project)).toMatchObject({
      result: 'inconclusive',
      gates: [{ reason: 'broken_values' }],
    })
  })

  test('values that were not checked are no evidence of supported values', async () => {
    const gates = [{ metric: 'unsupported_claim_rate', kind: 'absolute', threshold: 0.2 }]
    const project = await goodProject({ gates })
    const analysed = async (values: object | null | undefined, users: string) => {
      const verdict = JSON.stringify({ summary: 'Nothing wrong found.', values })
      await sql`update tasks set verdict = ${verdict}::jsonb
        where project_id = ${project} and user_id ~ ${users}`.execute(api.db)
    }
    await analysed({ checked: 1, not_checked: 2 }, '.')
    const unchecked = { result: 'inconclusive', gates: [{ reason: 'no_samples', n: 0 }] }
    expect(await api.certify(project)).toMatchObject(unchecked)
    // Analysed by an earlier version, or with the detector switched off.
    await analysed(undefined, '[0-4]$')
    await analysed(null, '[5-9]$')
    await api.seedTasks(project, { users: 1, tasks: 1, user: () => 'new', prefix: 'new' })
    expect(await api.certify(project)).toMatchObject(unchecked)
    await analysed({ checked: 3, not_checked: 0 }, '.')
    await api.seedTasks(project, { users: 1, tasks: 1, user: () => 'newer', prefix: 'newer' })
    expect(await api.certify(project)).toMatchObject({
      result: 'certified',
      gates: [{ n: 601, k: 0 }],
    })
  })

  test('tasks of conversations without users are clusters of the conversation', async () => {
    const project = await goodProject()
    await api.db
      .updateTable('tasks')
      .set({ user_id: null, conversation_id: randomUUID() })
      .where('project_id', '=', project)
      .execute()
    expect(await api.certify(project)).toMatchObject({ gates: [{ clusters: 1 }] })
  })
})

test('tasks that arrive during a certification leave its statement as it is', async () => {
  const project = await goodProject()
  const late = async () => {
    for (let batch = 0; batch < 20; batch += 1) {
      await api.seedTasks(project, { users: 5, tasks: 4, failing: 4, prefix: `late-${batch}-` })
    }
  }
  const [ended] = await Promise.all([api.certify(project), late()])
  const [{ n, clusters }] = ended.gates
  // Each batch is stored at once, so the evidence has all of it or nothing.
  expect(n % 20).toBe(0)
  expect(clusters).toBe(60)
  const path = `${url}/${ended.certification_id}/recompute`
  const { body } = await api.call('POST', path, project)
  expect(body).toMatchObject({ result: 'equal', verdict: ended.verdict })
  expect(body.payload_digest).toBe(body.stored_payload_digest)
})

describe('tasks without an environment', () => {
  const none = { environment: null }

  test('are certified, without those of environments', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [successGate] })
    await api.seedTasks(project, { users: 60, tasks: 10, ...none })
    await api.seedTasks(project, { users: 60, tasks: 10, failing: 10, prefix: 'staging' })
    const ended = await api.certify(project, none)
    expect(ended).toMatchObject({ result: 'certified', environment: null, gates: [{ n: 600 }] })
    const { body } = await api.call('GET', `${url}/${ended.certification_id}/statement`, project)
    const { predicate } = readStatement(Buffer.from(body.payload, 'base64'))
    expect(predicate.environment).toBeNull()
    const path = `${url}/${ended.certification_id}/recompute`
    expect((await api.call('POST', path, project)).body).toMatchObject({ result: 'equal' })
    expect((await api.certify(project)).result).toBe('rejected')
  })

  test('are compared with a baseline without one, or of one', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, {
      gates: [{ metric: 'task_success_rate', kind: 'regression', max_drop: 0.1 }],
    })
    await api.seedTasks(project, { users: 60, tasks: 10, ...none })
    const base = { users: 60, tasks: 9, release: '0.9.0' }
    await api.seedTasks(project, { ...base, ...none, prefix: 'none' })
    await api.seedTasks(project, { ...base, environment: 'prod', tasks: 8, prefix: 'prod' })
    const inherited = await api.certify(project, { ...none, baseline: { version: '0.9.0' } })
    expect(inherited).toMatchObject({
      ...{ result: 'certified', baseline: none, gates: [{ baseline_n: 540 }] },
    })
    const release = { name: 'agent', version: '1.0.0-b', tags: ['1.0.0'] }
    const baseline = { version: '0.9.0', environment: 'prod' }
    expect(await api.certify(project, { ...none, release, baseline })).toMatchObject({
      ...{ result: 'certified', baseline: { environment: 'prod' }, gates: [{ baseline_n: 480 }] },
    })
  })

  test('have eval runs of their own', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, {
      gates: [{ metric: 'eval_pass_rate', kind: 'absolute', threshold: 0.5 }],
    })
    const content = Array.from({ length: 60 }, (_, at) =>
      JSON.stringify({ case_id: `case-${at}`, passed: true }),
    ).join('\n')
    const body = { release: releaseBody.release, format: 'jsonl', content, ...none }
    const run = await api.call('POST', '/eval-runs', project, { body })
    expect(run).toMatchObject({ status: 201, body: none })
    const eval_run_ids = [run.body.eval_run_id]
    const refused = await api.call('POST', url, project, { body: { ...releaseBody, eval_run_ids } })
    expect(refused.body).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(refused.body.detail).toContain('without an environment')
    expect((await api.certify(project, { ...none, eval_run_ids })).result).toBe('certified')
  })

  test('need an explicit null', async () => {
    const project = await api.newProject()
    for (const body of [{ release: releaseBody.release }, { ...releaseBody, environment: '' }]) {
      expect((await api.call('POST', url, project, { body })).status).toBe(400)
    }
  })
})

describe('the ledger', () => {
  const ledgers: [string, object, string][] = [
    ['lost items', { lost: 1, stored: 999 }, 'inconclusive'],
    ['0.6 % pending, as during ingestion', { pending: 6, stored: 994 }, 'inconclusive'],
    ['0.5 % pending', { pending: 5, stored: 995 }, 'certified'],
  ]
  test.each(ledgers)('%s', async (_name, ledger, result) => {
    const project = await goodProject()
    const restore = { ...api.ledger }
    Object.assign(api.ledger, ledger)
    const ended = await api.certify(project)
    Object.assign(api.ledger, restore)
    const obstacles = result === 'certified' ? [] : ['incomplete_ledger']
    expect(ended).toMatchObject({ result, obstacles, gates: [{ verdict: 'passed' }] })
  })

  test('a failed gate rejects, also with an incomplete ledger', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates: [successGate] })
    await api.seedTasks(project, { users: 60, tasks: 10, failing: 9 })
    const restore = { ...api.ledger }
    Object.assign(api.ledger, { lost: 3, stored: 997 })
    const ended = await api.certify(project)
    Object.assign(api.ledger, restore)
    expect(ended).toMatchObject({ result: 'rejected', obstacles: ['incomplete_ledger'] })
  })
})

describe('attempts', () => {
  test('count for a release with all its images, accumulate evidence, and end', async () => {
    const project = await goodProject({ gates: [successGate], max_attempts: 2 })
    const image = { ...releaseBody.release, image_digest: `sha256:${'a'.repeat(64)}` }
    const first = await api.certify(project, { release: image })
    const later = (prefix: string) =>
      api.seedTasks(project, { users: 60, tasks: 1, prefix, started_at: new Date() })
    await later('later')
    const second = await api.certify(project, { release: image })
    expect([first.attempt, second.attempt]).toEqual([1, 2])
    expect([first.gates[0].n, second.gates[0].n]).toEqual([600, 660])
    expect(second.window.from).toBe(first.window.from)
    await later('last')
    const third = await api.certify(project, { release: image })
    expect(third).toMatchObject({
      ...{ attempt: 3, result: 'inconclusive', obstacles: ['attempts_exhausted'] },
      gates: [{ n: 0, reason: 'attempts_exhausted' }],
    })
    const other = { ...image, image_digest: `sha256:${'b'.repeat(64)}` }
    expect(await api.certify(project, { release: other })).toMatchObject({ attempt: 4 })
    const next = { ...image, version: '1.0.1' }
    const image_digest = `sha256:${'c'.repeat(64)}`
    const third_image = { ...next, image_digest }
    expect(await api.certify(project, { release: third_image })).toMatchObject({ attempt: 1 })
  })

  test('a later look can not change what was declared', async () => {
    const project = await goodProject()
    const first = await api.certify(project)
    const changes = [
      { window: { from: new Date(Date.now() - 86_400_000).toISOString() } },
      { release: { ...releaseBody.release, tags: ['1.0.0-rc'] } },
      { baseline: { version: '0.9.0' } },
    ]
    for (const change of changes) {
      const body = { ...releaseBody, ...change }
      const { status, body: got } = await api.call('POST', url, project, { body })
      expect([status, got.code]).toEqual([409, 'certification_plan_conflict'])
    }
    const again = await api.certify(project, { window: { from: first.window.from } })
    expect(again.window.from).toBe(first.window.from)
  })
})

describe('what was declared', () => {
  async function predicateOf(project: string, id: string) {
    const { body } = await api.call('GET', `${url}/${id}/statement`, project)
    return readStatement(Buffer.from(body.payload, 'base64')).predicate
  }

  test('is in the statement: releases of the tasks, and the baseline', async () => {
    const project = await goodProject()
    const window = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }
    const ended = await api.certify(project, {
      release: { ...releaseBody.release, tags: ['b', '1.0.0', 'a'] },
      baseline: { version: '0.9.0', environment: 'prod', window },
    })
    const predicate = await predicateOf(project, ended.certification_id)
    expect(predicate).toMatchObject({
      release_tags: ['1.0.0', 'a', 'b'],
      baseline: {
        ...{ name: 'agent', version: '0.9.0', tags: ['0.9.0', 'agent@0.9.0'] },
        ...{ environment: 'prod', window, eval_run_ids: [] },
      },
    })
    expect(predicate.warnings).not.toContain('declared_after_window')
  })

  test('after the window has ended gives a warning', async () => {
    const project = await goodProject()
    const to = new Date(api.clock.now_ms() - 60_000).toISOString()
    const ended = await api.certify(project, { window: { to } })
    expect(ended.result).toBe('certified')
    expect(ended.warnings).toContain('declared_after_window')
    const { warnings } = await predicateOf(project, ended.certification_id)
    expect(warnings).toContain('declared_after_window')
  })

  test('lets no later look end before an earlier one', async () => {
    const project = await goodProject()
    const first = await api.certify(project)
    const to = new Date(Date.parse(first.window.to) - 1).toISOString()
    const body = { ...releaseBody, window: { to } }
    const refused = await api.call('POST', url, project, { body })
    expect(refused.body).toMatchObject({ status: 409, code: 'certification_plan_conflict' })
    expect(refused.body.detail).toContain(first.window.to)
    const again = await api.certify(project, { window: { to: first.window.to } })
    expect(again).toMatchObject({ attempt: 1, window: first.window })
  })
})

describe('eval runs', () => {
  const gates = [
    { metric: 'eval_pass_rate', kind: 'pass_k', k: 3, threshold: 0.7 },
    { metric: 'eval_pass_rate', kind: 'regression', max_drop: 0.1 },
  ]

  async function upload(
    project: string,
    version: string,
    line: (at: number) => object,
    image_digest: string | null = null,
  ) {
    const content = Array.from({ length: 60 * 3 }, (_, at) => JSON.stringify(line(at))).join('\n')
    const { status, body, text } = await api.call('POST', '/eval-runs', project, {
      body: {
        ...{ name: 'eval', environment: 'staging', format: 'jsonl', content },
        release: { name: 'agent', version, image_digest },
      },
    })
    if (status !== 201) throw new Error(text)
    return body.eval_run_id as string
  }
  const passing = (at: number) => ({
    case_id: `case-${Math.floor(at / 3)}`,
    repeat: at % 3,
    passed: true,
  })

  test('are evidence, paired by case with the baseline', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates })
    const [head, base] = [
      await upload(project, '1.0.0', passing),
      await upload(project, '0.9.0', passing),
    ]
    const ended = await api.certify(project, {
      eval_run_ids: [head],
      baseline: { version: '0.9.0', eval_run_ids: [base] },
    })
    expect(ended).toMatchObject({
      ...{ result: 'certified', ledger: { accepted: 0 } },
      gates: [
        { kind: 'pass_k', n: 60, clusters: 60, estimate: 1 },
        { kind: 'regression', n: 180, baseline_n: 180, clusters: 60, estimate: 0 },
      ],
    })
    const worse = await upload(project, '1.1.0', (at) => ({ ...passing(at), passed: at % 3 > 0 }))
    const rejected = await api.certify(project, {
      release: { name: 'agent', version: '1.1.0' },
      eval_run_ids: [worse],
      baseline: { version: '0.9.0', eval_run_ids: [base] },
    })
    expect(rejected).toMatchObject({
      result: 'rejected',
      gates: [
        { verdict: 'failed', estimate: 0 },
        { verdict: 'failed', estimate: expect.closeTo(1 / 3, 9) },
      ],
    })
    const compared = await api.call(
      'GET',
      `${url}/compare?base=${ended.certification_id}&head=${rejected.certification_id}`,
      project,
    )
    expect(compared.body).toMatchObject({ same_policy: true, gates: [{ change: -1 }, {}] })
  })

  test('that a plan names can not be deleted, others can', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates })
    const [head, base, unused] = [
      await upload(project, '1.0.0', passing),
      await upload(project, '0.9.0', passing),
      await upload(project, '0.8.0', passing),
    ]
    await api.certify(project, {
      eval_run_ids: [head],
      baseline: { version: '0.9.0', eval_run_ids: [base] },
    })
    const remove = async (id: string, of = project) => {
      const { status, body } = await api.call('DELETE', `/eval-runs/${id}`, of)
      return [status, body?.code]
    }
    for (const id of [head, base, head.toUpperCase()]) {
      expect(await remove(id)).toEqual([409, 'eval_run_in_use'])
    }
    expect(await remove(head, await api.newProject())).toEqual([404, 'eval_run_not_found'])
    expect(await remove(unused)).toEqual([204, undefined])
    const { body } = await api.call('GET', '/eval-runs', project)
    expect(body.total).toBe(2)
  })

  test.each(['release', 'baseline'])(
    'of the %s that are gone prevent a certification',
    async (side) => {
      const project = await api.newProject()
      await api.putPolicy(project, { gates })
      const mixed = (at: number) => ({ ...passing(at), passed: at % 3 > 0 })
      const good = await upload(project, '1.0.0', passing)
      const base = await upload(project, '0.9.0', passing)
      const gone = await upload(project, side === 'release' ? '1.0.0' : '0.9.0', mixed)
      const asked = {
        eval_run_ids: side === 'release' ? [good, gone] : [good],
        baseline: { version: '0.9.0', eval_run_ids: side === 'release' ? [base] : [base, gone] },
      }
      const first = await api.certify(project, asked)
      expect(first.obstacles).toEqual([])
      // As if somebody deletes the run in PostgreSQL.
      await api.db.deleteFrom('certification_eval_runs').where('id', '=', gone).execute()
      const second = await api.certify(project)
      expect(second).toMatchObject({ result: 'inconclusive', obstacles: ['eval_run_missing'] })
      expect(second.gates).toMatchObject([{ verdict: 'passed' }, { verdict: 'passed' }])
    },
  )

  test('of another image, and of no image, are refused for an image', async () => {
    const project = await api.newProject()
    const [one, other] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`)
    const ofOther = await upload(project, '1.0.0', passing, other)
    const ofNone = await upload(project, '1.0.0', passing)
    const ask = (image_digest: string | undefined, run = ofOther) =>
      api.call('POST', url, project, {
        body: {
          ...{ ...releaseBody, eval_run_ids: [run] },
          release: { ...releaseBody.release, image_digest },
        },
      })
    const refused = await ask(one)
    expect(refused.body).toMatchObject({
      ...{ status: 400, code: 'invalid_request' },
      errors: [{ pointer: '/eval_run_ids/0', detail: expect.stringContaining('image') }],
    })
    expect((await ask(other, ofNone)).body).toMatchObject({
      ...{ status: 400, code: 'invalid_request' },
      errors: [{ detail: expect.stringContaining('names no image, expected one of sha256:bb') }],
    })
    expect((await ask(other)).status).toBe(202)
    // Without an image, the subject of the statement is the name and version: all its runs count.
    expect((await ask(undefined, ofNone)).status).toBe(202)
  })

  test('that a look of an image declared stay when the digest is left out, not for another', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, {
      gates: [{ ...gates[1], kind: 'absolute', threshold: 0.9, max_drop: undefined }],
    })
    const [one, other] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`)
    const failing = (at: number) => ({ ...passing(at), passed: false })
    const [bad, good, ofOther] = [
      await upload(project, '1.0.0', failing, one),
      await upload(project, '1.0.0', passing),
      await upload(project, '1.0.0', passing, other),
    ]
    const certify = (image_digest: string | undefined, run: string) =>
      api.certify(project, {
        ...{ release: { ...releaseBody.release, image_digest }, eval_run_ids: [run] },
      })
    expect(await certify(one, bad)).toMatchObject({ result: 'rejected', gates: [{ n: 180 }] })
    const without = await certify(undefined, good)
    expect(without).toMatchObject({ attempt: 2, gates: [{ n: 360, k: 180 }] })
    expect(without.eval_run_ids).toEqual([bad, good])
    expect(await certify(other, ofOther)).toMatchObject({
      ...{ attempt: 3, eval_run_ids: [ofOther], gates: [{ n: 180, k: 180 }] },
    })
  })

  test('older than 400 days are deleted, unless a certification that is valid needs them', async () => {
    const project = await api.newProject()
    await api.putPolicy(project, { gates })
    const [head, base, old, young] = [
      await upload(project, '1.0.0', passing),
      await upload(project, '0.9.0', passing),
      await upload(project, '0.8.0', passing),
      await upload(project, '0.7.0', passing),
    ]
    await api.certify(project, {
      eval_run_ids: [head],
      baseline: { version: '0.9.0', eval_run_ids: [base] },
    })
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
    const age = (ids: string[], days: number) =>
      api.db
        .updateTable('certification_eval_runs')
        .set({ created_at: daysAgo(days) })
        .where('id', 'in', ids)
        .execute()
    await age([young], 399)
    await age([head, base, old], 401)
    const left = async () => {
      const { body } = await api.call('GET', '/eval-runs', project)
      return body.eval_runs.map((run: { eval_run_id: string }) => run.eval_run_id).sort()
    }
    await eventually('the deletion of the old run', async () => !(await left()).includes(old))
    expect(await left()).toEqual([head, base, young].sort())
    await api.db
      .updateTable('certifications')
      .set({ expires_at: daysAgo(1) })
      .where('project_id', '=', project)
      .execute()
    await eventually('the deletion of the others', async () => (await left()).length === 1)
    expect(await left()).toEqual([young])
  })

  test('of another project are not found, of another release refused', async () => {
    const [project, other] = [await api.newProject(), await api.newProject()]
    const [own, foreign] = [
      await upload(project, '0.9.0', passing),
      await upload(other, '1.0.0', passing),
    ]
    const ask = (id: string) =>
      api.call('POST', url, project, { body: { ...releaseBody, eval_run_ids: [id] } })
    expect((await ask(foreign)).body).toMatchObject({ status: 404, code: 'eval_run_not_found' })
    expect((await ask(own)).body).toMatchObject({
      ...{ status: 400, code: 'invalid_request' },
      errors: [{ pointer: '/eval_run_ids/0' }],
    })
  })
})

describe('requests', () => {
  test('the same request while one is pending returns it, another one is refused', async () => {
    const project = await goodProject()
    const window = { to: new Date(Date.now() + 3_600_000).toISOString() }
    const ask = (more: object) =>
      api.call('POST', url, project, { body: { ...releaseBody, window, ...more } })
    const [one, two] = await Promise.all([ask({}), ask({})])
    expect([one.status, two.status]).toEqual([202, 202])
    expect(two.body.certification_id).toBe(one.body.certification_id)
    expect(one.body).toMatchObject({ state: 'pending', attempt: null, window })
    const refused = await ask({ window: null })
    expect(refused.body).toMatchObject({ status: 409, code: 'certification_running' })
    const cancelled = await api.call('POST', `${url}/${one.body.certification_id}/cancel`, project)
    expect(cancelled.body).toMatchObject({ state: 'cancelled', result: 'cancelled' })
    expect((await api.certify(project)).attempt).toBe(1)
  })

  test('a certification whose window is ahead begins at its end', async () => {
    const project = await goodProject()
    const to = new Date(api.clock.now_ms() + 1_500).toISOString()
    const started = await api.call('POST', url, project, {
      body: { ...releaseBody, window: { to } },
    })
    expect(started.body).toMatchObject({ state: 'pending', started_at: null })
    const path = `${url}/${started.body.certification_id}`
    const ended = await eventually('its end', async () => {
      const { body } = await api.call('GET', path, project)
      return body.state === 'ended' && body
    })
    expect(Date.parse(ended.started_at)).toBeGreaterThanOrEqual(Date.parse(to))
  })

  test('with wait it answers 200 at the end', async () => {
    const project = await goodProject()
    const { status, body } = await api.call('POST', `${url}?wait=true`, project, {
      body: releaseBody,
    })
    expect([status, body.result]).toEqual([200, 'certified'])
  })

  test('a flood of waiting requests is refused, and declares nothing', async () => {
    const [project, other] = [await goodProject(), await goodProject()]
    const window = { to: new Date(Date.now() + 3_600_000).toISOString() }
    const ask = (one: string, release: object) =>
      api.call('POST', `${url}?wait=true`, one, { body: { ...releaseBody, window, release } })
    const statuses: number[] = []
    const flood = Array.from({ length: maxProjectWaits + 4 }, async (_, n) => {
      const { status, body } = await ask(project, { name: `flood-${n}`, version: '1' })
      statuses.push(status)
      if (status === 429) expect(body.code).toBe('rate_limited')
    })
    await eventually('the refusals', async () => statuses.length === 4)
    const list = await eventually('the others', async () => {
      const found = await api.call('GET', `${url}?limit=100`, project)
      return found.body.certifications.length === maxProjectWaits && found
    })
    const { status } = await api.call('POST', `${url}?wait=true`, other, { body: releaseBody })
    expect(status).toBe(200)
    for (const { certification_id } of list.body.certifications) {
      await api.call('POST', `${url}/${certification_id}/cancel`, project)
    }
    await Promise.all(flood)
    expect(statuses.toSorted()).toEqual([
      ...Array.from({ length: maxProjectWaits }, () => 200),
      ...[429, 429, 429, 429],
    ])
  })

  test('evidence older than max_age is stale', async () => {
    const project = await goodProject({ gates: [successGate], max_age: '1h' })
    const to = new Date(Date.now() - 2 * 3_600_000).toISOString()
    await api.seedTasks(project, {
      ...{ users: 60, tasks: 1, prefix: 'old' },
      started_at: new Date(Date.now() - 2.5 * 3_600_000),
    })
    const ended = await api.certify(project, { window: { to } })
    expect(ended).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['stale_evidence'] },
      gates: [{ verdict: 'passed', n: 60 }],
    })
  })

  const bad: [string, object, string][] = [
    ['an unknown field', { note: '' }, '/note'],
    ['no environment', { environment: '' }, '/environment'],
    ['the onboarding environment', { environment: 'looptrace-onboarding' }, '/environment'],
    [
      'a window that ends first',
      { window: { from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' } },
      '/window',
    ],
    [
      'a digest without sha256:',
      { release: { ...releaseBody.release, image_digest: 'a' } },
      '/release/image_digest',
    ],
    ['itself as baseline', { baseline: { version: '1.0.0' } }, '/baseline/version'],
    ['a window far ahead', { window: { to: '2100-01-01T00:00:00Z' } }, '/window/to'],
  ]
  test.each(bad)('refuses %s', async (_name, change, pointer) => {
    const project = await api.newProject()
    const { body } = await api.call('POST', url, project, { body: { ...releaseBody, ...change } })
    expect(body).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ pointer }] })
  })

  test('an unknown policy is not found', async () => {
    const project = await api.newProject()
    const { body } = await api.call('POST', url, project, {
      body: { ...releaseBody, policy_id: 'other' },
    })
    expect(body).toMatchObject({ status: 404, code: 'release_policy_not_found' })
  })

  test('viewers read, editors and keys with the scope start', async () => {
    const project = await goodProject()
    const start = (headers: Record<string, string>) =>
      api.call('POST', url, project, { headers, body: releaseBody })
    expect((await start(tokenOf('viewer', project))).status).toBe(403)
    expect((await start(keyOf(project, 'tasks:read'))).status).toBe(403)
    expect((await start(keyOf(project, 'certification:run'))).status).toBe(202)
    const read = await api.call('GET', url, project, { headers: tokenOf('viewer', project) })
    expect(read.body).toMatchObject({ total: 1, certifications: [{ environment: 'staging' }] })
  })

  test('ids of other projects are not found', async () => {
    const [project, other] = [await goodProject(), await api.newProject()]
    const { certification_id: id } = await api.certify(project)
    const asked: ['GET' | 'POST', string][] = [
      ['GET', `${url}/${id}`],
      ['GET', `${url}/${id}/statement`],
      ['POST', `${url}/${id}/recompute`],
      ['POST', `${url}/${id}/cancel`],
      ['GET', `${url}/compare?base=${id}&head=${id}`],
      ['GET', `${url}/not-an-id`],
    ]
    for (const [method, path] of asked) {
      const { body } = await api.call(method, path, other)
      expect(body, path).toMatchObject({ status: 404, code: 'certification_not_found' })
    }
    expect((await api.call('GET', url, other)).body.total).toBe(0)
  })
})

describe('keys', () => {
  test('a rotation keeps the public keys of earlier statements', async () => {
    const project = await goodProject()
    const old = await api.certify(project)
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
    const next = openSigningKey({
      ...{ db: api.db, clock: api.clock, secret_key: secret },
      certification_key: pem.toString(),
    })
    await next.current()
    const { body } = await api.call(
      'GET',
      '/.well-known/looptrace-certification-keys.json',
      project,
    )
    expect(body.keys.map(({ kid }: { kid: string }) => kid)).toContain(old.key_id)
    expect(body.keys.length).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify(body)).not.toContain('"d"')
  })

  test('a generated key is not in the store in clear text, and needs the secret', async () => {
    const project = await goodProject()
    await api.certify(project)
    const other = openSigningKey({
      ...{ db: api.db, clock: api.clock, certification_key: undefined },
      secret_key: undefined,
    })
    expect(await other.current()).toBeUndefined()
  })

  test('without any key it fails and says what to set', async () => {
    const alone = await openCertificationApi()
    await using _ = alone
    alone.startWorker({ signing: { current: async () => undefined } })
    const project = await alone.newProject()
    expect(await alone.certify(project)).toMatchObject({
      ...{ state: 'failed', result: 'failed' },
      error: expect.stringContaining('LOOPTRACE_CERTIFICATION_KEY'),
    })
  })
})
