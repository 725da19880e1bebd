import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { findingsOf, openClaimFindings } from '../../src/capabilities/detection/index.ts'
import {
  callsOf,
  claimsOf,
  type NewOverride,
  overridesOf,
  putOverride,
} from '../../src/capabilities/verification/runs/claims-store.ts'
import type { VerificationDeps } from '../../src/capabilities/verification/runs/run-verification.ts'
import { openRunsRetention } from '../../src/capabilities/verification/runs/runs-retention.ts'
import {
  cancelRun,
  findRun,
  listRuns,
  type Run,
} from '../../src/capabilities/verification/runs/store.ts'
import { toVerifiedAnswer } from '../../src/capabilities/verification/runs/verified-answer.ts'
import { computeTrust } from '../../src/capabilities/verification/trust/fuse.ts'
import type { Observation } from '../../src/model/observation.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import { countBlocked } from '../support/row-locks.ts'
import {
  byProvenance,
  endOf,
  requestRun,
  runDeps,
  startRuns,
  stopRuns,
  verifierOf,
} from '../support/verification-runs.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterEach(stopRuns)
afterAll(() => bench?.[Symbol.asyncDispose]())

const day_ns = 86_400_000_000_000n
const start = (1_790_000_000_000_000_000n / day_ns) * day_ns
const secret = 'The blue house in Kiel costs 1,250.50 euros.'
const talk = '0198c0de-0000-7000-8000-0000000000aa'

type Story = { day?: bigint; user_id?: string; environment?: string; says?: string }

/** A task of the conversation, answered with the secret. */
async function story(project_id: string, task_id: string, more: Story = {}) {
  const rows = agentRun(`${project_id} ${task_id}`, {
    ...{ project_id, task_id, tools: ['look'], conversation_id: talk },
    start_time: start + (more.day ?? 0n) * day_ns,
  })
    .user(more.says ?? `${task_id}: ${secret}`)
    .assistant(secret)
    .observations()
    .map((row) => ({
      ...row,
      user_id: more.user_id ?? 'bob',
      environment: more.environment ?? '',
    }))
  await bench.bring(rows)
  return rows
}

/** A verifier that quotes what was seen, and keeps a reply of a model. */
const quoting = verifierOf(() => Promise.reject(new Error('replaced')), {
  open: async (context, options, signal) => {
    const check = await byProvenance.open(context, options, signal)
    return async (claim, claimSignal) => {
      const send = async () => ({
        ...{ reply: { said: claim.text }, input_tokens: 1, output_tokens: 1, nano_dollars: 5n },
      })
      const call = {
        key: claim.text,
        verifier: 'kb',
        model: 'm',
        nano_dollars_max: 5n,
        send,
      } as const
      await context.paid(call, claimSignal)
      return { ...(await check(claim, claimSignal)), note: claim.text }
    }
  },
})

const deps = () => runDeps(bench, { verifiers: [quoting] })

function overrideClaim(override: NewOverride) {
  return deps()
    .db.transaction()
    .execute((trx) => putOverride(trx, override))
}

async function verified(...stories: Observation[][]): Promise<Run[]> {
  const worker = startRuns(deps())
  const runs = []
  for (const rows of stories) runs.push(await endOf(deps(), await requestRun(deps(), rows)))
  await worker.stop()
  const { db } = deps()
  for (const run of runs) {
    expect(run).toMatchObject({ state: 'verified', counts: { supported: 1 } })
    const [claim] = await claimsOf(db, { ...run, run_id: run.id }, { limit: 1 })
    if (claim === undefined) throw new Error('no claim')
    const { trace_start } = run
    const said = { verdict: 'supported' as const, reason: secret, created_by: 'user:ada' }
    await overrideClaim({ ...said, claim, trace_start, created_at: new Date() })
  }
  return runs
}

/** Everything that is stored of a run. */
async function stored(run: Run) {
  const { db } = deps()
  const key = { project_id: run.project_id, run_id: run.id }
  const [record, claims, calls, overrides] = await Promise.all([
    findRun(db, key),
    claimsOf(db, key, { limit: 10 }),
    callsOf(db, key, { limit: 10 }),
    overridesOf(db, run),
  ])
  return { record, claims, calls, overrides }
}

const sliceOf = (project_id: string, day: bigint, held_trace_ids: string[] = []) => ({
  ...{ project_id, kind: 'observations' as const, held_trace_ids },
  ...{ from: start + day * day_ns, to: start + (day + 1n) * day_ns },
})

async function trustOf({ project_id, task_id }: Run) {
  const task = await deps()
    .db.selectFrom('tasks')
    .select(['trust_score', 'verification_state'])
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id ?? '')
    .executeTakeFirst()
  return [task?.trust_score, task?.verification_state]
}

test('deleting observations deletes the runs of their traces, but not held ones', async () => {
  const [project, stranger] = [await bench.newProject(), await bench.newProject()]
  const [old, held, fresh, theirs] = await verified(
    await story(project, 'old'),
    await story(project, 'held'),
    await story(project, 'new', { day: 2n }),
    await story(stranger, 'theirs'),
  )
  if (!(old && held && fresh && theirs)) throw new Error('no runs')
  await openRunsRetention(deps()).deleteRows(sliceOf(project, 0n, [held.trace_id]))
  const none = { record: undefined, claims: [], calls: [], overrides: [] }
  expect(await stored(old)).toEqual(none)
  expect(await trustOf(old)).toEqual([null, null])
  for (const run of [held, theirs]) {
    expect(JSON.stringify(await stored(run))).toContain('blue house')
    expect(await trustOf(run)).toEqual([run.trust_score, 'verified'])
  }
  // The task of day 2 quotes the task of day 0, which is gone.
  expect(await trustOf(fresh)).toEqual([fresh.trust_score, 'verified'])
  expect(JSON.stringify(await stored(fresh))).not.toContain('blue house')
})

test('an environment of its own keeps its runs', async () => {
  const project = await bench.newProject()
  const [live, test] = await verified(
    await story(project, 'live', { environment: 'live' }),
    await story(project, 'test', { environment: 'test' }),
  )
  if (!(live && test)) throw new Error('no runs')
  const slice = { ...sliceOf(project, 0n), environments: ['test'] }
  await openRunsRetention(deps()).deleteRows(slice)
  expect((await stored(test)).overrides).toEqual([])
  expect((await stored(test)).record).toBeUndefined()
  expect((await stored(live)).overrides).toHaveLength(1)
  expect((await stored(live)).claims).toHaveLength(1)
})

test('when content expires its quotes are removed, and the score can still be computed', async () => {
  const project = await bench.newProject()
  const [old, held] = await verified(await story(project, 'old'), await story(project, 'held'))
  if (!(old && held)) throw new Error('no runs')
  await openRunsRetention(deps()).maskContent(sliceOf(project, 0n, [held.trace_id]))
  const now = await stored(old)
  expect(JSON.stringify(now)).not.toMatch(/blue|1,250|house/)
  expect(now.record).toMatchObject({ state: 'verified', trust_score: old.trust_score })
  expect(now.claims).toMatchObject([{ verdict: 'supported', starts_at: 0, ends_at: secret.length }])
  const trust = computeTrust(
    now.claims.map(({ id, results }) => ({ id, results: results as never })),
    {},
  )
  expect(trust.score).toBe(old.trust_score)
  expect(JSON.stringify(await stored(held))).toContain('blue house')
})

test('an erasure deletes the runs that read data of the user, and no others', async () => {
  const project = await bench.newProject()
  const hers = await story(project, 'hers', { user_id: 'ada' })
  const mine = await story(project, 'mine', { user_id: 'ada' })
  const [ada, held, quoting_run] = await verified(
    hers,
    mine,
    await story(project, 'later', { day: 1n, says: 'What was said of 1,250.50 euros?' }),
  )
  const other = await bench.newProject()
  const [theirs] = await verified(await story(other, 'theirs', { user_id: 'ada' }))
  if (!(ada && held && quoting_run && theirs)) throw new Error('no runs')
  const about = {
    ...{ project_id: project, user_id: 'ada' },
    ...{ trace_ids: [ada.trace_id], held_trace_ids: [held.trace_id] },
  }
  await openRunsRetention(deps()).eraseUser(about)
  expect((await stored(ada)).record).toBeUndefined()
  expect((await stored(ada)).overrides).toEqual([])
  const none = { record: undefined, claims: [], calls: [], overrides: [] }
  expect(await stored(quoting_run)).toEqual(none)
  expect((await stored(held)).claims).toHaveLength(1)
  expect((await stored(held)).overrides).toHaveLength(1)
  expect((await stored(theirs)).claims).toHaveLength(1)
})

test('a person who read a claim before it was erased stores no text of it', async () => {
  const [gone, masked] = [await bench.newProject(), await bench.newProject()]
  const { db } = deps()
  const late = async (project: string, change: 'deleteRows' | 'maskContent') => {
    const [run] = await verified(await story(project, 'old'))
    if (run === undefined) throw new Error('no run')
    const key = { ...run, run_id: run.id }
    const [claim] = await claimsOf(db, key, { limit: 1 })
    if (claim === undefined) throw new Error('no claim')
    await openRunsRetention(deps())[change](sliceOf(project, 0n))
    const { trace_start } = run
    const said = { verdict: 'supported' as const, reason: 'Looked.', created_by: 'user:ada' }
    const override = { ...said, claim, trace_start, created_at: new Date() }
    return { run, override: await overrideClaim(override) }
  }
  const deleted = await late(gone, 'deleteRows')
  expect([deleted.override, (await stored(deleted.run)).overrides]).toEqual([undefined, []])
  const expired = await late(masked, 'maskContent')
  expect(expired.override?.machine).toMatchObject([{ verdict: 'supported', evidence: [] }])
  expect(JSON.stringify(await stored(expired.run))).not.toMatch(/blue|1,250|house/)
})

test('a person’s verdict waits for an erasure in progress', async () => {
  const project = await bench.newProject()
  const [run] = await verified(await story(project, 'old'))
  if (run === undefined) throw new Error('no run')
  const { db } = deps()
  const [claim] = await claimsOf(db, { ...run, run_id: run.id }, { limit: 1 })
  if (claim === undefined) throw new Error('no claim')
  const { trace_start } = run
  const said = { verdict: 'supported' as const, reason: 'Looked.', created_by: 'user:ada' }
  const putting = await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('verification_runs').where('id', '=', run.id).execute()
    const put = overrideClaim({ ...said, claim, trace_start, created_at: new Date() })
    const ended = put.then(() => true)
    await eventually(
      'the verdict waits or is stored',
      async () => (await countBlocked(db)) > 0 || Promise.race([ended, false]),
    )
    await trx.deleteFrom('verification_overrides').where('project_id', '=', project).execute()
    return { put }
  })
  expect([await putting.put, (await stored(run)).overrides]).toEqual([undefined, []])
})

test('a slice of single traces takes the quotes of these traces from later runs too', async () => {
  const project = await bench.newProject()
  const first = await story(project, 'first')
  const [later] = await verified(await story(project, 'later', { day: 1n, says: 'Again?' }))
  if (!later) throw new Error('no run')
  const trace_ids = [first.at(-1)?.trace_id ?? '']
  await openRunsRetention(deps()).deleteRows({ ...sliceOf(project, 0n), trace_ids })
  expect((await stored(later)).record).toMatchObject({ state: 'verified' })
  expect(JSON.stringify(await stored(later))).not.toContain('blue house')
})

test('findings on claims lose their quotes with the run that found them', async () => {
  const project = await bench.newProject()
  const hers = await story(project, 'hers', { user_id: 'ada' })
  const contradicts = verifierOf(async () => ({
    ...{ verdict: 'contradicted', confidence: 0.95, method: 'quote', note: secret },
    evidence: [{ kind: 'trace', source: 'user message 1', quote: secret, at: [0, 9], digest: '' }],
  }))
  const write = openClaimFindings({})
  const onVerified: VerificationDeps['onVerified'] = (trx, done) =>
    write(trx as never, toVerifiedAnswer(done, []))
  const reporting = runDeps(bench, { verifiers: [contradicts], onVerified })
  const worker = startRuns(reporting)
  const later = await story(project, 'bobs', { day: 1n, says: 'What did the house cost?' })
  const run = await endOf(reporting, await requestRun(reporting, later))
  await worker.stop()
  const texts = async () => {
    const findings = await findingsOf(bench.db as never, {
      ...{ project_id: project, task_id: 'bobs' },
    })
    return findings.map(({ type, summary, evidence }) => ({
      type,
      text: summary + JSON.stringify(evidence),
    }))
  }
  expect(await texts()).toMatchObject([
    { type: 'contradicted_claim', text: expect.stringContaining('blue house') },
  ])
  await openRunsRetention(reporting).eraseUser({
    ...{ project_id: project, user_id: 'ada', held_trace_ids: [] },
    trace_ids: [hers.at(-1)?.trace_id ?? ''],
  })
  expect((await stored(run)).record).toBeUndefined()
  expect(JSON.stringify(await texts())).not.toContain('blue house')
})

/** A run that waits after its first call, with the trace of another user's task that it quotes. */
async function waitingRun() {
  const project = await bench.newProject()
  const hers = await story(project, 'hers', { user_id: 'ada' })
  const rows = await story(project, 'bobs', { day: 1n, says: 'And now?' })
  const first = Promise.withResolvers<void>()
  let opened = 0
  const slow = verifierOf(() => Promise.reject(new Error('replaced')), {
    open: async (context, options, signal) => {
      opened += 1
      const check = await quoting.open(context, options, signal)
      return async (claim, claimSignal) => {
        const result = await check(claim, claimSignal)
        if (opened > 1) return { ...result, note: 'again' }
        first.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return result
      }
    },
  })
  const limits = { run_ms: 1_500, check_ms: 60_000, cancel_poll_ms: 50 }
  const going = runDeps(bench, { verifiers: [slow], limits })
  const worker = startRuns(going)
  const run = await requestRun(going, rows)
  await first.promise
  return { project, going, worker, run, trace_id: hers.at(-1)?.trace_id ?? '' }
}

test.each(['maskContent', 'deleteRows'] as const)(
  '%s of an earlier task starts a run in progress again that read it',
  async (change) => {
    const { project, going, worker, run } = await waitingRun()
    await openRunsRetention(going)[change](sliceOf(project, 0n))
    await endOf(going, run)
    await worker.stop()
    expect((await stored(run)).claims[0]?.results).toMatchObject([{ note: 'again' }])
  },
)

test('an erasure deletes the replies that a cancelled run got about the user', async () => {
  const { project, going, worker, run, trace_id } = await waitingRun()
  await cancelRun(going, { project_id: project, run_id: run.id }, 'user:bob')
  await worker.stop()
  expect(JSON.stringify((await stored(run)).calls)).toContain('blue house')
  await openRunsRetention(going).eraseUser({
    ...{ project_id: project, user_id: 'ada', trace_ids: [trace_id], held_trace_ids: [] },
  })
  expect((await stored(run)).calls).toEqual([])
})

test('a run in progress during an erasure is done again, without the replies so far', async () => {
  const project = await bench.newProject()
  const rows = await story(project, 'going')
  const first = Promise.withResolvers<void>()
  let opened = 0
  const slow = verifierOf(() => Promise.reject(new Error('replaced')), {
    open: async (context, options, signal) => {
      opened += 1
      const check = await quoting.open(context, options, signal)
      return async (claim, claimSignal) => {
        const result = await check(claim, claimSignal)
        if (opened > 1) return { ...result, note: 'again' }
        first.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return result
      }
    },
  })
  const limits = { run_ms: 1_500, check_ms: 60_000, cancel_poll_ms: 50 }
  const going = runDeps(bench, { verifiers: [slow], limits })
  const worker = startRuns(going)
  const run = await requestRun(going, rows)
  await first.promise
  const about = { project_id: project, user_id: 'eve', trace_ids: [], held_trace_ids: [] }
  await openRunsRetention(going).eraseUser(about)
  const [call] = await callsOf(going.db, { project_id: project, run_id: run.id }, { limit: 1 })
  expect(call).toMatchObject({ outcome: 'sent', reply: null })
  const ended = await endOf(going, run)
  await worker.stop()
  expect(ended).toMatchObject({ state: 'verified', cost_nano_dollars: 5 })
  expect((await stored(run)).claims[0]?.results).toMatchObject([{ note: 'again' }])
  expect(await listRuns(going.db, run, { limit: 5 })).toHaveLength(1)
})
