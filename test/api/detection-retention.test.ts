import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFindingsRetention } from '../../src/capabilities/detection/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'

let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const day_ns = 86_400_000_000_000n
const start = (1_790_000_000_000_000_000n / day_ns) * day_ns
const secret = 'the blue house in Kiel'

function looping(project_id: string, task_id: string, more: { day?: bigint; talk?: string } = {}) {
  return agentRun(`${project_id} ${task_id}`, {
    ...{ project_id, task_id, tools: ['look'] },
    conversation_id: more.talk ?? '',
    start_time: start + (more.day ?? 0n) * day_ns,
  })
    .user('My order number is 4711. Where is it?')
    .times(3, (run) => run.tool({ name: 'look', args: { id: 7 } }, secret))
    .assistant('I still look.')
    .observations()
}

async function detected(project: string, ...tasks: string[]) {
  for (const task of tasks) {
    const { status, body } = await api.post(project, `/tasks/${task}/detect`)
    expect([status, body['opened']]).toMatchObject([200, [{ type: 'repeat_call' }]])
  }
}

async function readTask(project: string, task: string) {
  const [found, record] = await Promise.all([
    api.get(project, `/tasks/${task}/findings?state=any`),
    api.get(project, `/tasks/${task}`),
  ])
  return { findings: found.body['findings'] as object[], all: JSON.stringify([found, record]) }
}

const sliceOf = (project_id: string, day: bigint, held_trace_ids: string[] = []) => ({
  ...{ project_id, kind: 'observations' as const, held_trace_ids },
  ...{ from: start + day * day_ns, to: start + (day + 1n) * day_ns },
})

test('when content expires its quotes are removed, and findings stay', async () => {
  const project = await api.bench.newProject()
  await api.bench.bring([...looping(project, 'old'), ...looping(project, 'new', { day: 2n })])
  await detected(project, 'old', 'new')
  expect((await readTask(project, 'old')).all).toContain(secret)
  await openFindingsRetention(api.bench).maskContent(sliceOf(project, 0n))
  const old = await readTask(project, 'old')
  expect(old.all).not.toContain(secret)
  expect(old.findings).toMatchObject([{ type: 'repeat_call', evidence: { expired: true } }])
  expect((await readTask(project, 'new')).all).toContain(secret)
  const stranger = await api.bench.newProject()
  await openFindingsRetention(api.bench).maskContent(sliceOf(stranger, 2n))
  expect((await readTask(project, 'new')).all).toContain(secret)
})

test('deleted observations take their findings along, but not held ones', async () => {
  const project = await api.bench.newProject()
  const [old, held] = [looping(project, 'old'), looping(project, 'held')]
  await api.bench.bring([...old, ...held, ...looping(project, 'new', { day: 2n })])
  await detected(project, 'old', 'held', 'new')
  const traces = [...new Set(held.map(({ trace_id }) => trace_id))]
  await openFindingsRetention(api.bench).deleteRows(sliceOf(project, 0n, traces))
  expect((await readTask(project, 'old')).findings).toEqual([])
  expect((await readTask(project, 'held')).findings).toHaveLength(1)
  expect((await readTask(project, 'new')).findings).toHaveLength(1)
})

test("an erasure deletes findings that involve the user, and others' context memory of them", async () => {
  const project = await api.bench.newProject()
  const talk = '0198c0de-0000-7000-8000-0000000000aa'
  const hers = looping(project, 'hers', { talk }).map((row) => ({ ...row, user_id: 'ada' }))
  const later = looping(project, 'later', { day: 1n, talk }).map((row) => ({
    ...row,
    user_id: 'bob',
  }))
  const shared = looping(project, 'shared').map((row, at) => ({
    ...row,
    user_id: at === 1 ? 'ada' : 'bob',
  }))
  const his = looping(project, 'his').map((row) => ({ ...row, user_id: 'bob' }))
  await api.bench.bring([...hers, ...later, ...shared, ...his])
  await detected(project, 'hers', 'later', 'shared', 'his')
  const { db } = api.bench
  const ledgerOf = (task_id: string) =>
    db
      .selectFrom('task_detections')
      .select(['ledger', 'due_at'])
      .where('project_id', '=', project)
      .where('task_id', '=', task_id)
      .executeTakeFirstOrThrow()
  expect(JSON.stringify((await ledgerOf('later')).ledger)).toContain('hers')
  await db
    .deleteFrom('tasks')
    .where('project_id', '=', project)
    .where('user_id', '=', 'ada')
    .execute()
  await openFindingsRetention(api.bench).eraseUser({
    ...{ project_id: project, user_id: 'ada', held_trace_ids: [], trace_ids: [] },
  })
  for (const task of ['later', 'shared']) {
    expect([task, (await readTask(project, task)).findings]).toEqual([task, []])
    expect(await ledgerOf(task)).toMatchObject({ ledger: null, due_at: expect.any(String) })
  }
  expect((await readTask(project, 'his')).findings).toHaveLength(1)
})

test('a running analysis writes nothing of content that is removed meanwhile', async () => {
  const project = await api.bench.newProject()
  await api.bench.bring(looping(project, 'racing'))
  await detected(project, 'racing')
  const { db, store } = api.bench
  const before = await db
    .selectFrom('task_detections')
    .select('epoch')
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow()
  const rows = looping(project, 'racing')
  const late = rows
    .slice(-1)
    .map((row) => ({ ...row, observation_id: 'another', message_id: 'm9' }))
  let taken = 0
  const racing = api.bench.startWorker({
    store: {
      ...store,
      observationsAt: async (...asked) => {
        const read = await store.observationsAt(...asked)
        if (asked[0] === project && taken === 0) {
          taken += 1
          await store.insert([...rows, ...late].map(expired), { token: project })
          await openFindingsRetention({ db }).maskContent(sliceOf(project, 0n))
        }
        return read
      },
    },
  })
  await api.bench.bring(late)
  await api.bench.untilDetected()
  await racing.stop()
  expect(taken).toBe(1)
  const after = await db
    .selectFrom('task_detections')
    .select('epoch')
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow()
  expect(after.epoch).not.toBe(before.epoch)
  expect((await readTask(project, 'racing')).all).not.toContain(secret)
})

function expired<Row extends object>(row: Row): Row {
  return { ...row, input: '', output: '', tool_results: [], content_state: 'expired' }
}
