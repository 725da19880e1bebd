import { z } from 'zod'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'

/** Maximum nodes with `saves_ms`. */
export const saves_max = 10

const count = z.int().nonnegative()

const ms = z.number().nonnegative()

const share = z.number().min(0).max(1)

const nodeFields = {
  node_id: z.string().describe('The node; empty for the task as a whole.'),
  trace_id: z.string().describe('Its trace; empty for the task as a whole.'),
  type: z
    .string()
    .describe(
      'Type of the observation; `synthetic` for a root of orphans and for a task as a whole.',
    ),
  name: z.string(),
}

const onPath = {
  on_path_ms: ms.describe('Time on the path, in milliseconds.'),
  share: share.describe('Share of the duration of the root, 0 to 1.'),
  tokens: count,
  cost_usd: dollarsSchema,
}

/** The reply fields of one trace's path. */
export const pathFields = {
  root: z
    .strictObject({
      ...nodeFields,
      start_time: z.iso.datetime({ offset: false }),
      duration_ms: ms,
    })
    .meta({ id: 'CriticalPathRoot' })
    .nullable()
    .describe('Root of the path; null without observations.'),
  roots: count.describe('Number of roots of the trace or task.'),
  nodes: z
    .array(
      record('CriticalPathNode', {
        ...nodeFields,
        ...onPath,
        depth: count,
        segments: count.describe('Segments of the path.'),
        saves_ms: ms
          .nullable()
          .describe(
            `Savings of the root if this node alone were faster; for the ${saves_max} largest nodes only.`,
          ),
      }),
    )
    .describe('Nodes of the path, the largest part first.'),
  nodes_total: count,
  operations: z
    .array(
      record('CriticalPathOperation', {
        type: z.string(),
        name: z.string(),
        ...onPath,
        observations: count,
      }),
    )
    .describe('Nodes of the path summed by type and name.'),
  segments: z
    .array(
      record('CriticalPathSegment', {
        node_id: nodeFields.node_id,
        trace_id: nodeFields.trace_id,
        start_time: z.iso.datetime({ offset: false }),
        duration_ms: ms,
      }),
    )
    .describe('Path in order of time; the segments add up to the duration of the root.'),
  segments_total: count,
  next_cursor: z
    .string()
    .nullable()
    .describe('Cursor of the next segments; null on the last page.'),
  used: z
    .strictObject({
      tokens: record('TokenShare', { path: count, trace: count, share: share.nullable() }),
      cost_usd: record('CostShare', {
        path: dollarsSchema,
        trace: dollarsSchema,
        share: share.nullable(),
      }),
    })
    .meta({ id: 'CriticalPathUse' })
    .describe("Share of the trace's usage on the critical path; null without usage."),
  slack: z
    .array(record('NodeSlack', { ...nodeFields, slack_ms: ms }))
    .describe('Slack of nodes off the path, the smallest first.'),
  slack_total: count,
  what_if: z
    .strictObject({
      observations: count.describe('Observations that would be faster.'),
      faster_percent: count,
      saves_ms: ms,
      duration_ms: ms.describe('Resulting duration of the root.'),
      slack_ms: ms.nullable().describe('Slack of the observation; null for several observations.'),
    })
    .meta({ id: 'WhatIf' })
    .nullable()
    .describe('What-if result; null unless requested.'),
}

/** The answer of one path. */
export type PathAnswer = z.infer<z.ZodObject<typeof pathFields>>
