import { type Entity, type Field, fieldsOf } from '../field.ts'
import { count, text } from './plain-fields.ts'

/** Reads a nullable PostgreSQL column as the empty text when null, as ClickHouse stores it. */
const textOrNull = (name: string, description: string): Field => ({
  ...text(name, description),
  derived: { postgres: `coalesce(${name}::text, '')` },
})

/** Tasks with their roll-ups. */
export const tasks: Entity = {
  name: 'tasks',
  description: 'Tasks with their roll-ups.',
  time: 'started_at',
  identity: ['task_id'],
  maps: [],
  error_field: 'has_error',
  fields: fieldsOf([
    { ...text('task_id', 'Task id.'), required: true },
    text('name', 'Name given by the client.'),
    textOrNull('user_id', 'User id.'),
    textOrNull('conversation_id', 'Conversation id, a UUID.'),
    {
      name: 'implicit',
      type: 'bool',
      description: 'The client named no task, so a trace is the task.',
    },
    text('state', 'running, completed or failed.'),
    {
      name: 'has_error',
      type: 'bool',
      description: 'The state is failed.',
      derived: { postgres: "state = 'failed'" },
    },
    { name: 'started_at', type: 'time', description: 'Start of the first call.' },
    { name: 'last_activity_at', type: 'time', description: 'Time of the last call.' },
    {
      name: 'ended_at',
      type: 'time',
      description: 'Time when the task was ended.',
      nullable: true,
    },
    textOrNull('ended_by', 'Who ended the task.'),
    textOrNull('end_note', 'Note given when the task was ended.'),
    { name: 'late_activity', type: 'bool', description: 'A call arrived after the end.' },
    count('calls', 'Model calls.'),
    count('errors', 'Calls with an error.'),
    count('cancelled', 'Cancelled calls.'),
    count('input_uncached_tokens', 'Input tokens not read from or written to a cache.'),
    count('cache_read_tokens', 'Input tokens read from a cache.'),
    count('cache_write_tokens', 'Input tokens written to a cache.'),
    count('output_visible_tokens', 'Output tokens without reasoning.'),
    count('reasoning_tokens', 'Reasoning tokens.'),
    count('total_tokens', 'All tokens.'),
    {
      ...count('input_tokens', 'All input tokens.'),
      derived: { postgres: 'input_uncached_tokens + cache_read_tokens + cache_write_tokens' },
    },
    {
      ...count('output_tokens', 'All output tokens.'),
      derived: { postgres: 'output_visible_tokens + reasoning_tokens' },
    },
    count('estimated_calls', 'Calls with estimated tokens.'),
    { name: 'cost_usd', type: 'decimal', description: 'Cost in US dollars.' },
    count('unpriced_calls', 'Calls without a known price.'),
    count('merged_calls', 'Further records of the calls, by another instrument; not counted.'),
    count('partially_priced_calls', 'Priced calls with parts that have no rate of their own.'),
    count(
      'worst_severity',
      'Highest severity of the findings: 0 without findings, 1 info to 5 critical.',
    ),
    count('wasted_tokens', 'Tokens of wasted calls.'),
    {
      name: 'wasted_cost_usd',
      type: 'decimal',
      description: 'Cost of wasted calls in US dollars.',
    },
    {
      name: 'trust_score',
      type: 'float',
      description: 'Trust of the newest verified answer, 0 to 1.',
      nullable: true,
    },
    {
      name: 'trust_coverage',
      type: 'float',
      description: 'Share of the claims of that answer that a verifier decided.',
      nullable: true,
    },
    {
      ...text(
        'verification_state',
        'State of the newest verification: not_verified, pending, verified or failed.',
      ),
      derived: { postgres: "coalesce(verification_state, 'not_verified')" },
    },
    {
      name: 'verified_at',
      type: 'time',
      description: 'End of the newest successful verification.',
      nullable: true,
    },
    count('duration_ms', 'Time from the first start to the last end, in milliseconds.'),
    { name: 'models', type: 'list', description: 'Models that answered.' },
    { name: 'providers', type: 'list', description: 'Provider that answered.' },
    textOrNull('environment', 'Environment.'),
    textOrNull('release', 'Release.'),
    textOrNull('cluster_name', 'Kubernetes cluster: `k8s.cluster.name`.'),
  ]),
  stores: { postgres: { table: 'tasks', versioned: false } },
}
