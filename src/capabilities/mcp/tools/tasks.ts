import { z } from 'zod'
import { findingKinds } from '../../../model/finding-kind.ts'
import { askRoute, withQuery } from '../ask.ts'
import { defineTool } from '../tool.ts'
import { fields, filterText, step } from './fields.ts'

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'List tasks',
  description:
    'Lists tasks of agents, newest activity first, with state, verdict, cost and tokens. Start here to find a task that failed, looped or cost too much. Needs key scope tasks:read.',
  input: z.strictObject({
    state: z.enum(['running', 'completed', 'failed']).optional().describe('State of the task.'),
    q: filterText('Start of the task name, in any case.'),
    user_id: filterText('Id of the end user.'),
    conversation_id: filterText('Conversation: its UUID, or the id of the client.'),
    model: filterText('Model that answered.'),
    environment: filterText('Environment.'),
    release: filterText('Release of the agent.'),
    cluster_name: filterText('Kubernetes cluster: k8s.cluster.name.'),
    has_errors: z.boolean().optional().describe('Whether a call of the task failed.'),
    severity_min: fields.severity_min,
    finding_kind: z.enum(findingKinds).optional().describe('Kind of finding.'),
    finding_type: filterText('Type of finding, such as repeat_call; see list_detectors.'),
    from: fields.from,
    to: fields.to,
    sort: z
      .enum(['last_activity_at', 'started_at', 'cost_usd', 'total_tokens', 'calls', 'duration_ms'])
      .default('last_activity_at')
      .describe('Order, largest or latest first.'),
    limit: fields.limit,
    cursor: fields.cursor,
  }),
  more: 'Ask with a smaller limit, or read one task with get_task.',
  run: (input, ask) => askRoute(ask, { method: 'GET', path: withQuery('/api/v1/tasks', input) }),
})

export const getTask = defineTool({
  name: 'get_task',
  title: 'Read a task',
  description:
    'Reads one task: state, times, calls, tokens, cost, and the verdict with its root cause. Needs key scope tasks:read.',
  input: z.strictObject({ task_id: fields.task_id }),
  more: 'Read its steps with list_steps, or its findings with why_did_it_fail.',
  run: ({ task_id }, ask) => askRoute(ask, { method: 'GET', path: taskPath(task_id) }),
})

export const whyDidItFail = defineTool({
  name: 'why_did_it_fail',
  title: 'Why did a task fail?',
  description:
    'Explains what went wrong in a task: the verdict, its root cause, and each finding (loops, failures, lost context) with its steps, evidence and waste. If is_current is false, the analysis of the newest calls is not finished. Needs key scope tasks:read.',
  input: z.strictObject({
    task_id: fields.task_id,
    severity_min: fields.severity_min,
    finding_type: z.string().min(1).max(100).optional().describe('Only findings of this type.'),
  }),
  more: 'Ask for one finding_type or a higher severity_min.',
  run: async ({ task_id, severity_min, finding_type: type }, ask) => {
    const path = withQuery(`${taskPath(task_id)}/findings`, { severity_min, type })
    const [task, found] = await Promise.all([
      askRoute(ask, { method: 'GET', path: taskPath(task_id) }),
      askRoute(ask, { method: 'GET', path }),
    ])
    const { name, state, verdict } = task
    return { name, state, verdict, ...found }
  },
})

/** Fields of a step with its contents. */
const contentFields = [
  ...['trace_id', 'observation_id', 'start_time', 'type', 'name', 'model', 'status'],
  ...['error_message', 'content_state', 'input', 'output', 'tool_calls', 'tool_results'],
]

/** Maximum characters of each content that one answer shows. */
const content_characters_max = 9_000

export const listSteps = defineTool({
  name: 'list_steps',
  title: 'Steps of a task',
  description:
    'Lists the steps of a task in order of time: model calls, tool calls with arguments, tool results, operations. With observation_id, reads the contents of that one step instead: input, output and tools; offset reads long contents on. Needs key scope tasks:read; contents also need traces:read or query:run.',
  input: z.strictObject({
    task_id: fields.task_id,
    role: z
      .enum(['model_call', 'tool_call', 'tool_result', 'operation', 'state_change'])
      .optional()
      .describe('Only steps of this role.'),
    observation_id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Read the contents of this step.'),
    offset: z.int().min(0).default(0).describe('First character of the contents.'),
    limit: fields.limit,
    cursor: fields.cursor,
  }),
  more: 'Ask with a smaller limit or one role. Contents of a step: observation_id, then offset.',
  run: async ({ task_id, observation_id, offset, ...page }, ask) => {
    if (observation_id === undefined) {
      const path = withQuery(`${taskPath(task_id)}/timeline`, page)
      return askRoute(ask, { method: 'GET', path })
    }
    const { started_at, last_activity_at } = await askRoute(ask, {
      method: 'GET',
      path: taskPath(task_id),
    })
    const body = {
      entity: 'observations',
      window: { from: started_at, to: dayAfter(String(last_activity_at)) },
      allow_wide: true,
      where: { field: 'observation_id', op: 'eq', value: observation_id },
      select: contentFields,
      limit: 10,
    }
    const page_of = await askRoute(ask, {
      method: 'POST',
      path: '/api/v2/observability/query',
      body,
    })
    return contentsFrom(page_of, offset)
  },
})

function taskPath(task_id: string): string {
  return `/api/v1/tasks/${step(task_id)}`
}

/** Returns an instant after the end of a task: a step may arrive later than its task's last call. */
function dayAfter(instant: string): string {
  return new Date(Date.parse(instant) + 86_400_000).toISOString()
}

/** Returns the rows of a query with the part of each content from `offset`. */
function contentsFrom(page: Readonly<Record<string, unknown>>, offset: number): unknown {
  const rows = Array.isArray(page['rows']) ? page['rows'] : []
  return {
    steps: rows.map((row: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          contentNames.has(name) ? partOf(value, offset) : value,
        ]),
      ),
    ),
  }
}

const contentNames = new Set(['input', 'output', 'tool_calls', 'tool_results'])

function partOf(value: unknown, offset: number): unknown {
  if (value === null || value === undefined) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const part = text.slice(offset, offset + content_characters_max)
  const next_offset = offset + part.length
  return { characters: text.length, part, ...(next_offset < text.length && { next_offset }) }
}
