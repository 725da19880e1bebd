import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type DetectionDb,
  openClaimFindings,
  type VerifiedAnswer,
} from '../../src/capabilities/detection/index.ts'
import type { StoredFindings } from '../../src/capabilities/detection/ports.ts'
import type { RunsDb } from '../../src/capabilities/verification/contract.ts'
import {
  deleteOverride,
  putOverride,
} from '../../src/capabilities/verification/runs/claims-store.ts'
import { readVerifiedAnswer } from '../../src/capabilities/verification/runs/verified-answer.ts'
import { newId } from '../../src/kernel/ids.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const task_id = 'claims'
const reported: StoredFindings[] = []
const writeFindings = openClaimFindings({
  onFindings: (_trx, stored) => {
    reported.push(stored)
    return Promise.resolve(() => undefined)
  },
})

/** A project with a task of one answered call. */
async function newTask() {
  const project_id = await bench.newProject()
  const run = agentRun(`${project_id} ${task_id}`, { project_id, task_id })
    .user('What does it cost?')
    .tool({ name: 'look' }, '{"eur":42}')
    .assistant('It costs 42 euros.')
  const rows = run.observations()
  await bench.bring(rows)
  const worker = bench.startWorker()
  await bench.untilDetected()
  const last = rows.at(-1)
  if (last === undefined) throw new Error('the run has no rows')
  const { trace_id, observation_id } = last
  return { project_id, trace_id, observation_id, worker }
}

type Task = Awaited<ReturnType<typeof newTask>>

const invented = {
  ...{ digest: 'd1', text: 'Delivery is €6.80.', at: [0, 18] as const, override: null },
  verdict: 'not_found',
  results: [
    {
      ...{ verifier: 'kb', verdict: 'not_found', confidence: 0.9, method: 'provenance' },
      ...{ note: 'not found in what the agent saw', evidence: [] },
    },
  ],
  values: [{ value: '€6.80', kind: 'money', at: [12, 17] as const, verdict: 'unsupported' }],
}
const wrong = {
  ...{ digest: 'd2', text: 'It costs 44 euros.', at: [19, 37] as const, override: null },
  verdict: 'contradicted',
  results: [
    {
      ...{ verifier: 'kb', verdict: 'contradicted', confidence: 0.8, method: 'facts' },
      ...{ note: '42 instead of 44', evidence: [{ source: 'fact price', quote: '42' }] },
    },
  ],
  values: [],
}

function verify(task: Task, claims: VerifiedAnswer['claims'], run_id = 'run 1') {
  const { project_id, trace_id, observation_id } = task
  const at = new Date().toISOString()
  const answer = { project_id, task_id, trace_id, observation_id, run_id, claims }
  return bench.db
    .transaction()
    .execute((trx) => writeFindings(trx, { ...answer, started_at: at, verified_at: at }))
    .then((afterCommit) => afterCommit())
}

function stored({ project_id }: Pick<Task, 'project_id'>) {
  return bench.db
    .selectFrom('findings')
    .select(['type', 'severity', 'state'])
    .where('project_id', '=', project_id)
    .where('detector', '=', 'verification')
    .orderBy('type')
    .execute()
}

function verdictOf({ project_id }: Task) {
  return bench.db
    .selectFrom('tasks')
    .select(['worst_severity', 'verdict'])
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
}

const contradicted = { type: 'contradicted_claim', severity: 'high', state: 'open' }
const unsupported = { type: 'unsupported_claim', severity: 'high', state: 'open' }

test('findings of a run stay through analyses, count in the verdict, and the next run replaces them', async () => {
  const task = await newTask()
  const twin = await newTask()
  reported.length = 0
  await verify(task, [invented, wrong])
  expect(await stored(task)).toEqual([contradicted, unsupported])
  expect(reported.map(({ findings: all }) => all.length)).toEqual([2])
  await bench.untilDetected()
  expect(await stored(task)).toEqual([contradicted, unsupported])
  const { worst_severity, verdict } = await verdictOf(task)
  expect(worst_severity).toBe(4)
  expect(verdict?.findings.high).toBe(2)

  await verify(task, [invented], 'run 2')
  await bench.untilDetected()
  expect(await stored(task)).toEqual([{ ...contradicted, state: 'withdrawn' }, unsupported])
  expect((await verdictOf(task)).verdict?.findings.high).toBe(1)

  await verify(task, [], 'run 3')
  await bench.untilDetected()
  expect((await verdictOf(task)).worst_severity).toBe(0)
  expect(await stored(twin)).toEqual([])
  await Promise.all([task.worker.stop(), twin.worker.stop()])
})

test('a person’s verdict withdraws a finding, and without it the finding is open again', async () => {
  const task = await newTask()
  await verify(task, [invented])
  await verify(task, [{ ...invented, override: 'supported' }])
  expect(await stored(task)).toEqual([{ ...unsupported, state: 'withdrawn' }])
  await verify(task, [invented])
  expect(await stored(task)).toEqual([unsupported])
  await verify(task, [{ ...invented, override: 'contradicted' }])
  expect(await stored(task)).toEqual([contradicted, { ...unsupported, state: 'withdrawn' }])
  await task.worker.stop()
})

test('an override of a stored claim changes the findings of the trace’s result', async () => {
  const task = await newTask()
  const { project_id, trace_id, observation_id } = task
  const db = bench.db as unknown as RunsDb
  const at = new Date().toISOString()
  const run = await db
    .insertInto('verification_runs')
    .values({
      ...{ id: newId(), project_id, trace_id, task_id, trace_start: at, state: 'verified' },
      ...{ trigger: 'request', requested_by: 'user:ada', verifiers: '[]', created_at: at },
      ...{ ended_at: at, answer_observation_id: observation_id },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const { digest, text, results, values, verdict } = invented
  const claim = await db
    .insertInto('verification_claims')
    .values({
      ...{ id: newId(), run_id: run.id, project_id, trace_id, position: 0, kind: 'sentence' },
      ...{ digest, text, verdict, starts_at: 0, ends_at: 18, probability: null, weight: 1 },
      ...{ results: JSON.stringify(results), checked_values: JSON.stringify(values) },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const write = async (trx: RunsDb) => {
    const answer = await readVerifiedAnswer(trx, claim)
    if (answer !== undefined) await writeFindings(trx as unknown as DetectionDb, answer)
  }
  await db.transaction().execute(write)
  expect(await stored(task)).toEqual([unsupported])
  const override = (person: 'supported' | 'contradicted') =>
    db.transaction().execute(async (trx) => {
      const created = { created_at: new Date(), created_by: 'user:ada', trace_start: at }
      await putOverride(trx, { ...created, claim, verdict: person, reason: 'seen' })
      return write(trx)
    })
  await override('supported')
  expect(await stored(task)).toEqual([{ ...unsupported, state: 'withdrawn' }])
  await override('contradicted')
  expect(await stored(task)).toEqual([contradicted, { ...unsupported, state: 'withdrawn' }])
  await db.transaction().execute(async (trx) => {
    await deleteOverride(trx, claim)
    return write(trx)
  })
  expect(await stored(task)).toEqual([{ ...contradicted, state: 'withdrawn' }, unsupported])
  await task.worker.stop()
})

test('a task of another project, or none, gets nothing', async () => {
  const task = await newTask()
  const other = { ...task, project_id: await bench.newProject() }
  await verify(other, [invented, wrong])
  expect(await stored(other)).toEqual([])
  expect(await stored(task)).toEqual([])
  await task.worker.stop()
})
