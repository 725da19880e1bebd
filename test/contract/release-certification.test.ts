import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  certificationHandler,
  openCertificationErasure,
} from '../../src/capabilities/certification/index.ts'
import type { Job } from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import { sql } from '../../src/platform/relational/index.ts'
import {
  type CertificationApi,
  type Json,
  openCertificationApi,
  payloadDigest,
  releaseBody,
  secret,
  successGate,
} from '../support/certification-api.ts'
import { eventually } from '../support/eventually.ts'
import { killableProcesses } from '../support/killable-processes.ts'
import { killsOfRun } from '../support/kills-of-run.ts'
import { budget, quarterOf } from '../support/suite/budget.ts'

let api: CertificationApi
beforeAll(async () => {
  api = await openCertificationApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const processes = killableProcesses(new URL('../support/certification-process.ts', import.meta.url))
afterEach(() => processes.killAll())

const url = '/release-certification'

async function goodProject(rules: object = {}): Promise<string> {
  const project = await api.newProject()
  await api.putPolicy(project, { gates: [successGate], ...rules })
  await api.seedTasks(project, { users: 60, tasks: 20, failing: 1 })
  return project
}

async function declare(project: string): Promise<string> {
  const { status, body, text: got } = await api.call('POST', url, project, { body: releaseBody })
  if (status !== 202) throw new Error(got)
  return body.certification_id
}

function rowOf(id: string) {
  return api.db
    .selectFrom('certifications')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

async function endOf(project: string, id: string): Promise<Json> {
  return eventually(
    'the end of the certification',
    async () => {
      const { body } = await api.call('GET', `${url}/${id}`, project)
      return body.result !== 'pending' && body
    },
    { timeout_ms: 60_000 },
  )
}

describe('a worker that is killed', () => {
  /** Thrown at a statement in the place of a killed process: nothing after it happens. */
  class Killed extends Error {}

  function killedAt(statement: number) {
    let count = 0
    const plugin = {
      transformQuery: ({ node }: { node: unknown }) => {
        count += 1
        if (count >= statement) throw new Killed(`killed at statement ${statement}`)
        return node as never
      },
      transformResult: async ({ result }: { result: unknown }) => result as never,
    }
    return { db: api.db.withPlugin(plugin), statements: () => count }
  }

  async function work(id: string, change: object): Promise<unknown> {
    const { rows } = await sql<Job>`
      update job_runs set state = 'running', attempt = 1, lease_owner = ${newId()},
        lease_until = now() + interval '1 min'
      where id = ${(await rowOf(id)).job_id} and state in ('queued', 'running') returning *
    `.execute(api.db)
    const [job] = rows
    if (job === undefined) return undefined
    const context = { progress: async () => undefined, signal: new AbortController().signal }
    return certificationHandler({ ...api.deps, ...change }).run(job, context)
  }

  test('at any of its statements counts one attempt and signs one statement', async () => {
    await api.deps.signing.current()
    const undisturbed = killedAt(Number.POSITIVE_INFINITY)
    await work(await declare(await goodProject()), { db: undisturbed.db })
    expect(undisturbed.statements()).toBeGreaterThanOrEqual(10)
    const all = Array.from({ length: undisturbed.statements() }, (_, at) => 1 + at)
    for (const statement of quarterOf(all)) {
      const project = await goodProject()
      const id = await declare(project)
      const { db } = killedAt(statement)
      const died = await work(id, { db }).catch((error) => error)
      expect(died).toBeInstanceOf(Killed)
      await work(id, {})
      const row = await rowOf(id)
      expect(row).toMatchObject({ state: 'ended', attempt: 1, verdict: 'certified' })
      const again = await work(id, {})
      expect(again).toEqual({ state: 'ended' })
      expect((await rowOf(id)).statement).toBe(row.statement)
    }
  })

  const kills = killsOfRun({ test: 1, soak: 4 })
  /** Of each of 100 users, besides the 1,200 tasks of the project. */
  const tasks = budget({ test: 10, soak: 80 })
  test(`by SIGKILL ${kills} times leaves one statement for each certification`, async () => {
    const project = await goodProject()
    await api.seedTasks(project, { users: 100, tasks, prefix: 'more' })
    const ids: string[] = []
    let midway = 0
    for (let kill = 0; kill < kills; kill += 1) {
      const last = ids.at(-1)
      if (last === undefined || (await rowOf(last)).state === 'ended') {
        ids.push(await declareImage(project))
      }
      const child = processes.start(JSON.stringify({ postgres: api.url, secret }))
      await once(child.stdout, 'data')
      await sleep(Math.random() * 500, new AbortController().signal)
      await processes.kill(child)
      if ((await rowOf(ids.at(-1) ?? '')).state === 'running') midway += 1
    }
    processes.start(JSON.stringify({ postgres: api.url, secret }))
    for (const id of ids) {
      const ended = await endOf(project, id)
      expect(ended).toMatchObject({ state: 'ended', attempt: 1, result: 'certified' })
      expect(ended.gates[0].n).toBe(1_200 + 100 * tasks)
      const { rows } = await sql<{ items: number }>`
        select sum(jsonb_array_length(items))::int as items
        from certification_evidence where certification_id = ${id}`.execute(api.db)
      expect(rows).toEqual([{ items: 1_200 + 100 * tasks }])
      expect(await recomputeElsewhere(id)).toMatchObject({ result: 'equal', verdict: 'certified' })
    }
    if (kills >= 10) expect(midway).toBeGreaterThan(0)
  }, 240_000)

  async function declareImage(project: string): Promise<string> {
    const image_digest = `sha256:${createHash('sha256').update(newId()).digest('hex')}`
    // Images of one version would share their attempts.
    const version = newId()
    const release = { name: 'agent', version, image_digest, tags: ['1.0.0'] }
    const body = { ...releaseBody, release }
    const { body: declared } = await api.call('POST', url, project, { body })
    return declared.certification_id
  }
})

async function recomputeElsewhere(id: string): Promise<Json> {
  const child = processes.start(JSON.stringify({ postgres: api.url, secret, recompute: id }))
  return JSON.parse(await text(child.stdout))
}

describe('a certification', () => {
  beforeAll(() => {
    api.startWorker()
  })

  async function certified(rules: object = {}) {
    const project = await goodProject(rules)
    const { certification_id: id } = await api.certify(project)
    const recompute = async () => (await api.call('POST', `${url}/${id}/recompute`, project)).body
    return { project, id: id as string, recompute }
  }

  test('has the same bytes when it is computed again in another process', async () => {
    const { project, id } = await certified()
    const { body } = await api.call('GET', `${url}/${id}/statement`, project)
    const digest = payloadDigest(body)
    // Later changes of the tasks change nothing.
    await api.db.deleteFrom('tasks').where('project_id', '=', project).execute()
    const equal = { result: 'equal', verdict: 'certified', reason: null }
    expect(await recomputeElsewhere(id)).toEqual({
      ...{ ...equal, payload_digest: digest, stored_payload_digest: digest },
    })
  })

  test('of which evidence, policy or statement was changed is not certified', async () => {
    const different = { result: 'different', verdict: 'inconclusive' }
    const evidence = await certified()
    await sql`
      update certification_evidence set
        items = jsonb_set(items, '{1,values,task_success_rate}', '0')
      where certification_id = ${evidence.id}`.execute(api.db)
    expect(await evidence.recompute()).toMatchObject({ ...different, reason: 'payload_differs' })
    const policy = await certified()
    await sql`
      update certifications set policy = jsonb_set(policy, '{gates,0,threshold}', '0.1')
      where id = ${policy.id}`.execute(api.db)
    expect(await policy.recompute()).toMatchObject({ ...different, reason: 'policy_changed' })
    const statement = await certified()
    const { rows } = await sql<{ statement: string }>`
      select statement from certifications where id = ${statement.id}`.execute(api.db)
    const envelope = JSON.parse(rows[0]?.statement ?? '')
    const payload = Buffer.from(envelope.payload, 'base64')
      .toString()
      .replace('"k":1140', '"k":1141')
    envelope.payload = Buffer.from(payload).toString('base64')
    await api.db
      .updateTable('certifications')
      .set({ statement: JSON.stringify(envelope) })
      .where('id', '=', statement.id)
      .execute()
    expect(await statement.recompute()).toMatchObject({ ...different, reason: 'payload_differs' })
  })

  test('is inconclusive after it has expired, and its evidence is deleted', async () => {
    const { project, id, recompute } = await certified({ valid_for: '1h' })
    expect(await recompute()).toMatchObject({ result: 'equal' })
    api.clock.ahead_ms = 3_700_000
    try {
      expect(await recompute()).toMatchObject({
        ...{ result: 'inconclusive', verdict: 'inconclusive', reason: 'evidence_expired' },
      })
      const { body } = await api.call('GET', `${url}/${id}`, project)
      expect(body).toMatchObject({ verdict: 'certified', result: 'inconclusive' })
      await eventually('the deletion of its evidence', async () => {
        const { rows } = await sql`
          select 1 from certification_evidence where certification_id = ${id}`.execute(api.db)
        return rows.length === 0
      })
    } finally {
      api.clock.ahead_ms = 0
    }
    expect(await recompute()).toMatchObject({ result: 'inconclusive', reason: 'evidence_expired' })
  })

  test('names no user and no task, and an erased user can not be found in it', async () => {
    const { project, id, recompute } = await certified()
    const stored = await api.db
      .selectFrom('certification_evidence')
      .select('items')
      .where('certification_id', '=', id)
      .execute()
    expect(JSON.stringify(stored)).not.toMatch(/user-\d|"\d+-\d+"/)
    const erasure = openCertificationErasure({ db: api.db })
    await erasure.eraseUser({
      ...{ project_id: project, user_id: 'user-1', trace_ids: [], held_trace_ids: [] },
    })
    expect((await rowOf(id)).evidence_salt).toBeNull()
    expect(await recompute()).toMatchObject({ result: 'equal', verdict: 'certified' })
  })

  test('an erased user of eval cases gets one random cluster', async () => {
    const project = await api.newProject()
    const lines = [1, 2, 3].map((at) => ({
      case_id: `c${at}`,
      passed: true,
      cluster: at > 1 ? 'ann' : 'bob',
    }))
    const { body } = await api.call('POST', '/eval-runs', project, {
      body: {
        ...{ release: releaseBody.release, environment: 'staging', format: 'jsonl' },
        content: lines.map((line) => JSON.stringify(line)).join('\n'),
      },
    })
    const erasure = openCertificationErasure({ db: api.db })
    await erasure.eraseUser({
      ...{ project_id: project, user_id: 'ann', trace_ids: [], held_trace_ids: [] },
    })
    const cases = await api.db
      .selectFrom('certification_eval_cases')
      .select('cluster')
      .where('run_id', '=', body.eval_run_id)
      .orderBy('case_id')
      .execute()
    const [bob, ann, alsoAnn] = cases.map(({ cluster }) => cluster)
    expect([bob, ann === alsoAnn]).toEqual(['bob', true])
    expect(ann).toMatch(/^erased [0-9a-f-]{36}$/)
  })

  test('with more tasks than the limit is inconclusive', async () => {
    const alone = await openCertificationApi()
    await using _ = alone
    alone.startWorker({ tasks_max: 1_000 })
    const project = await alone.newProject()
    await alone.putPolicy(project, { gates: [successGate] })
    await alone.seedTasks(project, { users: 60, tasks: 20 })
    expect(await alone.certify(project)).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['too_much_evidence'] },
      gates: [{ n: 0, reason: 'no_samples' }],
    })
  })

  test('with more eval cases than the limit is inconclusive', async () => {
    const alone = await openCertificationApi()
    await using _ = alone
    alone.startWorker({ tasks_max: 1_000 })
    const project = await alone.newProject()
    await alone.putPolicy(project, {
      gates: [{ metric: 'eval_pass_rate', kind: 'absolute', threshold: 0.5 }],
    })
    const { release, environment } = releaseBody
    const upload = async (run: string) => {
      const cases = Array.from({ length: 600 }, (_, n) => ({
        case_id: `${run}-${n}`,
        passed: true,
      }))
      const content = cases.map((one) => JSON.stringify(one)).join('\n')
      const body = { release, environment, name: run, format: 'jsonl', content }
      return (await alone.call('POST', '/eval-runs', project, { body })).body.eval_run_id
    }
    const eval_run_ids = [await upload('a'), await upload('b')]
    expect(await alone.certify(project, { eval_run_ids })).toMatchObject({
      ...{ result: 'inconclusive', obstacles: ['too_much_evidence'] },
      gates: [{ n: 0, reason: 'no_samples' }],
    })
  })

  test('whose job was lost ends, so that the release can be certified again', async () => {
    const project = await goodProject()
    const id = randomUUID()
    const ended = await certified()
    const { ...row } = await rowOf(ended.id)
    const values = {
      ...row,
      ...{ id, project_id: project, state: 'running' as const, job_id: randomUUID() },
      ...{ policy: JSON.stringify(row.policy), frozen: null, predicate: null, statement: null },
    }
    await api.db
      .insertInto('certifications')
      .values({ ...values, baseline: null })
      .execute()
    expect(await endOf(project, id)).toMatchObject({
      ...{ state: 'failed', error: expect.stringContaining('Certify the release again') },
    })
  })
})
