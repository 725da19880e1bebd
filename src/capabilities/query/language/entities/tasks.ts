import { type Entity, type Field, fieldsOf } from '../field.ts'

const text = (name: string, about: string): Field => ({ name, type: 'text', about })
const count = (name: string, about: string): Field => ({ name, type: 'integer', about })
/** What may be null in PostgreSQL is the empty text here, as it is in ClickHouse. */
const textOrNull = (name: string, about: string): Field => ({
  ...text(name, about),
  derived: { postgres: `coalesce(${name}::text, '')` },
})

/** Tasks with their roll-ups. */
export const tasks: Entity = {
  name: 'tasks',
  about: 'Tasks with their roll-ups.',
  time: 'started_at',
  identity: ['task_id'],
  maps: [],
  error_field: 'has_error',
  fields: fieldsOf([
    { ...text('task_id', 'The task.'), required: true },
    text('name', 'What the client calls it.'),
    textOrNull('user_id', 'The user that it was done for.'),
    textOrNull('conversation_id', 'Its conversation, a UUID.'),
    { name: 'implicit', type: 'bool', about: 'A trace stands for it.' },
    text('state', 'running, completed or failed.'),
    {
      name: 'has_error',
      type: 'bool',
      about: 'Its state is failed.',
      derived: { postgres: "state = 'failed'" },
    },
    { name: 'started_at', type: 'time', about: 'When its first call began.' },
    { name: 'last_activity_at', type: 'time', about: 'When its last call was.' },
    { name: 'ended_at', type: 'time', about: 'When it was ended.', nullable: true },
    textOrNull('ended_by', 'Who ended it.'),
    textOrNull('end_note', 'What was said of its end.'),
    { name: 'late_activity', type: 'bool', about: 'A call came after its end.' },
    count('calls', 'Calls of models.'),
    count('errors', 'Calls with an error.'),
    count('cancelled', 'Calls that were cancelled.'),
    count('input_uncached_tokens', 'Input tokens that no cache held.'),
    count('cache_read_tokens', 'Input tokens read from a cache.'),
    count('cache_write_tokens', 'Input tokens written to a cache.'),
    count('output_visible_tokens', 'Output tokens without reasoning.'),
    count('reasoning_tokens', 'Output tokens of reasoning.'),
    count('total_tokens', 'All tokens.'),
    {
      ...count('input_tokens', 'All input tokens.'),
      derived: { postgres: 'input_uncached_tokens + cache_read_tokens + cache_write_tokens' },
    },
    {
      ...count('output_tokens', 'All output tokens.'),
      derived: { postgres: 'output_visible_tokens + reasoning_tokens' },
    },
    count('estimated_calls', 'Calls whose tokens are estimated.'),
    { name: 'cost_usd', type: 'decimal', about: 'What it cost.' },
    count('unpriced_calls', 'Calls whose price is not known.'),
    count('worst_severity', 'Of its findings: 0 none, 1 info, up to 5 critical.'),
    count('wasted_tokens', 'Tokens of calls that a reader would call wasted.'),
    { name: 'wasted_cost_usd', type: 'decimal', about: 'What such calls cost.' },
    count('duration_ms', 'From the first start to the last end, in milliseconds.'),
    { name: 'models', type: 'list', about: 'Models that answered.' },
    { name: 'providers', type: 'list', about: 'Who answered.' },
    textOrNull('environment', 'Where it ran.'),
    textOrNull('release', 'What ran.'),
  ]),
  stores: { postgres: { table: 'tasks', versioned: false } },
}
