import { type Entity, type Field, fieldsOf } from '../field.ts'

const text = (name: string, about: string): Field => ({ name, type: 'text', about })

const ofObservation: readonly Field[] = [
  { name: 'trace_id', type: 'uuid', about: 'The trace.', indexed: true },
  text('observation_id', 'The observation; unknown when the trace alone is meant.'),
  { name: 'time', type: 'time', about: 'When it was.' },
  text('source', 'The path in: proxy, otlp or api.'),
]

/** Moments of observations. */
export const events: Entity = {
  name: 'events',
  about: 'Moments of observations.',
  time: 'time',
  identity: ['trace_id', 'time', 'observation_id', 'event_id'],
  maps: ['attributes'],
  error_field: 'has_error',
  fields: fieldsOf([
    ...ofObservation,
    text('event_id', 'Unique in its observation.'),
    text('name', 'What happened.'),
    text('level', 'How much it matters: debug, default, warning or error.'),
    {
      name: 'has_error',
      type: 'bool',
      about: 'Its level is error.',
      derived: { clickhouse: "level = 'error'", postgres: "level = 'error'" },
    },
    { name: 'body', type: 'text', about: 'What was said.', content: true },
  ]),
  stores: { clickhouse: { table: 'events', versioned: true, restored: 'restored_events' } },
}

/** Pointers from one observation to another. */
export const links: Entity = {
  name: 'links',
  about: 'Pointers from one observation to another.',
  time: 'time',
  identity: ['trace_id', 'time', 'observation_id', 'link_id'],
  maps: ['attributes'],
  fields: fieldsOf([
    ...ofObservation,
    text('link_id', 'Unique in its observation.'),
    { name: 'linked_trace_id', type: 'uuid', about: 'The trace it points at.', indexed: true },
    text('linked_observation_id', 'The observation it points at; unknown: the whole trace.'),
  ]),
  stores: { clickhouse: { table: 'links', versioned: true, restored: 'restored_links' } },
}

/** Names under which others know traces and observations. */
export const correlations: Entity = {
  name: 'correlations',
  about: 'Names under which others know traces and observations.',
  time: 'time',
  identity: ['correlation_type', 'correlation_value', 'trace_id', 'observation_id'],
  time_moves: true,
  maps: ['metadata'],
  fields: fieldsOf([
    ...ofObservation,
    { ...text('correlation_type', 'What kind of name it is.'), required: true },
    { ...text('correlation_value', 'The name.'), required: true },
  ]),
  stores: {
    clickhouse: { table: 'correlations', versioned: true, restored: 'restored_correlations' },
  },
}
