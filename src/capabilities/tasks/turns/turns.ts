import { z } from 'zod'
import { cursorParameter, integerParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { openRunReader } from '../../detection/index.ts'
import { type TaskRun, text_chars_max } from '../../detection/reconstruction/index.ts'
import { readFindings } from '../findings.ts'
import { instantSchema, type TaskDeps, taskNamed, taskNotFound, taskPath } from '../task.ts'
import { recordedContentSchema } from '../tool-calls.ts'
import { buildTurns, turnLimits } from './build-turns.ts'
import { type FindingPlaces, markFindings } from './mark-findings.ts'
import { addVerifications, digestAnswers, type ReadVerifications } from './turn-claims.ts'
import { callPositionIn, cursorAfterCall, selectCalls } from './turn-page.ts'
import { type Turn, threadSchema, turnSchema } from './turn-schema.ts'
import { listThreads } from './turn-threads.ts'

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
