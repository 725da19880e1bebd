import { z } from 'zod'

/** The parts of replies about incidents that are printed; another version of the API may have more. */

const count = z.number()
const text = z.string()

/** An incident. */
export const incidentReply = z.object({
  incident_id: text,
  number: count,
  title: text,
  state: text,
  severity: text,
  rule: text,
  signal: text,
  group: z.record(text, text),
  runbook_url: text.nullable(),
  assignee: text.nullable(),
  suppressed: z.boolean(),
  snoozed_until: text.nullable(),
  flapping: z.boolean(),
  shadow: z.boolean(),
  opened_at: text,
  acknowledged_at: text.nullable(),
  resolved_at: text.nullable(),
})

/** A page of incidents. */
export const incidentList = z.object({
  incidents: z.array(incidentReply),
  total: count,
  next_cursor: text.nullable(),
})

/** An incident with its timeline and evidence. */
export const incidentDetail = incidentReply.extend({
  evidence: z.array(
    z.object({
      kind: text,
      task_id: text.optional(),
      trace_id: text.optional(),
      type: text.optional(),
      summary: text.optional(),
      value: count.nullable().optional(),
      at: text,
      finding: z.object({ summary: text, severity: text }).nullable(),
    }),
  ),
  timeline: z.object({
    events: z.array(
      z.object({
        type: text,
        at: text,
        actor: z.object({ type: text, id: text }),
        note: text.nullable(),
      }),
    ),
    total: count,
  }),
  series: z
    .object({
      threshold: count.nullable(),
      points: z.array(z.object({ at: text, value: count.nullable() })),
    })
    .nullable(),
  deliveries: z.object({ waiting: count, delivered: count, dead: count }),
})
export type IncidentDetail = z.output<typeof incidentDetail>

/** The results of acknowledgements. */
export const ackReply = z.object({
  results: z.array(z.object({ incident: text, result: text, number: count.nullable() })),
})
