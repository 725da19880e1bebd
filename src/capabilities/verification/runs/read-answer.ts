import { hash } from 'node:crypto'
import { parsedJson } from '../../../kernel/json-values.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import type { Observation } from '../../../model/observation.ts'
import { readAnswer as readAnswerMessage, startSlackMs } from '../../detection/index.ts'
import type { ObservationStore, ObservationVersion, TaskHint } from '../../storage/index.ts'
import type { AnswerContext, RunsDb } from '../contract.ts'
import { RunRefused, readLimits } from './limits.ts'
import { RowReader } from './row-reader.ts'
import { collectSeen, seenTypes } from './seen-sources.ts'
import type { Run } from './store.ts'

/** The stores of observations and of tasks. */
export type AnswerPorts = {
  db: RunsDb
  store: Pick<ObservationStore, 'taskVersions' | 'observationsAt'>
}

type TraceOfRun = Pick<
  Run,
  'project_id' | 'trace_id' | 'task_id' | 'user_id' | 'environment' | 'trace_start'
>

/** The context of a run, and the start of its oldest source, which it quotes. */
export type ReadAnswer = AnswerContext & {
  /** ISO 8601. */
  oldest_source: string
  /** Length of the whole answer. */
  answer_chars: number
  /** Arguments of the agent's calls. They support no value of the answer. */
  calls: readonly { source: string; text: string }[]
  /** Whether all texts that the agent saw were read. Otherwise, no value counts as invented. */
  is_seen_complete: boolean
}

/**
 * Reads the answer of a trace, and the texts that the agent saw before it: in its task and in
 * earlier tasks of the conversation. The answer is the text of the last model call without tool
 * calls; without one, the output of the root. A growing trace is read as it is now. Throws
 * RunRefused, and rejects with `store_unavailable`.
 */
export async function readAnswer(
  ports: AnswerPorts,
  run: TraceOfRun,
  signal: AbortSignal,
): Promise<ReadAnswer> {
  const { project_id, trace_id } = run
  const { versions, isWhole } = await readVersions(ports, run)
  const reader = new RowReader(ports.store, project_id, signal)
  const own = versions.filter((version) => version.trace_id === trace_id)
  if (own.length === 0) {
    throw new RunRefused('trace_not_found', 'The trace has no stored observations.')
  }
  const { row, text } = await findAnswer(reader, own)
  const before = versions.filter(
    (version) => seenTypes.has(version.type) && version.start_time <= row.start_time,
  )
  const { rows, left } = await reader.readNewest(before, readLimits.content_bytes)
  const inTime = rows.filter((one) => one !== row && wasSeenBy(one, row))
  const { seen, question, calls, gaps } = collectSeen([...inTime, row])
  const answer = text.slice(0, readLimits.answer_chars)
  const isCut = row.content_state === 'truncated' || cutOutcomes.has(row.outcome)
  const { user_id, environment, trace_start, task_id } = run
  return {
    project_id,
    trace_id,
    task_id,
    user_id,
    environment,
    trace_start,
    question,
    seen,
    calls,
    answer: {
      text: answer,
      place: { trace_id, observation_id: row.observation_id },
      digest: hash('sha256', text),
      is_complete: !isCut && answer.length === text.length,
    },
    answer_chars: text.length,
    models: [...new Set([row.model, row.model_requested])].filter((model) => model !== ''),
    gaps: [...gaps, ...gapsOf({ answer, text, left, isWhole })],
    is_seen_complete: gaps.length === 0 && left === 0 && isWhole,
    oldest_source: isoFromNs(inTime[0]?.start_time ?? row.start_time),
  }
}

/**
 * Returns the digest of a trace's current answer. Reads only the answer; throws like `readAnswer`.
 */
export async function readAnswerDigest(
  ports: AnswerPorts,
  run: TraceOfRun,
  signal: AbortSignal,
): Promise<string> {
  const { versions } = await readVersions(ports, run)
  const own = versions.filter(({ trace_id }) => trace_id === run.trace_id)
  const { text } = await findAnswer(new RowReader(ports.store, run.project_id, signal), own)
  return hash('sha256', text)
}

const cutOutcomes = new Set<Observation['outcome']>(['upstream_cut', 'client_gone', 'timeout'])
/** Largest tolerated difference between the clocks of processes. */
const clockSlackNs = 1_000_000_000n

/** Returns whether the answering call can have seen the row: a tool must have ended before it. */
function wasSeenBy(row: Observation, answer: Observation): boolean {
  return row.type === 'generation' || row.end_time <= answer.start_time + clockSlackNs
}

function gapsOf(read: { answer: string; text: string; left: number; isWhole: boolean }): string[] {
  const { answer, text, left, isWhole } = read
  const { answer_chars, content_bytes, versions } = readLimits
  return [
    ...(answer.length < text.length
      ? [`The answer has ${text.length} characters; the first ${answer_chars} were read.`]
      : []),
    ...(left > 0
      ? [`${left} earlier observations were not read: a run reads ${content_bytes / 2 ** 20} MiB.`]
      : []),
    ...(isWhole ? [] : [`The task has more than ${versions} observations; the first were read.`]),
  ]
}

/** Returns the versions of the run's task and of earlier tasks of the conversation, by start. */
async function readVersions({ db, store }: AnswerPorts, run: TraceOfRun) {
  const { project_id, trace_id, task_id } = run
  const tasks = await findTasks(db, run)
  const versions: ObservationVersion[] = []
  for (;;) {
    const after = versions.at(-1)
    const page = await store.taskVersions(project_id, {
      tasks: tasks.length > 0 ? tasks : [{ task_id: task_id ?? trace_id, from: startOf(run) }],
      ...(after && { after }),
      limit: maxVersionsPage,
    })
    versions.push(...page)
    if (page.length < maxVersionsPage) break
    if (versions.length >= readLimits.versions) return { versions: sort(versions), isWhole: false }
  }
  return { versions: sort(versions), isWhole: true }
}

const maxVersionsPage = 10_000

function sort(versions: ObservationVersion[]): ObservationVersion[] {
  return versions.sort((one, other) => compareStarts(one, other))
}

function compareStarts(
  one: { start_time: bigint; observation_id: string },
  other: { start_time: bigint; observation_id: string },
): number {
  if (one.start_time !== other.start_time) return one.start_time < other.start_time ? -1 : 1
  return one.observation_id < other.observation_id ? -1 : 1
}

function startOf({ trace_start }: Pick<Run, 'trace_start'>): bigint {
  return BigInt(Math.max(0, Date.parse(trace_start) - startSlackMs)) * 1_000_000n
}

/** Returns the task and the tasks before it in its conversation, latest first. */
async function findTasks(db: RunsDb, run: TraceOfRun): Promise<TaskHint[]> {
  const { project_id, task_id } = run
  if (task_id === null) return []
  const tasks = db.selectFrom('tasks').where('project_id', '=', project_id)
  const own = await tasks
    .select(['task_id', 'started_at', 'conversation_id'])
    .where('task_id', '=', task_id)
    .executeTakeFirst()
  if (own === undefined) return []
  const { conversation_id, started_at } = own
  const earlier =
    conversation_id === null
      ? []
      : await tasks
          .select(['task_id', 'started_at'])
          .where('conversation_id', '=', conversation_id)
          .where('started_at', '<=', started_at)
          .where('task_id', '<>', task_id)
          .orderBy('started_at', 'desc')
          .limit(readLimits.earlier_tasks)
          .execute()
  return [own, ...earlier].map((task) => ({
    task_id: task.task_id,
    from: startOf({ trace_start: task.started_at }),
  }))
}

type Answer = { row: Observation; text: string }

/** Finds the answer among the observations of the trace, sorted by start. */
async function findAnswer(
  reader: RowReader,
  versions: readonly ObservationVersion[],
): Promise<Answer> {
  const calls = versions.filter(({ type }) => type === 'generation').slice(-readLimits.answers)
  let hidden: Observation | undefined
  for (const version of calls.toReversed()) {
    const row = await reader.read(version)
    if (row === undefined) continue
    const said = readText(row)
    if (said === 'hidden') hidden ??= row
    if (typeof said !== 'object') continue
    // Another report of the same call may lack the content.
    if (hidden !== undefined && row.end_time < hidden.start_time) break
    return { row, text: said.text }
  }
  if (hidden !== undefined) throw notStored()
  return findRootOutput(reader, versions)
}

/** Returns the answer of a model call; `none` when it asks for tools or failed. */
function readText(row: Observation): { text: string } | 'none' | 'hidden' {
  if (row.tool_calls.length > 0) return 'none'
  if (row.output === '') return row.status === 'ok' ? 'hidden' : 'none'
  const isJson = row.output[0] === '[' || row.output[0] === '{'
  if (isJson && row.content_state === 'truncated' && parsedJson(row.output) === undefined) {
    return 'hidden'
  }
  const answer = readAnswerMessage(row)
  if (answer === undefined || answer.calls.length > 0) return 'none'
  const text = answer.text || answer.refusal
  return text.trim() === '' ? 'none' : { text }
}

/** Spans that are searched for the root, which starts first. */
const roots_max = 32

async function findRootOutput(
  reader: RowReader,
  versions: readonly ObservationVersion[],
): Promise<Answer> {
  const ids = new Set(versions.map(({ observation_id }) => observation_id))
  let hasContent = false
  for (const version of versions.slice(0, roots_max)) {
    const row = await reader.read(version)
    if (row === undefined) continue
    if (row.input !== '' || row.output !== '') hasContent = true
    const isRoot = !ids.has(row.parent_observation_id)
    if (!isRoot || row.type === 'tool' || row.type === 'generation' || row.output === '') continue
    const answer = readAnswerMessage(row)
    if (answer !== undefined && answer.text.trim() !== '') return { row, text: answer.text }
  }
  if (!hasContent) throw notStored()
  throw new RunRefused(
    'no_answer',
    'The trace has no answer: no model call ended with a text. Verify it again after the answer.',
  )
}

function notStored(): RunRefused {
  return new RunRefused(
    'content_not_stored',
    'The content of the answer is not stored. Set `content: full` in the capture policy, or `gen_ai` content capture in the instrumentation.',
  )
}
