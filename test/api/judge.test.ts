import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ContextJudge,
  openFindingsRetention,
  openJudge,
} from '../../src/capabilities/detection/index.ts'
import { openJudgeSpend } from '../../src/capabilities/detection/judge/context-judge.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openChatModel } from '../../src/platform/models/index.ts'
import { openOutbound, parseAllowedNetwork } from '../../src/platform/outbound/index.ts'
import { createLogger, createMetrics, type Logger } from '../../src/platform/telemetry/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'
import { tokenOf } from '../support/task-api.ts'

let api: DetectionApi
/** The judge of the routes; each test has its own. */
let judge: ContextJudge
beforeAll(async () => {
  api = await openDetectionApi({ judge: (asking) => judge(asking) })
})
afterAll(() => api?.[Symbol.asyncDispose]())

const secret = 'sk-of-the-judge'
const judgement = 'The word of the judge.'
const breach = JSON.stringify({ breaches: [{ statement: 0, answer: 0, why: judgement }] })

/** Calls without a finding by rules. */
const kept = (project_id: string, task_id: string) =>
  agentRun(`${project_id} ${task_id}`, { project_id, task_id })
    .system('Never use the word "cheap".')
    .user('What does it cost?')
    .assistant('It costs little, which is a bargain.')

/** A loop, which rules find, and an instruction to keep. */
const looping = (project_id: string, task_id: string) =>
  agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
    .system('Never use the word "cheap".')
    .user('Where is the order?')
    .times(3, (run) => run.tool({ name: 'look', args: { id: 7 } }, 'nothing there'))
    .assistant('I still look.')

type Shown = { type: string; judge: string | null; evidence: object; detector: string }

async function readTask(project: string, task_id: string) {
  const { body } = await api.get(project, `/tasks/${task_id}/findings?state=any`)
  const { findings, not_checked } = body as {
    findings: (Shown & { state: string })[]
    not_checked: { detector: string; reason: string }[]
  }
  return { findings, not_checked, text: JSON.stringify(body) }
}

function promptsOf(provider: { seen(): { requests: { body: Buffer }[] } }): string[] {
  return provider.seen().requests.map(({ body }) => body.toString('utf8'))
}

const quiet = createLogger({ role: 'test', level: 'silent' })

type Made = { url: string; max?: bigint; logger?: Logger }

function judgeAt({ url, max = 1_000_000_000n, logger = quiet }: Made) {
  const metrics = createMetrics()
  const endpoint = {
    ...{ name: 'judge-1', type: 'openai' as const, use: ['lost_context'] as const, url },
    ...{ model: 'gpt-judge', api_key: secret, timeout_ms: 5_000 },
    ...{ cents_per_million_input: 100, cents_per_million_output: 100 },
  }
  const outbound = openOutbound({
    allowed: [parseAllowedNetwork(`127.0.0.1/32:${new URL(url).port}`)],
  })
  const model = openChatModel(endpoint, outbound)
  const settings = { model, nano_dollars_per_day_max: max }
  const openedJudge = openJudge({ db: api.bench.db, metrics, logger }, settings)
  if (openedJudge === undefined) throw new Error('there is no judge')
  return { judge: openedJudge, metrics }
}

/** Sends calls, and waits until rules and judge are done with them. */
async function bring(...batches: (readonly Observation[])[]) {
  for (const batch of batches) {
    await api.bench.bring(batch)
    await settled()
  }
}

const settled = () =>
  eventually(
    'nothing is due, for rules or judge',
    async () => {
      const { db } = api.bench
      const due = await db
        .selectFrom('task_detections')
        .select('task_id')
        .where((of) => of.or([of('due_at', 'is not', null), of('judge_due_at', 'is not', null)]))
        .execute()
      return due.length === 0
    },
    { timeout_ms: 30_000, interval_ms: 20 },
  )

/** A worker that asks at once, with this judge; it ends with its scope. */
function working(worker: ContextJudge | undefined, failures_max = 1, rest_ms = 0): AsyncDisposable {
  const started = api.bench.startWorker({
    ...(worker && { judge: worker }),
    judging: { poll_ms: 20, rest_ms, retry_ms: 20, retry_ms_max: 40, failures_max },
  })
  return { [Symbol.asyncDispose]: () => started.stop() }
}

test('without a model there is no judge, and nothing is sent', async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  const metrics = createMetrics()
  const none = openJudge({ db: api.bench.db, metrics, logger: quiet }, undefined)
  expect(none).toBeUndefined()
  await using _worker = working(none)
  const project = await api.bench.newProject()
  await bring(kept(project, 'kept').observations())
  expect(await readTask(project, 'kept')).toMatchObject({ findings: [], not_checked: [] })
  expect(provider.seen().total).toBe(0)
})

test("the judge's answer becomes a finding with its name, and is asked for once", async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  const { judge: openedJudge, metrics } = judgeAt({ url: provider.base_urls.openai })
  judge = openedJudge
  await using _worker = working(openedJudge)
  const project = await api.bench.newProject()
  await bring(kept(project, 'kept').observations())
  const first = await readTask(project, 'kept')
  expect(first.findings).toMatchObject([
    {
      ...{ type: 'lost_context', kind: 'context', severity: 'low', state: 'open' },
      ...{ judge: 'judge-1', detector: 'judge', start_step: 0 },
      evidence: { judge: 'judge-1', violation: judgement },
    },
  ])
  expect(first.not_checked).toEqual([])
  expect(first.text).not.toContain(secret)
  const { body } = await api.get(project, '/tasks/kept')
  expect(body['verdict']).toMatchObject({ findings: { low: 1 } })

  // Neither a re-sent call nor a forced detection asks again.
  await bring(kept(project, 'kept').observations())
  const forced = await api.post(project, '/tasks/kept/detect', { force: true })
  expect(forced).toMatchObject({ status: 200, body: { opened: [], withdrawn: [] } })
  expect(promptsOf(provider)).toHaveLength(1)
  expect((await readTask(project, 'kept')).findings).toEqual(first.findings)

  provider.script({ steps: [{ reply: { content: '{"breaches":[]}' } }] })
  const grown = kept(project, 'kept').user('And two?').assistant('Two cost seven euros.')
  await bring(grown.observations())
  const [, second = ''] = promptsOf(provider)
  expect(second).toContain('seven euros')
  expect(second).not.toContain('a bargain')
  expect(promptsOf(provider)).toHaveLength(2)
  const { findings } = await readTask(project, 'kept')
  const judged = findings.filter((one: { detector: string }) => one.detector === 'judge')
  expect(judged).toMatchObject([{ judge: 'judge-1', state: 'open' }])
  expect((await metrics.expose()).body).toContain(
    'looptrace_judge_questions_total{result="answered"} 2',
  )
})

test('a running task is judged when it is idle, or on force', async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  judge = judgeAt({ url: provider.base_urls.openai }).judge
  await using _worker = working(judge, 1, 600_000)
  const project = await api.bench.newProject()
  await api.bench.bring(kept(project, 'kept').observations())
  await api.bench.untilDetected()
  const plain = await api.post(project, '/tasks/kept/detect')
  expect(plain).toMatchObject({ status: 200, body: { opened: [] } })
  expect(provider.seen().total).toBe(0)
  const forced = await api.post(project, '/tasks/kept/detect', { force: true })
  expect(forced).toMatchObject({ status: 200, body: { opened: [{ judge: 'judge-1' }] } })
  await settled()
})

test('above the budget it is not asked, and the task reports it', async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  const max = 2_500_000n
  const [one, other] = [0, 1].map(() => judgeAt({ url: provider.base_urls.openai, max }).judge)
  await using _one = working(one)
  await using _other = working(other)
  const project = await api.bench.newProject()
  const tasks = ['a', 'b', 'c', 'd', 'e', 'f']
  await bring(tasks.flatMap((task_id) => kept(project, task_id).observations()))
  expect(provider.seen().total).toBe(1)
  const all = await Promise.all(tasks.map((task_id) => readTask(project, task_id)))
  expect(all.filter(({ findings }) => findings.length === 1)).toHaveLength(1)
  const refused = all.filter(({ findings }) => findings.length === 0)
  for (const { not_checked } of refused) {
    const reason = 'the daily budget is spent'
    expect(not_checked).toEqual([{ detector: 'judge', reason }])
  }
})

test('concurrent reservations never exceed the limit, and a new day starts at zero', async () => {
  const project_id = await api.bench.newProject()
  const spend = openJudgeSpend(api.bench)
  const book = (day: string, nano_dollars: bigint) =>
    spend.book({ project_id, day, nano_dollars, max: 20n })
  const booked = await Promise.all(Array.from({ length: 40 }, () => book('2026-01-02', 3n)))
  expect(booked.filter((isBooked) => isBooked)).toHaveLength(6)
  expect(await book('2026-01-02', 2n)).toBe(true)
  expect(await book('2026-01-02', 1n)).toBe(false)
  expect(await book('2026-01-03', 21n)).toBe(false)
  expect(await book('2026-01-03', 20n)).toBe(true)
  // A clock that is behind gets no second budget.
  expect(await book('2026-01-02', 1n)).toBe(false)
})

test("the judge does not repeat a rule's finding", async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  const { judge: openedJudge } = judgeAt({ url: provider.base_urls.openai })
  await using _worker = working(openedJudge)
  const project = await api.bench.newProject()
  const broken = agentRun(`${project} broken`, { project_id: project, task_id: 'broken' })
    .system('Never use the word "cheap".')
    .user('What does it cost?')
    .assistant('It is cheap: four euros.')
  await bring(broken.observations())
  expect(promptsOf(provider)).toHaveLength(1)
  const { findings } = await readTask(project, 'broken')
  expect(findings).toMatchObject([{ type: 'lost_context', judge: null }])
})

test('if lost context is switched off, the judge is not asked and its findings are withdrawn', async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  judge = judgeAt({ url: provider.base_urls.openai }).judge
  await using _worker = working(judge)
  const project = await api.bench.newProject()
  await bring(kept(project, 'before').observations())
  const body = { detectors: { lost_context: { enabled: false } } }
  const headers = { ...tokenOf('admin', project), 'if-match': '"0"' }
  const put = await api.call('PUT', '/detection/settings', { headers, body })
  expect(put.status).toBe(200)
  await bring(kept(project, 'after').observations())
  for (const task of ['before', 'after']) {
    await api.post(project, `/tasks/${task}/detect`, { force: true })
  }
  expect(promptsOf(provider)).toHaveLength(1)
  expect((await readTask(project, 'before')).findings).toMatchObject([{ state: 'withdrawn' }])
  expect((await readTask(project, 'after')).findings).toEqual([])
})

test.each([
  ['is down', { cut_before_headers: true }],
  ['answers garbage', { garbage: 'body' as const }],
  ['answers an error', { reply: { error: { status: 401, message: 'no' } } }],
  ['talks', { reply: { content: 'Breaches? I think there are some.' } }],
])("a judge that %s does not change the rules' findings", async (_what, step) => {
  await using provider = await testProvider({ script: { steps: [step] } })
  const lines: string[] = []
  const logger = { ...quiet, warn: (...line: unknown[]) => lines.push(JSON.stringify(line)) }
  const { judge: openedJudge, metrics } = judgeAt({
    url: provider.base_urls.openai,
    logger: logger as never,
  })
  await using _worker = working(openedJudge, 2)
  const project = await api.bench.newProject()
  await bring(looping(project, 'loops').observations())
  const { findings, not_checked, text } = await readTask(project, 'loops')
  expect(findings).toMatchObject([{ type: 'repeat_call', judge: null, state: 'open' }])
  expect(not_checked).toMatchObject([{ detector: 'judge' }])
  expect(provider.seen().total).toBe(2)
  expect((await metrics.expose()).body).toContain(
    'looptrace_judge_questions_total{result="failed"} 2',
  )
  expect(lines).toHaveLength(2)
  for (const told_ of [...lines, text]) {
    expect(told_).not.toContain(secret)
    expect(told_).not.toContain('cheap')
  }
})

test("the judge's findings are deleted with the content that they quote", async () => {
  await using provider = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  judge = judgeAt({ url: provider.base_urls.openai }).judge
  const project = await api.bench.newProject()
  const rows = kept(project, 'kept')
    .observations()
    .map((row) => ({ ...row, user_id: 'ada' }))
  await api.bench.bring(rows)
  await api.post(project, '/tasks/kept/detect', { force: true })
  expect((await readTask(project, 'kept')).text).toContain(judgement)
  const about = { project_id: project, held_trace_ids: [] }
  const from = rows[0]?.start_time ?? 0n
  const slice = { ...about, kind: 'observations' as const, from, to: from + 86_400_000_000_000n }
  await openFindingsRetention(api.bench).maskContent(slice)
  const masked = await readTask(project, 'kept')
  expect(masked.text).not.toContain(judgement)
  expect(masked.findings).toMatchObject([{ judge: 'judge-1', evidence: { expired: true } }])
  await openFindingsRetention(api.bench).eraseUser({ ...about, user_id: 'ada', trace_ids: [] })
  expect((await readTask(project, 'kept')).findings).toEqual([])
  const { judged } = await api.bench.db
    .selectFrom('task_detections')
    .select('judged')
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow()
  expect(judged).toBeNull()
})
