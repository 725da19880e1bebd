import { hash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { StoredResult } from '../../src/capabilities/verification/contract.ts'
import { checkQuotes, readExportedRun, recomputeExport } from '../../src/cli/trust/recompute.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { eventually } from '../support/eventually.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import { openVerificationApi, type VerificationApi } from '../support/verification-api.ts'
import { runDeps, startRuns, verifierOf } from '../support/verification-runs.ts'

let api: VerificationApi
let jobs: ReturnType<typeof startRuns>
beforeAll(async () => {
  api = await openVerificationApi()
  const verifiers = [
    verifierOf(judge('kb')),
    verifierOf(judge('web'), { name: 'web', options: z.looseObject({}) }),
  ]
  jobs = startRuns(runDeps(api.bench, { verifiers }))
})
afterAll(async () => {
  await jobs?.stop()
  await api?.[Symbol.asyncDispose]()
})

const stated = [0.5, 0.61, 0.9, 0.7, 0.97, 1 / 3] as const

/** Claims that name a lock wait until it is opened. */
const lock = { begun: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() }

/** Gives verdicts that look random and depend on the claim only. */
function judge(salt: string) {
  return async ({ text }: { text: string }): Promise<Omit<StoredResult, 'verifier'>> => {
    if (text.includes('lock')) {
      lock.begun.resolve()
      await lock.opened.promise
    }
    const sum = [...`${salt}${text}`].reduce(
      (total, one) => (total * 31 + one.charCodeAt(0)) % 9973,
      7,
    )
    const verdict = (['supported', 'contradicted', 'supported', 'not_found'] as const)[sum % 4]
    const confidence = stated[sum % 6] ?? 0
    return { verdict: verdict ?? 'skipped', confidence, method: 'words', evidence: [], note: salt }
  }
}

const sentence = (at: number) => `Invoice ${at} is over $${at * 7}.`

/** A project with a run that a worker verified. */
async function newRun(project?: string) {
  const project_id = project ?? (await api.bench.newProject())
  const sentences = Array.from({ length: 40 }, (_, at) => sentence(at))
  const task = `task ${randomUUID()}`
  const trace = await api.bringRun(project_id, task, { answer: sentences.join(' ') })
  return { project: project_id, trace, run_id: await verify(project_id, trace) }
}

async function verify(project: string, trace: string): Promise<string> {
  const body = { force_reverify: true, async_mode: false }
  const { body: reply } = await api.post(project, `/traces/${trace}/verify`, body)
  expect(reply).toMatchObject({ status: 'verified' })
  return reply.run_id
}

const recompute = (project: string, run_id: string) =>
  api.call('POST', `/runs/${run_id}/recompute`, {
    ...{ project_id: project, headers: tokenOf('viewer', project) },
  })

test('a trace that grows during its verification: the result is of the first answer, and stale', async () => {
  const project = await api.bench.newProject()
  const answer = 'The lock costs $40.'
  const trace = await api.bringRun(project, 'growing', { answer })
  const path = `/traces/${trace}`
  expect((await api.post(project, `${path}/verify`)).body).toMatchObject({ status: 'pending' })
  await lock.begun.promise
  const rows = await api.bench.store.traceObservations(project, { trace_id: trace, limit: 9 })
  const last = rows.toSorted((one, other) => Number(one.end_time - other.end_time)).at(-1)
  if (last === undefined) throw new Error('the trace has no observation')
  const start_time = last.end_time + 1_000_000n
  const output = JSON.stringify([{ role: 'assistant', content: 'It costs $41 after all.' }])
  const later = { observation_id: 'later', start_time, end_time: start_time + 1n, output }
  await api.bench.bring([{ ...last, ...later }])
  expect((await api.get(project, path)).body).toMatchObject({ status: 'pending' })
  lock.opened.resolve()
  const { run_id } = await eventually('the result', async () => {
    const { body } = await api.get(project, path)
    return body.status === 'verified' && body
  })
  expect((await api.get(project, path)).body).toMatchObject({
    ...{ run_id, stale: true, claims_total: 1 },
    answer: { chars: answer.length, digest: hash('sha256', answer) },
  })
  const body = { force_reverify: true, async_mode: false }
  expect((await api.post(project, `${path}/verify`, body)).body.status).toBe('verified')
  const again = (await api.get(project, path)).body
  expect(again).toMatchObject({ stale: false, answer: { observation_id: 'later' } })
})

describe('recompute', () => {
  test('the score of a run follows from its stored results, bit for bit', async () => {
    const { project, run_id } = await newRun()
    const { status, body } = await recompute(project, run_id)
    const run = await api.get(project, `/runs/${run_id}`)
    expect([status, body.identical, body.differences]).toEqual([200, true, []])
    expect(body.recomputed).toStrictEqual(body.stored)
    expect(body.stored.trust_score).toBe(run.body.trust_score)
    expect(body).toMatchObject({ run_id, formula_version: run.body.formula_version })
    const exported = await api.get(project, `/runs/${run_id}/export`)
    expect(exported.body).toMatchObject({ format: 'looptrace-verification-run/1', run: run.body })
    expect(exported.body.claims).toHaveLength(40)
    const file = readExportedRun('run.json', JSON.stringify(exported.body))
    const { run_id: _run_id, ...recomputed } = body
    expect(recomputeExport('run.json', file)).toStrictEqual(recomputed)
    const answer = Array.from({ length: 40 }, (_, at) => sentence(at)).join(' ')
    const sources = new Map([[run.body.answer.digest, answer]])
    const { checked, wrong } = checkQuotes(file, sources)
    expect([checked >= 40, wrong]).toEqual([true, []])
  })

  test('a changed score, verdict or result is detected, and another formula refused', async () => {
    const { project, run_id } = await newRun()
    await sql`update verification_runs set trust_score = trust_score + 0.000001
      where id = ${run_id}`.execute(api.db)
    expect((await recompute(project, run_id)).body).toMatchObject({ identical: false })
    await sql`update verification_runs set trust_score = trust_score - 0.000001
      where id = ${run_id}`.execute(api.db)
    expect((await recompute(project, run_id)).body).toMatchObject({ identical: true })
    await sql`update verification_claims set results = jsonb_set(
        jsonb_set(results, '{0,verdict}', '"contradicted"'), '{0,confidence}', '0.99')
      where run_id = ${run_id} and position = 0`.execute(api.db)
    const { body } = await recompute(project, run_id)
    expect(body).toMatchObject({ identical: false, differences: [{}] })
    await sql`update verification_runs set trust = '{"formula": "trust-0", "caps": [7]}'
      where id = ${run_id}`.execute(api.db)
    const other = await recompute(project, run_id)
    expect([other.status, other.body.code]).toEqual([409, 'trust_formula_changed'])
    expect(other.body.detail).toContain('scored with trust-0')
  })

  test('a run without a result, of another project or unknown has nothing to recompute', async () => {
    const { project, run_id } = await newRun()
    const stranger = await api.bench.newProject()
    for (const [owner, id] of [
      [stranger, run_id],
      [project, randomUUID()],
      [project, 'x'],
    ] as const) {
      for (const [method, path] of [
        ['POST', 'recompute'],
        ['GET', 'export'],
      ] as const) {
        const about = { project_id: owner }
        const { status, body } = await api.call(method, `/runs/${id}/${path}`, about)
        expect([status, body.code]).toEqual([404, 'verification_run_not_found'])
      }
    }
    await sql`update verification_runs set state = 'failed' where id = ${run_id}`.execute(api.db)
    const { status, body } = await recompute(project, run_id)
    expect([status, body.code]).toEqual([409, 'verification_without_result'])
    const headers = keyOf(project)
    const byKey = await api.call('POST', `/runs/${run_id}/recompute`, {
      ...{ project_id: project, headers },
    })
    expect(byKey.status).toBe(401)
  })
})

const calibration = async (project: string) => (await api.get(project, '/calibration')).body

const fitNow = (project: string, role: 'admin' | 'editor' = 'admin') =>
  api.call('POST', '/calibration/fit', {
    ...{ project_id: project, headers: tokenOf(role, project) },
  })

/**
 * Stores overrides on results of `kb` that state 0.9 and are right 6 times of 10; two people give
 * ten in turn.
 */
async function addOverrides(
  project: string,
  count: number,
  people: readonly [string, string] = ['user:ada', 'user:bo'],
): Promise<void> {
  const machine = [
    { verifier: 'kb', verdict: 'supported', confidence: 0.9 },
    { verifier: 'web', verdict: 'not_found', confidence: 0.9 },
  ]
  await sql`
    insert into verification_overrides (project_id, trace_id, claim_digest, verdict, reason,
      machine, trace_start, created_at, created_by)
    select ${project}, ${randomUUID()}, n, case when n % 10 < 6 then 'supported' else 'contradicted' end,
      'read the invoice', ${JSON.stringify(machine)}, now(), now(),
      case when n % 20 < 10 then ${people[0]} else ${people[1]} end
    from generate_series(1, ${count}::int) as n`.execute(api.db)
}

type Claim = { text: string; results: StoredResult[] }

/** Only `kb` decided the claim: supported at 0.9. */
function isSure({ results }: Claim): boolean {
  const [kb, web] = results
  return kb?.verdict === 'supported' && kb.confidence === 0.9 && web?.verdict === 'not_found'
}

describe('calibration', () => {
  test('a person’s verdict labels the results of the verifiers that decided the claim', async () => {
    const { project, trace } = await newRun()
    const { body } = await api.get(project, `/traces/${trace}/claims?limit=100`)
    type Result = Pick<StoredResult, 'verifier' | 'verdict' | 'confidence'>
    const claims: { claim_id: string; results: Result[] }[] = body.claims
    for (const { claim_id } of claims.slice(0, 10)) {
      const override = { verdict: 'supported', reason: 'read the invoice' }
      const { status } = await api.post(project, `/claims/${claim_id}/override`, override)
      expect(status).toBe(200)
    }
    const results = claims.slice(0, 10).flatMap((claim) => claim.results)
    const reply = await calibration(project)
    for (const name of ['kb', 'web']) {
      const given = results.filter(({ verifier, verdict }) => {
        return verifier === name && (verdict === 'supported' || verdict === 'contradicted')
      })
      const errors = given.map((one) => one.confidence - (one.verdict === 'supported' ? 1 : 0))
      const brier = errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length
      const one = reply.verifiers.find((each: { name: string }) => each.name === name)
      expect(one).toMatchObject({ labels: given.length, people: 1, largest_share: 1, fit: null })
      expect(one.brier).toBeCloseTo(brier, 12)
    }
    expect(reply.labels_needed).toBe(200)
  })

  test('200 labels fit a calibration; later runs use it, and earlier ones keep theirs', async () => {
    const { project, trace, run_id } = await newRun()
    await addOverrides(project, 199)
    const few = await fitNow(project)
    expect(few.body.verifiers[0]).toMatchObject({
      ...{
        name: 'kb',
        labels: 199,
        labels_counted: 198,
        fit: { version: 1, calibrated: false, steps: [] },
      },
    })
    await addOverrides(project, 1, ['user:cy', 'user:cy'])
    const [kb, web] = (await fitNow(project)).body.verifiers
    expect(kb).toMatchObject({ labels: 200, labels_counted: 200, people: 3 })
    expect(kb.fit).toMatchObject({ version: 2, calibrated: true, labels: 200 })
    expect(kb.fit.ece).toBeLessThan(kb.ece)
    expect(web).toMatchObject({ name: 'web', labels: 0, brier: null, fit: null })

    const later = await verify(project, trace)
    const [before, after] = await Promise.all(
      [run_id, later].map((id) => api.get(project, `/runs/${id}`)),
    )
    expect([before?.body.calibrated.kb, after?.body.calibrated.kb]).toEqual([false, true])
    for (const id of [run_id, later]) {
      expect((await recompute(project, id)).body).toMatchObject({ identical: true })
    }
    const [first, exported] = await Promise.all(
      [run_id, later].map((id) => api.get(project, `/runs/${id}/export`)),
    )
    const sure = first?.body.claims.find(isSure)
    const calibrated = exported?.body.claims.find(({ text }: Claim) => text === sure.text)
    expect([sure.probability, calibrated.probability]).toEqual([0.9, 0.6])
    expect(exported?.body.calibrations).toEqual({
      kb: { calibrated: true, labels: 200, steps: kb.fit.steps },
    })
  })

  test('attack: an editor with any number of labels calibrates nothing alone', async () => {
    const project = await api.bench.newProject()
    await addOverrides(project, 1_000, ['user:mallory', 'user:mallory'])
    const [kb] = (await fitNow(project)).body.verifiers
    expect(kb).toMatchObject({ labels: 1_000, labels_counted: 0, people: 1, largest_share: 1 })
    expect(kb.fit).toMatchObject({ calibrated: false, labels: 0, steps: [] })
  })

  test('a calibration goes with its labels', async () => {
    const project = await api.bench.newProject()
    await addOverrides(project, 200)
    await fitNow(project)
    await sql`delete from verification_overrides where project_id = ${project}`.execute(api.db)
    const { body } = await fitNow(project)
    expect(body.verifiers[0]).toMatchObject({
      ...{ labels: 0, people: 0, largest_share: null, brier: null },
      fit: { version: 2, calibrated: false, labels: 0, steps: [] },
    })
  })

  test('editors fit nothing, and no project sees labels of another', async () => {
    const [project, other] = [await api.bench.newProject(), await api.bench.newProject()]
    await addOverrides(other, 200)
    const { status, body } = await fitNow(project, 'editor')
    expect([status, body.code]).toEqual([403, 'permission_denied'])
    await fitNow(project)
    const shown = [await calibration(project), await calibration(other)]
    expect(shown.map(({ verifiers }) => verifiers[0])).toMatchObject([
      { labels: 0, fit: null },
      { labels: 200, fit: null },
    ])
  })

  test('simultaneous fits count each version once', async () => {
    const project = await api.bench.newProject()
    await addOverrides(project, 10)
    const fits = await Promise.all(Array.from({ length: 8 }, () => fitNow(project)))
    expect(fits.map(({ status }) => status)).toEqual(fits.map(() => 200))
    expect((await calibration(project)).verifiers[0].fit.version).toBe(8)
  })
})
