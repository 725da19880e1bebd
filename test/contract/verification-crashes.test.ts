import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Job } from '../../src/capabilities/jobs/index.ts'
import type { PaidCall, RunsDb } from '../../src/capabilities/verification/contract.ts'
import {
  callsOf,
  claimsOf,
  spentOf,
} from '../../src/capabilities/verification/runs/claims-store.ts'
import { endLostRunsChore } from '../../src/capabilities/verification/runs/lost-runs.ts'
import { openPaidCalls } from '../../src/capabilities/verification/runs/paid-calls.ts'
import {
  type VerificationDeps,
  verificationHandler,
} from '../../src/capabilities/verification/runs/run-verification.ts'
import { findRun, type Run } from '../../src/capabilities/verification/runs/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { PaidCallFailed, type PaidReply } from '../../src/platform/models/index.ts'
import { OutboundFailed } from '../../src/platform/outbound/index.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { budget, quarterOf } from '../support/suite/budget.ts'
import { requestRun, runDeps, verifierOf } from '../support/verification-runs.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const today = () => new Date().toISOString().slice(0, 10)
const reply = (nano_dollars: bigint): PaidReply => ({
  reply: { verdict: 'supported' },
  input_tokens: 100,
  output_tokens: 10,
  nano_dollars,
})

async function answered(): Promise<Observation[]> {
  const project_id = await bench.newProject()
  const rows = agentRun(project_id, { project_id })
    .user('What do 12 tickets cost?')
    .assistant('All 12 tickets are sold. The 12 tickets cost 88 euros. Lund has 12 tickets left.')
    .observations()
  await bench.bring(rows)
  return rows
}

/** Thrown at a statement in the place of a killed process: nothing after it happens. */
class Killed extends Error {}

/** The database of a process that is killed before its statement with this number. */
function killedAt(db: RunsDb, statement: number): { db: RunsDb; statements: () => number } {
  let count = 0
  const plugin = {
    transformQuery: ({ node }: { node: unknown }) => {
      count += 1
      if (count >= statement) throw new Killed(`killed at statement ${statement}`)
      return node as never
    },
    transformResult: async ({ result }: { result: unknown }) => result as never,
  }
  return { db: db.withPlugin(plugin), statements: () => count }
}

/** Takes the lease of the run's job over; undefined when the job has ended. */
async function claim(db: RunsDb, { job_id }: Run): Promise<Job | undefined> {
  const { rows } = await sql<Job>`
    update job_runs set state = 'running', attempt = 1, lease_owner = ${newId()},
      lease_until = now() + interval '1 min'
    where id = ${job_id} and state in ('queued', 'running') returning *`.execute(db)
  return rows[0]
}

async function work(deps: VerificationDeps, job: Job | undefined) {
  if (job === undefined) return undefined
  const context = { progress: async () => undefined, signal: new AbortController().signal }
  return verificationHandler(deps).run(job, context)
}

test('a run that is killed at any of its statements has one result, and books each call once', async () => {
  const sent = new Map<string, number>()
  const judge = verifierOf(() => Promise.reject(new Error('replaced')), {
    open: async ({ paid }) => {
      return async (claim, signal) => {
        const call: PaidCall = {
          ...{ key: claim.text, verifier: 'kb', model: 'judge-1', nano_dollars_max: 1_000n },
          send: async () => {
            sent.set(claim.text, (sent.get(claim.text) ?? 0) + 1)
            return reply(400n)
          },
        }
        const end = await paid(call, signal)
        const verdict = end.outcome === 'answered' ? 'supported' : 'skipped'
        return { verdict, confidence: 0.9, method: 'judge', evidence: [], note: '' }
      }
    },
  })
  const whole = runDeps(bench, { verifiers: [judge] })
  const workUntil = async (statement: number) => {
    sent.clear()
    const run = await requestRun(whole, await answered())
    const { db, statements } = killedAt(whole.db, statement)
    const died = await work({ ...whole, db }, await claim(whole.db, run)).catch((error) => error)
    return { run, died, count: statements() }
  }
  const undisturbed = await workUntil(Number.POSITIVE_INFINITY)
  expect(undisturbed.count).toBeGreaterThanOrEqual(20)
  const statements = Array.from({ length: undisturbed.count }, (_, at) => 1 + at)
  let kills = 0
  for (const statement of quarterOf(statements)) {
    const { run, died, count } = await workUntil(statement)
    // Its calls run at the same time: it may have fewer statements than before.
    if (count < statement) continue
    kills += 1
    expect(died).toBeInstanceOf(Killed)
    await work(whole, await claim(whole.db, run))
    await expectOneResult(whole, run, sent)
  }
  expect(kills).toBeGreaterThanOrEqual(budget({ test: 4, soak: 20 }))
})

async function expectOneResult(
  { db }: VerificationDeps,
  { project_id, id: run_id }: Run,
  sent: ReadonlyMap<string, number>,
) {
  const run = await findRun(db, { project_id, run_id })
  expect(run).toMatchObject({ state: 'verified', claims: 3, cost_nano_dollars: 1_200, tokens: 330 })
  const claims = await claimsOf(db, { project_id, run_id }, { limit: 10 })
  expect(claims.map(({ position, verdict }) => [position, verdict])).toEqual([
    [0, 'supported'],
    [1, 'supported'],
    [2, 'supported'],
  ])
  const calls = await callsOf(db, { project_id, run_id }, { limit: 10 })
  expect(calls.map(({ outcome, nano_dollars }) => [outcome, nano_dollars])).toEqual(
    calls.map(() => ['answered', 400]),
  )
  expect(calls).toHaveLength(3)
  expect(await spentOf(db, { project_id, day: today() })).toBe(1_200n)
  for (const times of sent.values()) expect(times).toBeLessThanOrEqual(2)
}

test('a worker that lost its lease writes no result', async () => {
  const deps = runDeps(bench)
  const run = await requestRun(deps, await answered())
  const stale = await claim(deps.db, run)
  const fresh = await claim(deps.db, run)
  await work(deps, stale)
  expect(await findRun(deps.db, { ...run, run_id: run.id })).toMatchObject({ state: 'pending' })
  await work(deps, fresh)
  const ended = await findRun(deps.db, { ...run, run_id: run.id })
  expect(ended).toMatchObject({ state: 'verified' })
  await work(deps, fresh)
  expect(await findRun(deps.db, { ...run, run_id: run.id })).toEqual(ended)
})

test('a run whose job ended without it fails, and the trace can be verified again', async () => {
  const deps = runDeps(bench)
  const rows = await answered()
  const [lost, waiting] = [await requestRun(deps, rows), await requestRun(deps, await answered())]
  await sql`update job_runs set state = 'failed', ended_at = now() where id = ${lost.job_id}`.execute(
    deps.db,
  )
  await endLostRunsChore(deps).run(new AbortController().signal)
  expect(await findRun(deps.db, { ...lost, run_id: lost.id })).toMatchObject({
    state: 'failed',
    error: { code: 'worker_lost' },
  })
  expect(await findRun(deps.db, { ...waiting, run_id: waiting.id })).toEqual(waiting)
  const again = await requestRun(deps, rows)
  expect(again.id).not.toBe(lost.id)
})

async function openCalls(nano_dollars_per_day_max: bigint) {
  const deps = { ...runDeps(bench), nano_dollars_per_day_max }
  const run = await requestRun(deps, await answered())
  await sql`update job_runs set state = 'failed', ended_at = now() where id = ${run.job_id}`.execute(
    deps.db,
  )
  const spent = () => spentOf(deps.db, { project_id: run.project_id, day: today() })
  const { signal } = new AbortController()
  return { deps, run, spent, signal, paid: openPaidCalls({ ...deps, clock: systemClock }, run) }
}

const callOf = (key: string, send: PaidCall['send'], nano_dollars_max = 100n): PaidCall => ({
  ...{ key, send, nano_dollars_max, verifier: 'kb', model: 'judge-1' },
})

test('simultaneous calls never exceed the budget of the day', async () => {
  const { paid, spent, signal } = await openCalls(1_000n)
  let sent = 0
  const ends = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      paid(
        callOf(`call ${at}`, async () => {
          sent += 1
          return reply(100n)
        }),
        signal,
      ),
    ),
  )
  expect(ends.filter(({ outcome }) => outcome === 'answered')).toHaveLength(10)
  expect(ends.filter(({ outcome }) => outcome === 'over_budget')).toHaveLength(20)
  expect([sent, await spent()]).toEqual([10, 1_000n])
})

test('a call above the budget is refused also on an empty day', async () => {
  const { paid, spent, signal } = await openCalls(99n)
  const end = await paid(
    callOf('dear', async () => reply(1n)),
    signal,
  )
  expect([end.outcome, await spent()]).toEqual(['over_budget', 0n])
})

test('calls of one key are sent once, and the reply is found again', async () => {
  const { deps, run, paid, spent, signal } = await openCalls(1_000n)
  let sent = 0
  const call = callOf('same', async () => {
    sent += 1
    return reply(30n)
  })
  const ends = await Promise.all([paid(call, signal), paid(call, signal)])
  ends.push(await openPaidCalls(deps, run)(call, signal))
  expect(ends).toEqual(ends.map(() => ({ outcome: 'answered', reply: { verdict: 'supported' } })))
  expect([sent, await spent()]).toEqual([1, 30n])
})

test('a failed call gives back what it did not cost', async () => {
  const { paid, spent, signal } = await openCalls(1_000n)
  const failures: [Error, bigint][] = [
    [new PaidCallFailed('The server replied with 429.'), 0n],
    [new PaidCallFailed('The reply is no JSON.', 40n), 40n],
    [new OutboundFailed('connection', 'refused'), 40n],
    [new OutboundFailed('timeout', 'late', { reached: true }), 140n],
    [new Error('sk-secret in a message'), 240n],
  ]
  for (const [at, [error, total]] of failures.entries()) {
    const end = await paid(
      callOf(`failure ${at}`, () => Promise.reject(error)),
      signal,
    )
    expect(end.outcome).toBe('failed')
    expect(JSON.stringify(end)).not.toContain('sk-secret')
    expect(await spent()).toBe(total)
  }
})

test('an aborted call stays booked, and its repetition books nothing more', async () => {
  const { deps, run, paid, spent } = await openCalls(150n)
  const stop = new AbortController()
  const hanging = callOf('slow', (signal) => {
    stop.abort(new Error('the worker stops'))
    return Promise.reject(signal.reason)
  })
  await expect(paid(hanging, stop.signal)).rejects.toThrow('the worker stops')
  expect(await spent()).toBe(100n)
  const { signal } = new AbortController()
  const again = await openPaidCalls(deps, run)(
    callOf('slow', async () => reply(60n)),
    signal,
  )
  expect([again.outcome, await spent()]).toEqual(['answered', 60n])
})
