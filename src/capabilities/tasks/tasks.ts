import { z } from 'zod'
import { conversationIdFrom } from '../../kernel/ids.ts'
import { cutPage, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import {
  cursorAt,
  cursorParameter,
  expected,
  flagParameter,
  instantParameter,
  isoWindow,
  isStorable,
  limitParameter,
  noScore,
  orderParameter,
  positionIn,
  type SortKind,
  scoreParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { stalledAfterMs } from '../../model/task-rules.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findingKinds, severities, severityNumber } from '../detection/index.ts'
import {
  countTaskStates,
  countTasks,
  feedbackVotes,
  findTasks,
  type TaskFilter,
  type TaskSort,
  type TaskStateCounts,
  taskSorts,
  verificationStates,
} from './list-store.ts'
import { taskStates } from './store.ts'
import { type Task, type TaskDeps, taskFrom, taskSchema } from './task.ts'

const wholeText = z
  .string()
  .regex(/^\d{1,15}$/, { error: expected('a whole number') })
  .meta({ id: 'WholeNumberText' })

const dollarsText = z
  .string()
  .regex(/^\d{1,11}(\.\d{1,9})?$/, { error: expected('US dollars as decimal text') })
  .meta({ id: 'UsdText' })

/**
 * GET /api/v1/tasks: a project's tasks. A cursor names the last item by (sort value, task id), so
 * tasks added between two pages cause neither gaps nor repeats. A task whose sort value changes
 * between two pages (a call came in) moves in the list, and may be seen twice or not at all.
 */
export function listTasks(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks',
    id: 'listTasks',
    summary: 'Tasks, filtered and sorted',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    query: querySchema,
    reply: replySchema,
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const now_ms = deps.clock.now_ms()
      const { sort, order, limit, cursor } = query
      const sorted = { list: 'tasks', sort, order, kind: kinds[sort] }
      const after = cursor === undefined ? undefined : positionIn(sorted, cursor, isStorable)
      const filter = filterFrom(query, { ...caller, now_ms })
      const [rows, total] = await Promise.all([
        findTasks(deps.db, caller.project_id, filter, { sort, order, after, limit: limit + 1 }),
        countTasks(deps.db, caller.project_id, filter, totalExactMax + 1),
      ])
      const { items: page, last } = cutPage(rows, limit)
      return {
        tasks: page.map((row) => taskFrom(row, now_ms)),
        ...pageInfo(
          total,
          last ? cursorAt(sorted, { value: last[sort] ?? noScore, id: last.task_id }) : null,
        ),
      }
    },
  })
}

const querySchema = z.strictObject({
  state: z
    .enum(taskStates, { error: expected('running, completed or failed') })
    .optional()
    .describe('Only tasks in this state.'),
  stalled: flagParameter('Only tasks that are stalled, or only those that are not.'),
  name: textParameter('Only tasks of exactly this name.'),
  q: textParameter('Only tasks whose name begins with this text, in any case.'),
  user_id: textParameter('Only tasks of this user.'),
  conversation_id: textParameter("Only tasks of this conversation: UUID or the client's own id."),
  model: textParameter('Only tasks in which this model answered.'),
  environment: textParameter('Only tasks of this environment.'),
  release: textParameter('Only tasks of this release.'),
  cluster_name: textParameter('Only tasks of this Kubernetes cluster: `k8s.cluster.name`.'),
  implicit: flagParameter('`false`: only tasks with an X-Task-ID. `true`: only those without.'),
  has_errors: flagParameter('Only tasks with a failed call, or only those without.'),
  cost_usd_min: dollarsParameter(
    'Only tasks that cost at least this many US dollars, as decimal text.',
  ),
  total_tokens_min: wholeParameter('Only tasks with at least this number of tokens.'),
  duration_ms_min: wholeParameter('Only tasks that lasted at least this long, in milliseconds.'),
  feedback: z
    .enum(feedbackVotes, { error: expected(feedbackVotes.join(' or ')) })
    .optional()
    .describe('Only tasks with such a vote of an end user.'),
  severity_min: z
    .enum(severities, { error: expected(severities.join(', ')) })
    .optional()
    .describe('Only tasks with a finding of at least this severity.'),
  finding_kind: z
    .enum(findingKinds, { error: expected(findingKinds.join(', ')) })
    .optional()
    .describe('Only tasks with a finding of this kind.'),
  finding_type: textParameter('Only tasks with a finding of this type, such as `repeat_call`.'),
  wasted_tokens_min: wholeParameter('Only tasks that wasted at least this number of tokens.'),
  wasted_cost_usd_min: dollarsParameter(
    'Only tasks that wasted at least this many US dollars, as decimal text.',
  ),
  trust_min: scoreParameter('Only verified tasks with at least this trust score, 0–1.'),
  trust_max: scoreParameter('Only verified tasks with at most this trust score, 0–1.'),
  verification_state: z
    .enum(verificationStates, { error: expected(verificationStates.join(', ')) })
    .optional()
    .describe('Only tasks whose newest verification is in this state.'),
  from: instantParameter('Only tasks whose last activity is at or after this instant.'),
  to: instantParameter('Only tasks that started before this instant.'),
  sort: z
    .enum(taskSorts, { error: expected(`one of ${taskSorts.join(', ')}`) })
    .default('last_activity_at')
    .describe('Sort field; ties are ordered by task_id. Tasks without a trust score come last.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

function wholeParameter(description: string) {
  return wholeText.transform(Number).optional().describe(description)
}

function dollarsParameter(description: string) {
  return dollarsText.optional().describe(description)
}

const replySchema = record('TaskList', {
  tasks: z.array(taskSchema).describe('The page, in order.'),
  total: z.int().nonnegative().describe('Tasks that match the filters.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe('`false`: the number is larger than `total`. Left out when `total` is exact.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
})

const kinds: Record<TaskSort, SortKind> = {
  last_activity_at: 'instant',
  started_at: 'instant',
  cost_usd: 'decimal',
  total_tokens: 'count',
  calls: 'count',
  duration_ms: 'count',
  worst_severity: 'count',
  wasted_tokens: 'count',
  wasted_cost_usd: 'decimal',
  trust_score: 'score',
}

function filterFrom(
  query: z.output<typeof querySchema>,
  scope: { project_id: string; now_ms: number },
): TaskFilter {
  const idle_since = new Date(scope.now_ms - stalledAfterMs).toISOString()
  const { conversation_id, stalled, severity_min } = query
  return {
    ...query,
    worst_severity_min: severity_min && severityNumber(severity_min),
    ...isoWindow(query),
    name_prefix: query.q,
    stalled: stalled === undefined ? undefined : { is: stalled, idle_since },
    conversation_id:
      conversation_id && conversationIdFrom(scope.project_id, conversation_id).conversation_id,
  }
}

/**
 * Returns the first tasks of a conversation in the order they started, at most `limit`, and the
 * number of all its tasks by state. Throws `store_unavailable`.
 */
export async function tasksOfConversation(
  { db, clock }: Pick<TaskDeps, 'db' | 'clock'>,
  projectId: string,
  conversationId: string,
  limit: number,
): Promise<{ tasks: Task[]; states: TaskStateCounts }> {
  const now_ms = clock.now_ms()
  const filter = { conversation_id: conversationId }
  const idle_since = new Date(now_ms - stalledAfterMs).toISOString()
  const [rows, states] = await Promise.all([
    findTasks(db, projectId, filter, {
      sort: 'started_at',
      order: 'asc',
      after: undefined,
      limit,
    }),
    countTaskStates(db, projectId, conversationId, idle_since),
  ])
  return { tasks: rows.map((row) => taskFrom(row, now_ms)), states }
}
