import { z } from 'zod'
import { askRoute, withQuery } from '../ask.ts'
import { defineTool } from '../tool.ts'
import { fields, filterText, step } from './fields.ts'

const base = '/api/v2/observability/incidents'

export const listIncidents = defineTool({
  name: 'list_incidents',
  title: 'List incidents',
  description:
    'Lists incidents, newest first, with state, severity, rule and evidence. Needs key scope incidents:read.',
  input: z.strictObject({
    state: z.enum(['open', 'acknowledged', 'resolved']).optional().describe('State.'),
    severity_min: fields.severity_min,
    rule: z.string().min(1).max(63).optional().describe('Name of the rule.'),
    q: filterText('Text in the title, in any case.'),
    opened_from: fields.from,
    opened_to: fields.to,
    limit: fields.limit,
    cursor: fields.cursor,
  }),
  more: 'Ask with a smaller limit, or read one incident with get_incident.',
  run: (input, ask) => askRoute(ask, { method: 'GET', path: withQuery(base, input) }),
})

export const getIncident = defineTool({
  name: 'get_incident',
  title: 'Read an incident',
  description:
    'Reads an incident: timeline, evidence with tasks and traces, and the measured series. Needs key scope incidents:read.',
  input: z.strictObject({
    id: z.string().min(1).max(64).describe('Id of the incident, or its number in the project.'),
  }),
  more: 'Read a task of its evidence with get_task.',
  run: ({ id }, ask) => askRoute(ask, { method: 'GET', path: `${base}/${step(id)}` }),
})
