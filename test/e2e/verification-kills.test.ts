import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  callsOf,
  claimsOf,
  spentOf,
} from '../../src/capabilities/verification/runs/claims-store.ts'
import { findRun, type Run } from '../../src/capabilities/verification/runs/store.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import { type KillableProcess, killableProcesses } from '../support/killable-processes.ts'
import { killsOfRun, msFor } from '../support/kills-of-run.ts'
import { type ModelServer, replyChat, serveModel } from '../support/model-server.ts'
import { requestRun, runDeps } from '../support/verification-runs.ts'

/**
 * kill -9 of a worker that waits for a slow judge. The long run is `KILLS=20 npx vitest run
 * test/e2e/verification-kills.test.ts`.
 */
const kills = killsOfRun({ test: 1, soak: 4 })
const workers = killableProcesses(new URL('../support/verification-process.ts', import.meta.url))

let bench: DetectionBench
let judge: ModelServer
let answered = 0
/** Requests that the judge leaves unanswered: none, or all. */
let isStalled = false

beforeAll(async () => {
  bench = await openDetectionBench()
  judge = await serveModel((response, _request, attempt) => {
    if (isStalled) return
    // No claim is always slow, so that each run ends at some time.
    setTimeout(
      () => {
        answered += 1
        const verdict = { verdict: 'supported', passage: 0, quote: terms }
        replyChat(response, verdict, { prompt_tokens: 100, completion_tokens: 20 })
      },
      (attempt * 97) % 300,
    )
  })
})
afterAll(async () => {
  await workers.killAll()
  await judge?.[Symbol.asyncDispose]()
  await bench?.[Symbol.asyncDispose]()
})

const terms = 'Members of the club can withdraw from their contract at the close of a quarter.'
/** Paraphrases, which words do not decide. */
const claims = [
  'Quitting the club is possible once the current quarter is over.',
  'People may quit the club once a quarter is over.',
  'Quitting this contract of the club is possible once the quarter is over.',
]
/** 100 tokens in and 20 out, at a dollar per million. */
const call_nano_dollars = 120_000

async function start(attempts_max: number): Promise<KillableProcess> {
  const given = { postgres: bench.postgres_url, clickhouse: bench.clickhouse, judge: judge.url }
  const worker = workers.start(JSON.stringify({ ...given, attempts_max }))
  await once(worker.stdout, 'data')
  return worker
}

const deps = () => runDeps(bench)

async function request(project_id: string, name: string): Promise<Run> {
  const rows = agentRun(`${project_id} ${name}`, {
    project_id,
    tools: ['get_terms'],
    task_id: name,
  })
    .user('How long is a member bound to the club?')
    .tool({ name: 'get_terms', args: {} }, terms)
    .assistant(claims.join(' '))
    .observations()
  await bench.bring(rows)
  return requestRun(deps(), rows)
}

function stateOf({ id, project_id }: Run): Promise<Run | undefined> {
  return findRun(deps().db, { project_id, run_id: id })
}

async function untilEnded(runs: readonly Run[], timeout_ms: number): Promise<void> {
  const isEnded = async (run: Run) => (await stateOf(run))?.state !== 'pending'
  await eventually(
    'no run is pending',
    async () => (await Promise.all(runs.map(isEnded))).every(Boolean),
    { timeout_ms, interval_ms: 200 },
  )
}

test(
  'killed workers: one result per trace, each claim once, and each call booked once',
  async () => {
    const project_id = await bench.newProject()
    const names = Array.from({ length: 2 * kills + 4 }, (_, at) => `task ${at}`)
    const runs: Run[] = []
    for (const name of names) runs.push(await request(project_id, name))
    let inMidRun = 0
    for (let at = 0; at < kills; at += 1) {
      const worker = await start(kills + 5)
      const before = answered
      await eventually('the judge is at work', () => answered >= before + 3, {
        timeout_ms: 30_000,
        interval_ms: 5,
      })
      await workers.kill(worker)
      const { db } = deps()
      const sent = await db
        .selectFrom('verification_calls')
        .select('id')
        .where('project_id', '=', project_id)
        .where('outcome', '=', 'sent')
        .execute()
      inMidRun += Number(sent.length > 0)
    }
    expect(inMidRun).toBeGreaterThan(kills / 2)
    const last = await start(kills + 5)
    await untilEnded(runs, msFor(kills))
    await workers.kill(last)
    for (const run of runs) await expectOneResult(run)
    const day = new Date().toISOString().slice(0, 10)
    const spent = await spentOf(deps().db, { project_id, day })
    expect(spent).toBe(BigInt(runs.length * claims.length * call_nano_dollars))
    const repeated = judge.seen.length - runs.length * claims.length
    process.stdout.write(
      `verification: ${kills} kills, ${inMidRun} in mid-run, ${runs.length} results, ` +
        `${repeated} calls repeated, none booked twice\n`,
    )
  },
  msFor(kills),
)

async function expectOneResult({ id: run_id, project_id, trace_id }: Run): Promise<void> {
  const { db } = deps()
  const ofTrace = await db
    .selectFrom('verification_runs')
    .select(['id', 'state', 'claims', 'cost_nano_dollars'])
    .where('trace_id', '=', trace_id)
    .execute()
  const cost_nano_dollars = claims.length * call_nano_dollars
  expect(ofTrace).toEqual([
    { id: run_id, state: 'verified', claims: claims.length, cost_nano_dollars },
  ])
  const stored = await claimsOf(db, { project_id, run_id }, { limit: 10 })
  expect(stored.map(({ text, verdict }) => [text, verdict])).toEqual(
    claims.map((text) => [text, 'supported']),
  )
  const calls = await callsOf(db, { project_id, run_id }, { limit: 10 })
  expect(calls.map(({ outcome, nano_dollars }) => [outcome, nano_dollars])).toEqual(
    claims.map(() => ['answered', call_nano_dollars]),
  )
}

test('a run whose attempts all killed the worker fails, and the trace can be verified again', async () => {
  const project_id = await bench.newProject()
  const run = await request(project_id, 'poison')
  isStalled = true
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const before = judge.seen.length
    const worker = await start(2)
    await eventually('the judge was asked', () => judge.seen.length > before, {
      timeout_ms: 20_000,
    })
    await workers.kill(worker)
  }
  isStalled = false
  const gaveUp = await start(2)
  await eventually('the job failed', async () => {
    const { db } = deps()
    const job = await db
      .selectFrom('job_runs')
      .select('state')
      .where('id', '=', run.job_id)
      .executeTakeFirst()
    return job?.state === 'failed'
  })
  await workers.kill(gaveUp)
  const last = await start(2)
  await untilEnded([run], 20_000)
  expect(await stateOf(run)).toMatchObject({ state: 'failed', error: { code: 'worker_lost' } })
  const again = await request(project_id, 'poison')
  await untilEnded([again], 20_000)
  await workers.kill(last)
  expect(again.id).not.toBe(run.id)
  expect(await stateOf(again)).toMatchObject({ state: 'verified', claims: claims.length })
}, 120_000)
