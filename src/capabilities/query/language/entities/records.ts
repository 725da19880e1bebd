import { type Entity, type Field, fieldsOf } from '../field.ts'
import { text } from './plain-fields.ts'

const ofObservation: readonly Field[] = [
  { name: 'trace_id', type: 'uuid', description: 'Trace id.', indexed: true },
  text('observation_id', 'Observation id; unknown for a record of the whole trace.'),
  { name: 'time', type: 'time', description: 'Time of the record.' },
  text('source', 'Ingest path: proxy, otlp or api.'),
]

/** Events of observations. */
export const events: Entity = {
  name: 'events',
  description: 'Events of observations.',
  time: 'time',
  identity: ['trace_id', 'time', 'observation_id', 'event_id'],
  maps: ['attributes'],
  error_field: 'has_error',
  fields: fieldsOf([
    ...ofObservation,
    text('event_id', 'Id, unique in its observation.'),
    text('name', 'Name of the event.'),
    text('level', 'Severity: debug, default, warning or error.'),
    {
      name: 'has_error',
      type: 'bool',
      description: 'The level is error.',
      derived: { clickhouse: "level = 'error'", postgres: "level = 'error'" },
    },
    { name: 'body', type: 'text', description: 'Text of the event.', content: true },
  ]),
  stores: { clickhouse: { table: 'events', versioned: true, restored: 'restored_events' } },
}

/** Links from one observation to another. */
export const links: Entity = {
  name: 'links',
  description: 'Links from one observation to another.',
  time: 'time',
  identity: ['trace_id', 'time', 'observation_id', 'link_id'],
  maps: ['attributes'],
  fields: fieldsOf([
    ...ofObservation,
    text('link_id', 'Id, unique in its observation.'),
    { name: 'linked_trace_id', type: 'uuid', description: 'Linked trace id.', indexed: true },
    text('linked_observation_id', 'Linked observation id; unknown for the whole trace.'),
  ]),
  stores: { clickhouse: { table: 'links', versioned: true, restored: 'restored_links' } },
}

/** External ids of traces and observations. */
export const correlations: Entity = {
  name: 'correlations',
  description: 'External ids of traces and observations.',
  time: 'time',
  identity: ['correlation_type', 'correlation_value', 'trace_id', 'observation_id'],
  time_moves: true,
  maps: ['metadata'],
  fields: fieldsOf([
    ...ofObservation,
    { ...text('correlation_type', 'Type of the external id.'), required: true },
    { ...text('correlation_value', 'The external id.'), required: true },
  ]),
  stores: {
    clickhouse: { table: 'correlations', versioned: true, restored: 'restored_correlations' },
  },
}
