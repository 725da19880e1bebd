import { type Entity, type Field, fieldsOf } from '../field.ts'

const text = (name: string, about: string): Field => ({ name, type: 'text', about })
const count = (name: string, about: string): Field => ({ name, type: 'integer', about })
const countOrNull = (name: string, about: string): Field => ({
  ...count(name, about),
  nullable: true,
})

/** What was found in tasks; its evidence is told by `GET /api/v1/tasks/{task_id}/findings`. */
export const findings: Entity = {
  name: 'findings',
  about: 'Loops, failures and lost context that were found in tasks.',
  time: 'started_at',
  identity: ['finding_id'],
  maps: [],
  fields: fieldsOf([
    { name: 'finding_id', type: 'uuid', about: 'The finding.' },
    text('task_id', 'The task that it was found in.'),
    text('kind', 'loop, failure or context.'),
    text('type', 'Such as repeat_call.'),
    text('detector', 'What found it.'),
    count('detector_version', 'The version of what found it.'),
    text('severity', 'info, low, medium, high or critical.'),
    {
      ...count('severity_number', '1 for info up to 5 for critical, to sort and compare.'),
      derived: {
        postgres:
          "array_position(array['info', 'low', 'medium', 'high', 'critical'], severity)::bigint",
      },
    },
    text('state', 'open, recovered, or withdrawn: a late call shows that it was none.'),
    text('summary', 'One sentence, made of the evidence.'),
    countOrNull('start_step', 'The step that it began with, counted from 0.'),
    countOrNull('end_step', 'The step that it ended with.'),
    countOrNull('period', 'Steps of one lap of a loop.'),
    countOrNull('repeats', 'How often it came.'),
    {
      name: 'trace_ids',
      type: 'list',
      about: 'Traces of the observations that it rests on.',
      derived: { postgres: 'trace_ids::text[]' },
    },
    count('wasted_tokens', 'Tokens of calls that a reader would call wasted.'),
    { name: 'wasted_cost_usd', type: 'decimal', about: 'What such calls cost.' },
    { name: 'recovered', type: 'bool', about: 'A later call got over it.' },
    { name: 'confidence', type: 'float', about: '0 to 1.' },
    {
      ...text('judge', 'The model that judged it, if one was asked.'),
      derived: { postgres: "coalesce(judge, '')" },
    },
    { name: 'started_at', type: 'time', about: 'When the first observation of it began.' },
    { name: 'first_detected_at', type: 'time', about: 'When it was found.' },
    { name: 'updated_at', type: 'time', about: 'When it last changed.' },
  ]),
  stores: { postgres: { table: 'findings', versioned: false } },
}
