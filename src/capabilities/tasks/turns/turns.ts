import { hash } from 'node:crypto'
import { z } from 'zod'
import { decodeCursor, encodeCursor, invalidCursor } from '../../../kernel/pages.ts'
import { cursorParameter, integerParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { openRunReader } from '../../detection/index.ts'
import {
  type ModelCall,
  type TaskRun,
  type Thread,
  text_chars_max,
} from '../../detection/reconstruction/index.ts'
import { readFindings } from '../findings.ts'
import { instantSchema, type TaskDeps, taskNamed, taskNotFound, taskPath } from '../task.ts'
import { recordedContentSchema } from '../tool-calls.ts'
import { buildTurns, turnLimits } from './build-turns.ts'
import { type FindingPlaces, markFindings } from './mark-findings.ts'
import {
  claims_max,
  type Turn,
  type TurnThread,
  type TurnVerification,
  threadSchema,
  turnSchema,
} from './turn-schema.ts'

/** Dependencies of the routes of tasks. */
export type TurnDeps = TaskDeps & {
  /** Reads the verifications of answers; without it, turns show none. */
  readVerifications?: ReadVerifications | undefined
}

/**
 * GET /api/v1/tasks/{task_id}/turns: the model calls of a task, each with what is new in it. Steps,
 * threads and tool uses are those of the detectors, because both read the same reconstruction of the
 * whole task. A call that is recorded late shifts the numbers of later ones; pages stay in order.
 */
export function getTaskTurns(deps: TurnDeps): Route {
  const runs = openRunReader(deps)
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/turns',
    id: 'getTaskTurns',
    summary: 'Turns of a task: what is new in each model call',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema,
    reply: replySchema,
    errors: ['task_not_found', 'invalid_cursor', 'store_unavailable', 'rate_limited', 'overloaded'],
    handle: async ({ params, query, caller: { project_id }, signal }) => {
      const { task_id } = await taskNamed(deps, project_id, params.task_id)
      const list = `turns of ${task_id}`
      const after = query.cursor === undefined ? undefined : callPositionIn(list, query.cursor)
      // Findings of the detection are read before the run, so that they are never newer.
      const { all, detected_at, is_current } = await readFindings(deps, { project_id }, { task_id })
      const shown = all.filter(({ state }) => state !== 'withdrawn')
      const task = { project_id, task_id }
      const page = await runs.read({ task, signal }, (run) =>
        toPage(run, shown, { ...query, after, list }),
      )
      if (page === undefined) throw taskNotFound(params.task_id)
      const { digests, turns, ...rest } = page
      const read = deps.readVerifications
      const verified =
        read === undefined ? turns : await addVerifications(read, { project_id, digests }, turns)
      return { task_id, turns: verified, detected_at, is_current, ...rest }
    },
  })
}

const querySchema = z.strictObject({
  limit: integerParameter({
    minimum: 1,
    maximum: 200,
    default: 50,
    description: 'Maximum turns per page, 1–200. Pages with much text have fewer.',
  }),
  text_chars: integerParameter({
    minimum: 100,
    maximum: text_chars_max,
    default: turnLimits.text_chars,
    description: `Maximum characters of each text, 100–${text_chars_max}.`,
  }),
  cursor: cursorParameter,
})

const replySchema = record('TaskTurnList', {
  task_id: z.string().describe('The task.'),
  content: recordedContentSchema.describe(
    'How much of the content was recorded. Names and times are known without it.',
  ),
  turns: z
    .array(turnSchema)
    .describe('The page, by the starts of the calls; empty for a task without model calls.'),
  threads: z
    .array(threadSchema)
    .describe('Threads of the turns of this page, and the threads above them.'),
  total: z.int().nonnegative().describe('Turns of the task.'),
  left_out: z
    .array(z.string())
    .describe('Sentences that name the parts of a large task left out by limits.'),
  detected_at: instantSchema
    .nullable()
    .describe('Time of the last detection; null before the first one.'),
  is_current: z
    .boolean()
    .describe(
      '`false`: the task has changed since, so `findings` and `iteration` may be at other turns.',
    ),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
})

type PageQuery = {
  limit: number
  text_chars: number
  after: ReturnType<typeof callPositionIn> | undefined
  list: string
}

function toPage(
  run: TaskRun,
  findings: readonly FindingPlaces[],
  { limit, text_chars, after, list }: PageQuery,
) {
  const calls = selectCalls(run, { after, limit })
  const marks = markFindings(run, findings)
  const turns: Turn[] = buildTurns(run, calls, { marks, limits: { ...turnLimits, text_chars } })
  const last = calls[turns.length - 1]
  const isLast = last === undefined || last.index === run.calls.length - 1
  return {
    content: run.content,
    turns,
    digests: digestAnswers(run, turns),
    threads: listThreads(run, new Set(turns.map(({ thread }) => thread))),
    total: run.calls.length,
    left_out: [...run.left_out],
    next_cursor: isLast ? null : cursorAfterCall(list, last),
  }
}

/** The position of a call in its task: calls are ordered by these fields. */
type CallPosition = Pick<ModelCall, 'start_time' | 'observation_id' | 'trace_id'>

/** Returns up to `limit` calls after a position. A call that is recorded late moves no other call. */
function selectCalls(
  { calls }: TaskRun,
  { after, limit }: { after: CallPosition | undefined; limit: number },
): readonly ModelCall[] {
  const from = after === undefined ? 0 : findAfter(calls, after)
  return calls.slice(from, from + limit)
}

/** Returns the index of the first call after a position, by bisection. */
function findAfter(calls: readonly ModelCall[], after: CallPosition): number {
  let [low, high] = [0, calls.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const call = calls[middle]
    if (call !== undefined && comparePositions(call, after) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function comparePositions(a: CallPosition, b: CallPosition): number {
  return (
    compare(a.start_time, b.start_time) ||
    compare(a.observation_id, b.observation_id) ||
    compare(a.trace_id, b.trace_id)
  )
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the cursor after a call. */
function cursorAfterCall(list: string, call: CallPosition): string {
  return encodeCursor(list, [call.start_time.toString(), call.observation_id, call.trace_id])
}

/** Reads a cursor of the list. Throws `invalid_cursor`. */
function callPositionIn(list: string, cursor: string): CallPosition {
  const [start, observation_id, trace_id] = decodeCursor(list, cursor, 3)
  const isStart = typeof start === 'string' && /^\d{1,20}$/.test(start)
  if (!isStart || typeof observation_id !== 'string' || typeof trace_id !== 'string') {
    throw invalidCursor(cursor)
  }
  return { start_time: BigInt(start), observation_id, trace_id }
}

/** Maximum threads above those of a page. */
const parents_max = 64

/** Returns the threads of a page with the threads above them, by number. */
export function listThreads(run: TaskRun, used: Iterable<number>): TurnThread[] {
  const listed = new Map<number, Thread>()
  for (const index of used) {
    let thread = run.threads[index]
    for (let climbed = 0; thread !== undefined && climbed < parents_max; climbed++) {
      if (listed.has(thread.index)) break
      listed.set(thread.index, thread)
      thread = thread.parent === null ? undefined : run.threads[thread.parent]
    }
  }
  return [...listed.values()]
    .toSorted((a, b) => a.index - b.index)
    .map((thread) => toThread(run, thread))
}

function toThread(run: TaskRun, thread: Thread): TurnThread {
  const { index, kind, parent, agent_name, is_held, calls } = thread
  const first = calls[0] ?? null
  const above = parent === null ? [] : (run.threads[parent]?.calls ?? [])
  const parent_turn = first === null ? null : (above.findLast((call) => call < first) ?? null)
  return {
    thread: index,
    kind,
    parent,
    parent_turn,
    agent_name,
    held: is_held === true,
    first_turn: first,
    last_turn: calls.at(-1) ?? null,
    turns: calls.length,
  }
}

/** A verified answer: the newest verified run of its trace. */
type AnswerVerification = Omit<TurnVerification, 'of_this_text'> & {
  observation_id: string
  /** SHA-256 of the answer that was verified, in hexadecimal; null if unknown. */
  answer_digest: string | null
}

/** Reads the verified answers of traces, each with its first claims. */
export type ReadVerifications = (asked: {
  project_id: string
  trace_ids: readonly string[]
  claims_max: number
}) => Promise<readonly AnswerVerification[]>

/** Returns the digest of the text of each answer that was not cut, by its observation. */
function digestAnswers(run: TaskRun, turns: readonly Turn[]): ReadonlyMap<string, string> {
  const digests = new Map<string, string>()
  for (const { observation_id, step } of turns) {
    const found = step === null ? undefined : run.steps[step]
    if (found === undefined || found.text === null || found.chars !== undefined) continue
    digests.set(observation_id, hash('sha256', found.text))
  }
  return digests
}

/** Adds verifications to the turns whose answers they are of. */
async function addVerifications(
  read: ReadVerifications,
  { project_id, digests }: { project_id: string; digests: ReadonlyMap<string, string> },
  turns: readonly Turn[],
): Promise<Turn[]> {
  const answered = turns.filter(({ answer }) => answer?.text !== null && answer !== null)
  const places = answered.flatMap((turn) => [turn, ...turn.further_records])
  const trace_ids = [...new Set(places.map(({ trace_id }) => trace_id))]
  if (trace_ids.length === 0) return [...turns]
  const found = await read({ project_id, trace_ids, claims_max })
  const byPlace = new Map(found.map((one) => [placeKey(one), one]))
  return turns.map((turn) => {
    const own = [turn, ...turn.further_records].map((place) => byPlace.get(placeKey(place)))
    const one = turn.answer === null ? undefined : own.find((some) => some !== undefined)
    return one === undefined ? turn : { ...turn, verification: toVerification(turn, one, digests) }
  })
}

function placeKey({ trace_id, observation_id }: { trace_id: string; observation_id: string }) {
  return `${trace_id} ${observation_id}`
}

function toVerification(
  { observation_id }: Turn,
  { observation_id: _, answer_digest, ...verification }: AnswerVerification,
  digests: ReadonlyMap<string, string>,
): TurnVerification {
  const digest = digests.get(observation_id)
  const isKnown = digest !== undefined && answer_digest !== null
  return { ...verification, of_this_text: isKnown ? digest === answer_digest : null }
}
