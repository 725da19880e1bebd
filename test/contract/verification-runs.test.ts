import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { claimsOf } from '../../src/capabilities/verification/runs/claims-store.ts'
import { cancelRun, listRuns } from '../../src/capabilities/verification/runs/store.ts'
import { createValueReader } from '../../src/capabilities/verification/runs/value-reader.ts'
import { createCitationVerifier } from '../../src/capabilities/verification/verifiers/citation.ts'
import { createWebVerifier } from '../../src/capabilities/verification/verifiers/web.ts'
import { createFetchPage } from '../../src/capabilities/verification/web/fetch-page.ts'
import { createPageReader } from '../../src/capabilities/verification/web/read-page.ts'
import { openSearch } from '../../src/capabilities/verification/web/search.ts'
import { newId } from '../../src/kernel/ids.ts'
import { sleep, systemClock } from '../../src/kernel/time.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import {
  byProvenance,
  endOf,
  requestRun,
  runDeps,
  startRuns,
  stopRuns,
  verifierOf,
} from '../support/verification-runs.ts'
import { html, json, startWeb } from '../support/web-pages.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterEach(stopRuns)
afterAll(() => bench?.[Symbol.asyncDispose]())

const invoice = JSON.stringify({ id: 'INV-2041', total: 1250.5, due: '2026-12-01' })

/** A run of an agent, brought into the stores, whose last words are the answer. */
async function answered(answer: string, more: { project_id?: string; task_id?: string } = {}) {
  const project_id = more.project_id ?? (await bench.newProject())
  const rows = agentRun(`${project_id} ${answer}`, { tools: ['get_invoice'], ...more, project_id })
    .user('How much is invoice INV-2041?')
    .tool({ name: 'get_invoice', args: { id: 'INV-2041' } }, invoice)
    .assistant(answer)
    .observations()
  await bench.bring(rows)
  return rows
}

async function verified(rows: Awaited<ReturnType<typeof answered>>, deps = runDeps(bench)) {
  const worker = startRuns(deps)
  const run = await endOf(deps, await requestRun(deps, rows))
  await worker.stop()
  const { project_id } = run
  return { run, claims: await claimsOf(deps.db, { project_id, run_id: run.id }, { limit: 600 }) }
}

test('an invented figure is marked at its offsets, and the healthy twin is clean', async () => {
  const answer = 'Invoice INV-2041 amounts to 1,250.50. The late fee is €87.35 since 2026-12-01.'
  const { run, claims } = await verified(await answered(answer))
  expect(run).toMatchObject({
    state: 'verified',
    error: null,
    answer_chars: answer.length,
    counts: { supported: 1, not_found: 1, contradicted: 0 },
    claims: 2,
    verifier_runs: [{ name: 'kb', state: 'done', reason: null, claims: 2, cost_usd: '0' }],
    context: { gaps: [], sources: 2 },
  })
  const late = claims.find(({ verdict }) => verdict === 'not_found')
  expect(answer.slice(late?.starts_at, late?.ends_at)).toBe(late?.text)
  const value = late?.checked_values.find((one) => one['verdict'] === 'unsupported')
  const [start, end] = (value?.['at'] ?? [0, 0]) as [number, number]
  expect(answer.slice(start, end)).toContain('87.35')
  const seen = claims.find(({ verdict }) => verdict === 'supported')?.checked_values
  expect(seen).toContainEqual(
    expect.objectContaining({
      verdict: 'seen',
      evidence: [expect.objectContaining({ kind: 'trace', source: 'tool get_invoice' })],
    }),
  )
  const healthy = await verified(await answered('Invoice INV-2041 amounts to 1,250.50.'))
  expect(healthy.run).toMatchObject({ state: 'verified', counts: { supported: 1, not_found: 0 } })
  expect(healthy.run.trust_score).toBeGreaterThan(0.8)
})

test('the task has the trust of its newest answer, whatever is verified last', async () => {
  const project_id = await bench.newProject()
  const task_id = 'two answers'
  const rows = await answered('It is 1,250.50.', { project_id, task_id })
  const later = rows.map((row) => ({
    ...row,
    trace_id: row.trace_id.replace(/.{12}$/, 'aaaaaaaaaaaa'),
    start_time: row.start_time + 3_600_000_000_000n,
    end_time: row.end_time + 3_600_000_000_000n,
    output: row.output.replace('1,250.50', '€99.37'),
  }))
  await bench.bring(later)
  const deps = runDeps(bench)
  const trust = () =>
    deps.db
      .selectFrom('tasks')
      .select(['trust_score', 'trust_coverage', 'verification_state', 'verified_at'])
      .where('project_id', '=', project_id)
      .where('task_id', '=', task_id)
      .executeTakeFirst()
  const newest = await requestRun(deps, later)
  expect(await trust()).toMatchObject({ verification_state: 'pending', trust_score: null })
  const worker = startRuns(deps)
  await endOf(deps, newest)
  const before = await trust()
  expect(before).toMatchObject({ verification_state: 'verified', trust_coverage: 0 })
  const old = await endOf(deps, await requestRun(deps, rows))
  await worker.stop()
  expect(old.trust_score).toBeGreaterThan(0.8)
  expect(await trust()).toEqual(before)
})

test('a run ends with the reason when there is nothing to verify', async () => {
  const rows = await answered('It is 1,250.50.')
  const hidden = rows.map((row) => ({
    ...row,
    ...{ trace_id: newId(), task_id: 'hidden', input: '', output: '' },
    content_state: 'dropped' as const,
  }))
  const [first] = agentRun('open', { tools: ['look'], project_id: rows[0]?.project_id ?? '' })
    .user('Look')
    .tool({ name: 'look', args: {} }, 'x')
    .observations()
  if (first === undefined) throw new Error('no row')
  await bench.bring([...hidden.slice(-1), first])
  expect((await verified(hidden.slice(-1))).run).toMatchObject({
    state: 'failed',
    error: { code: 'content_not_stored', message: expect.stringContaining('capture policy') },
  })
  expect((await verified([first])).run.error).toMatchObject({ code: 'no_answer' })
  const gone = rows.map((row) => ({ ...row, trace_id: newId() }))
  expect((await verified(gone)).run.error).toMatchObject({ code: 'trace_not_found' })
})

test('a verifier that fails, hangs or lacks its model does not lose the others', async () => {
  const rows = await answered('It is 1,250.50. The due date is 2026-12-01.')
  const hang = () => new Promise<never>(() => undefined)
  const verifiers = [
    byProvenance,
    verifierOf(async () => Promise.reject(new Error('secret of the server')), { name: 'citation' }),
    verifierOf(hang, { name: 'web', cost: 'search' }),
    verifierOf(hang, { name: 'multi_model', unavailable: () => 'No model is configured.' }),
  ]
  const limits = { run_ms: 20_000, check_ms: 60, cancel_poll_ms: 50 }
  const deps = runDeps(bench, { verifiers, limits })
  const worker = startRuns(deps)
  const names = ['kb', 'citation', 'web', 'multi_model']
  const asked = { verifiers: names.map((name) => ({ name, options: {} })) }
  const run = await endOf(deps, await requestRun(deps, rows, asked))
  await worker.stop()
  expect(run).toMatchObject({
    state: 'verified',
    counts: { supported: 2 },
    verifier_runs: [
      { name: 'kb', state: 'done', claims: 2 },
      { name: 'citation', state: 'failed', reason: 'The verifier failed.', claims: 0 },
      { name: 'web', state: 'done', claims: 0 },
      { name: 'multi_model', state: 'skipped', reason: 'No model is configured.' },
    ],
  })
  expect(JSON.stringify(run)).not.toContain('secret')
})

test('a run over its time limit keeps the results so far, and fails without any', async () => {
  const rows = await answered('It is 1,250.50.')
  const hang = verifierOf(() => new Promise(() => undefined), { name: 'web' })
  const limits = { run_ms: 1_500, check_ms: 60_000, cancel_poll_ms: 50 }
  const deps = runDeps(bench, { verifiers: [byProvenance, hang], limits })
  const worker = startRuns(deps)
  const both = {
    verifiers: [
      { name: 'kb', options: {} },
      { name: 'web', options: {} },
    ],
  }
  const partial = await endOf(deps, await requestRun(deps, rows, both))
  expect(partial).toMatchObject({
    state: 'verified',
    verifier_runs: [
      { state: 'done' },
      { state: 'failed', reason: 'The run reached its time limit.' },
    ],
  })
  const only = { verifiers: [{ name: 'web', options: {} }] }
  const late = await endOf(deps, await requestRun(deps, rows, only))
  await worker.stop()
  expect(late).toMatchObject({ state: 'failed', error: { code: 'timed_out' }, trust_score: null })
})

test('a cancelled run stops its verifiers and writes nothing', async () => {
  const rows = await answered('It is 1,250.50.')
  const began = Promise.withResolvers<AbortSignal>()
  const hang = verifierOf((_, signal) => {
    began.resolve(signal)
    return new Promise(() => undefined)
  })
  const deps = runDeps(bench, { verifiers: [hang] })
  const worker = startRuns(deps)
  const run = await requestRun(deps, rows)
  const signal = await began.promise
  const key = { project_id: run.project_id, run_id: run.id }
  await cancelRun({ db: deps.db, clock: systemClock }, key, 'user:ada')
  await eventually('the verifier is aborted', () => signal.aborted)
  await worker.stop()
  const [ended] = await listRuns(deps.db, run, { limit: 1 })
  expect(ended).toMatchObject({ state: 'cancelled', trust_score: null, verifier_runs: null })
  expect(await claimsOf(deps.db, key, { limit: 10 })).toEqual([])
})

test('a run that is deleted meanwhile leaves nothing', async () => {
  const rows = await answered('It is 1,250.50.')
  const began = Promise.withResolvers<void>()
  const deleted = Promise.withResolvers<void>()
  const waiting = verifierOf(async () => {
    began.resolve()
    await deleted.promise
    return { verdict: 'supported', confidence: 1, method: 'judge', evidence: [], note: '' }
  })
  const limits = { run_ms: 20_000, check_ms: 20_000, cancel_poll_ms: 60_000 }
  const deps = runDeps(bench, { verifiers: [waiting], limits })
  const worker = startRuns(deps)
  const run = await requestRun(deps, rows)
  await began.promise
  await deps.db.deleteFrom('verification_runs').where('id', '=', run.id).execute()
  deleted.resolve()
  const job = await eventually('the job ended', async () => {
    const found = await deps.db
      .selectFrom('job_runs')
      .select(['state', 'result'])
      .where('id', '=', run.job_id ?? '')
      .executeTakeFirst()
    return found !== undefined && found.state !== 'running' && found
  })
  await worker.stop()
  expect(job).toMatchObject({ state: 'succeeded', result: { state: 'ended' } })
  expect(await listRuns(deps.db, run, { limit: 5 })).toEqual([])
})

test('two workers execute each of many runs once', async () => {
  const project_id = await bench.newProject()
  let checks = 0
  const counting = verifierOf(async (claim, signal) => {
    checks += 1
    await sleep(5, signal)
    return (await byProvenance.open(undefined as never, {}, signal))(claim, signal)
  })
  const deps = runDeps(bench, { verifiers: [counting] })
  const traces = []
  for (let at = 0; at < 10; at += 1) {
    traces.push(
      await answered(`It is 1,250.50 in case ${at + 100}.`, { project_id, task_id: `t${at}` }),
    )
  }
  const runs = await Promise.all(traces.map((rows) => requestRun(deps, rows)))
  const workers = [startRuns(deps), startRuns(deps)]
  const ended = await Promise.all(runs.map((run) => endOf(deps, run)))
  await Promise.all(workers.map((worker) => worker.stop()))
  expect(ended.every(({ state, claims }) => state === 'verified' && claims === 1)).toBe(true)
  expect(checks).toBe(10)
})

test('an answer of 1 MB with U+0000 and half characters is verified in bounded time', async () => {
  const part = 'Invoice INV-2041 has \u0000 1,250.50 in total \ud83d. '
  let asked = 0
  const model = verifierOf(
    async () => {
      asked += 1
      return {
        verdict: 'unverifiable',
        confidence: 0,
        method: 'judge',
        evidence: [],
        note: '\ud83d',
      }
    },
    { name: 'multi_model', cost: 'model' },
  )
  const deps = runDeps(bench, { verifiers: [byProvenance, model] })
  const worker = startRuns(deps)
  const names = { verifiers: ['kb', 'multi_model'].map((name) => ({ name, options: {} })) }
  const rows = await answered(part.repeat(22_000))
  const run = await endOf(deps, await requestRun(deps, rows, names))
  await worker.stop()
  const key = { project_id: run.project_id, run_id: run.id }
  const claims = await claimsOf(deps.db, key, { limit: 600 })
  expect(run).toMatchObject({ state: 'verified', claims: 500 })
  expect(run.context?.['gaps']).toEqual([
    expect.stringMatching(/^The answer has \d+ characters; the first 200000 were read\.$/),
    expect.stringMatching(/^\d+ claims after the first 500 were not checked\.$/),
    'The first 2000 values were checked.',
  ])
  expect(claims).toHaveLength(500)
  expect(asked).toBe(60)
  expect(run.verifier_runs?.[1]).toMatchObject({
    ...{ state: 'done', claims: 60, reason: 'Checks the first 60 claims of an answer.' },
  })
  const took_ms = Date.parse(run.ended_at ?? '') - Date.parse(run.started_at ?? '')
  expect(took_ms).toBeLessThan(15_000)
})

test('citation and web check an answer by its sources and by two sites, and searches are booked', async () => {
  const web = await startWeb()
  const reader = createPageReader()
  const bridge = 'In all, the old harbour bridge of Miren is 330 metres long.'
  const results = ['a.example.com', 'beta.org'].map((host) => ({ url: web.urlOf(host) }))
  web.pages.set('searx.example.com', json({ results }))
  web.pages.set('a.example.com', html(`<p>${bridge}</p><p>Engineers measured it in March.</p>`))
  web.pages.set('beta.org', html(`<p>${bridge}</p><p>Our list has nine other bridges.</p>`))
  const { outbound } = web
  const url = web.urlOf('searx.example.com')
  const deps = {
    search: openSearch({ outbound, url, nano_dollars_per_query: 5_000_000n }),
    fetchPage: createFetchPage({ outbound, reader }),
    estimateJudge: undefined,
  }
  const verifiers = [createWebVerifier(deps), createCitationVerifier(deps.fetchPage)]
  const answer = `${bridge} The clerk wrote "invoice is paid in full today" [4].`
  const names = ['web', 'citation'].map((name) => ({ name, options: {} }))
  const workers = runDeps(bench, { verifiers })
  const worker = startRuns(workers)
  const rows = await answered(answer)
  const run = await endOf(workers, await requestRun(workers, rows, { verifiers: names }))
  await worker.stop()
  const { project_id } = run
  const claims = await claimsOf(workers.db, { project_id, run_id: run.id }, { limit: 10 })
  const resultsOf = (at: number) =>
    claims[at]?.results.map(({ verifier, verdict }) => [verifier, verdict])
  expect(resultsOf(0)).toEqual([
    ['web', 'supported'],
    ['citation', 'skipped'],
  ])
  expect(resultsOf(1)?.[1]).toEqual(['citation', 'not_found'])
  const searches = web.received.filter(({ path }) => path.startsWith('/search'))
  expect(run.verifier_runs).toMatchObject([
    { name: 'web', state: 'done', cost_usd: String(searches.length * 0.005) },
    { name: 'citation', state: 'done', cost_usd: '0' },
  ])
  expect(searches.map(({ path }) => path).join(' ')).not.toContain('INV-2041')
  await reader.close()
  await web.close()
})

test('tables and answers full of numbers do not block the process, and end', async () => {
  const project_id = await bench.newProject()
  const table = Array.from({ length: 60_000 }, (_, at) => `${at * 7919}\n`).join('')
  const rows = agentRun(`${project_id} table`, { tools: ['get_table'], project_id })
    .user('What is in the table?')
    .tool({ name: 'get_table', args: {} }, table)
    .assistant('It says 7919. '.repeat(3_000) + '-1'.repeat(40_000))
    .observations()
  await bench.bring(rows)
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const { run } = await verified(rows)
  delay.disable()
  expect(run).toMatchObject({
    ...{ state: 'verified', values_checked: 2_000 },
    context: { gaps: expect.arrayContaining(['The first 2000 values were checked.']) },
  })
  expect(run.context?.['values_not_checked']).toBeGreaterThan(1_000)
  expect(delay.max / 1e6).toBeLessThan(1_000)
})

test('a run ends when its answer takes too long to read', async () => {
  const reader = createValueReader({ answer_ms_max: 1 })
  const deps = runDeps(bench, { reader })
  const { run } = await verified(await answered('Invoice INV-2041 amounts to €87.35.'), deps)
  await reader.close()
  expect(run).toMatchObject({ state: 'failed', error: { code: 'timed_out' } })
  expect(run.error?.message).toMatch(/too much time or memory/)
})
