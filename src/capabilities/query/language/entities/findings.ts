import { type Entity, type Field, fieldsOf } from '../field.ts'
import { count, text } from './plain-fields.ts'

const countOrNull = (name: string, description: string): Field => ({
  ...count(name, description),
  nullable: true,
})

/** Findings of tasks. `GET /api/v1/tasks/{task_id}/findings` returns their evidence. */
export const findings: Entity = {
  name: 'findings',
  description: 'Loops, failures, lost context and claims without support, detected in tasks.',
  time: 'started_at',
  identity: ['finding_id'],
  maps: [],
  fields: fieldsOf([
    { name: 'finding_id', type: 'uuid', description: 'Finding id.' },
    text('task_id', 'Task id.'),
    text('kind', 'loop, failure, context or claim.'),
    text('type', 'Type within the kind, such as repeat_call.'),
    text('detector', 'Detector.'),
    count('detector_version', 'Version of the detector.'),
    text('severity', 'info, low, medium, high or critical.'),
    {
      ...count(
        'severity_number',
        'Severity as a number, to sort and compare: 1 info to 5 critical.',
      ),
      derived: {
        postgres:
          "array_position(array['info', 'low', 'medium', 'high', 'critical'], severity)::bigint",
      },
    },
    text('state', 'open, recovered, or withdrawn (a late call disproved it).'),
    text('summary', 'One sentence about the evidence.'),
    countOrNull('start_step', 'First step, counted from 0.'),
    countOrNull('end_step', 'Last step.'),
    countOrNull('period', 'Steps in one iteration of a loop.'),
    countOrNull('repeats', 'Number of iterations or occurrences.'),
    {
      name: 'trace_ids',
      type: 'list',
      description: 'Traces of the evidence.',
      derived: { postgres: 'trace_ids::text[]' },
    },
    count('wasted_tokens', 'Tokens of wasted calls.'),
    {
      name: 'wasted_cost_usd',
      type: 'decimal',
      description: 'Cost of wasted calls in US dollars.',
    },
    { name: 'recovered', type: 'bool', description: 'A later call recovered from it.' },
    { name: 'confidence', type: 'float', description: 'Confidence, 0 to 1.' },
    {
      ...text('judge', 'Model that judged the finding, if any.'),
      derived: { postgres: "coalesce(judge, '')" },
    },
    { name: 'started_at', type: 'time', description: 'Start of the first observation.' },
    { name: 'first_detected_at', type: 'time', description: 'Time of detection.' },
    { name: 'updated_at', type: 'time', description: 'Time of the last change.' },
  ]),
  stores: { postgres: { table: 'findings', versioned: false } },
}
