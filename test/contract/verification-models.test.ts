import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openModels } from '../../src/capabilities/verification/models/open-models.ts'
import { claimsOf } from '../../src/capabilities/verification/runs/claims-store.ts'
import { createKbVerifier } from '../../src/capabilities/verification/verifiers/kb.ts'
import { openMultiModel } from '../../src/capabilities/verification/verifiers/multi-model.ts'
import type { ModelSettings } from '../../src/platform/models/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { materialOf, replyChat, type SeenRequest, serveModel } from '../support/model-server.ts'
import { endOf, requestRun, runDeps, startRuns, stopRuns } from '../support/verification-runs.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterEach(stopRuns)
afterAll(() => bench?.[Symbol.asyncDispose]())

const terms = 'Members of the club can withdraw from their contract at the close of a quarter.'
const claim = 'Quitting the club is possible once the current quarter is over.'

type Answering = (response: Parameters<typeof replyChat>[0], request: SeenRequest) => void
type Asked = {
  use?: Extract<ModelSettings, { type: 'openai' }>['use']
  answer?: string
  budget?: bigint
  names?: readonly string[]
  verifier?: 'kb' | 'multi_model'
  run_ms?: number
  /** Time that a model has for its answer. */
  judge_ms?: number
}

/** Verifies an answer of an agent that read the terms, by a worker with models of this server. */
async function verified(answering: Answering, asked: Asked = {}) {
  const { use = ['judge'], answer = claim, budget = 10n ** 10n, verifier = 'kb' } = asked
  await using server = await serveModel((response, request) => answering(response, request))
  const settings = (asked.names ?? ['judge']).map(
    (name): ModelSettings => ({
      ...{
        name,
        type: 'openai',
        model: name,
        use,
        url: server.url,
        timeout_ms: asked.judge_ms ?? 400,
      },
      ...{ cents_per_million_input: 100, cents_per_million_output: 100 },
    }),
  )
  const models = openModels(settings, server.outbound)
  const { openJudge, extractClaims, estimateJudge } = models
  const kb = createKbVerifier({ db: bench.db as never, embedder: undefined, estimateJudge })
  const deps = runDeps(bench, {
    verifiers: [kb as never, openMultiModel(models)],
    ...{ openJudge, extractClaims, nano_dollars_per_day_max: budget },
    limits: { run_ms: asked.run_ms ?? 20_000, check_ms: 5_000, cancel_poll_ms: 50 },
  })
  const project_id = await bench.newProject()
  const rows = agentRun(project_id, { project_id, tools: ['get_terms'] })
    .user('How long is a member bound to the club?')
    .tool({ name: 'get_terms', args: {} }, terms)
    .assistant(answer)
    .observations()
  await bench.bring(rows)
  const worker = startRuns(deps)
  const verifiers = [{ name: verifier, options: {} }]
  const run = await endOf(deps, await requestRun(deps, rows, { verifiers }))
  await worker.stop()
  const select = (table: 'verification_calls' | 'verification_spend') =>
    deps.db.selectFrom(table).selectAll().where('project_id', '=', project_id).execute()
  const claims = await claimsOf(deps.db, { project_id, run_id: run.id }, { limit: 10 })
  return {
    ...{ run, claims, seen: server.seen },
    results: claims.flatMap(({ results }) => results),
    calls: (await select('verification_calls')) as { outcome: string; nano_dollars: string }[],
    spend: (await select('verification_spend')) as { nano_dollars: string }[],
  }
}

const usage = { prompt_tokens: 100, completion_tokens: 20 }
const says =
  (answer: unknown): Answering =>
  (response) =>
    replyChat(response, answer, usage)
const quoted = { verdict: 'supported', passage: 0, quote: terms }

test('a judge supports what words cannot, by a quote, and its call is booked and recorded', async () => {
  const { run, claims, results, calls, spend, seen } = await verified(says(quoted))
  expect(run.state).toBe('verified')
  expect(claims).toMatchObject([{ text: claim, verdict: 'supported' }])
  expect(results).toMatchObject([
    {
      ...{ verifier: 'kb', verdict: 'supported', method: 'judge' },
      evidence: [{ kind: 'trace', source: 'tool get_terms', quote: terms }],
    },
  ])
  expect(seen).toHaveLength(1)
  expect(calls).toMatchObject([
    { outcome: 'answered', model: 'judge', verifier: 'kb', input_tokens: 100, output_tokens: 20 },
  ])
  expect(calls.map(({ nano_dollars }) => String(nano_dollars))).toEqual(['120000'])
  expect(spend.map(({ nano_dollars }) => String(nano_dollars))).toEqual(['120000'])
})

test.each([
  ['quotes the claim', says({ ...quoted, quote: claim })],
  ['answers garbage', says('yes\0\ud800 {')],
  ['answers a prototype', says(`{"__proto__":${JSON.stringify(quoted)}}`)],
  ['answers errors', (response) => void response.writeHead(401).end()],
  ['stalls', () => undefined],
] satisfies [string, Answering][])('a judge that %s supports nothing', async (_what, answering) => {
  const { run, results } = await verified(answering)
  expect(run.state).toBe('verified')
  expect(results).toMatchObject([{ verifier: 'kb' }])
  expect(results[0]?.['verdict']).not.toBe('supported')
})

test('a judge that stalls beyond the time of its run fails the run, and stays booked', async () => {
  const { run, claims, calls, spend } = await verified(() => undefined, {
    // The run's time has to reach from its start to the question, also on a busy machine.
    ...{ run_ms: 2_000, judge_ms: 60_000 },
  })
  expect(run).toMatchObject({ state: 'failed', error: { code: 'timed_out' }, trust_score: null })
  expect(claims).toEqual([])
  expect(calls).toMatchObject([{ model: 'judge', verifier: 'kb' }])
  // The judge may charge a question that it received.
  expect(Number(calls[0]?.nano_dollars)).toBeGreaterThan(0)
  expect(spend).toMatchObject([{ nano_dollars: calls[0]?.nano_dollars }])
})

test('a spent budget asks no judge', async () => {
  const { run, results, seen, spend } = await verified(says(quoted), { budget: 1_000n })
  expect(run.state).toBe('verified')
  expect(results[0]?.['verdict']).not.toBe('supported')
  expect([seen, spend]).toEqual([[], []])
})

test('a model lists the claims, and cannot leave out a number', async () => {
  const answer = 'The club is old and lovely. The fee is 912 euros.'
  const { claims, calls } = await verified(says({ claims: ['The club is old'] }), {
    ...{ use: ['extract'], answer },
  })
  expect(claims.map(({ text }) => text)).toEqual(['The club is old', 'The fee is 912 euros.'])
  expect(calls).toMatchObject([{ verifier: 'extraction', outcome: 'answered' }])
})

test('models answer the question behind a claim without seeing its value', async () => {
  const answer = 'The old bridge is 330 m long.'
  const asked = { ...{ use: ['multi_model'] as const, answer }, verifier: 'multi_model' as const }
  const both = await verified(says({ values: ['330 m'] }), { ...asked, names: ['one', 'two'] })
  expect(both.claims).toMatchObject([{ verdict: 'supported' }])
  expect(both.calls).toHaveLength(2)
  expect(JSON.stringify(both.seen.map(materialOf))).not.toContain('330')
  const one = await verified(says({ values: ['330 m'] }), { ...asked, names: ['one'] })
  expect(one.claims).toMatchObject([{ verdict: 'skipped' }])
  expect(one.seen).toEqual([])
})
