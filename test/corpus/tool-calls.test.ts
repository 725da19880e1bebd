import { describe, expect, test } from 'vitest'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { createTimelineBuilder } from '../../src/capabilities/tasks/build-timeline.ts'
import type { TimelineEntry } from '../../src/capabilities/tasks/timeline-entry.ts'
import { toolCallsOf } from '../../src/capabilities/tasks/tool-calls-record.ts'
import type { Observation } from '../../src/model/observation.ts'
import { corpus } from './corpus.ts'

/** A tool call as both read models show it, in one line. */
function line(parts: readonly (string | null)[]): string {
  return parts.map((part) => part || '-').join(' ')
}

/**
 * Lists what a timeline shows of tool calls, in its order. A result without a call is no tool call
 * in a timeline: it is a result that is marked as an orphan, without the name of a tool.
 */
function inTimeline(rows: readonly Observation[]): string[] {
  const builder = createTimelineBuilder({ gap_min_ms: 5_000, text_length_max: 2_000 })
  builder.add(rows)
  const entries = builder.finish(reconstruct(rows), []).map(({ entry }) => entry)
  const results = entries.filter((entry) => entry.role === 'tool_result')
  const joined = results.filter(({ orphan }) => !orphan).map(resultLine)
  const answered = entries.flatMap((entry) =>
    entry.role === 'tool_call' && !entry.orphan ? [callLine(entry)] : [],
  )
  expect(joined.toSorted(), 'calls and results name each other').toEqual(answered.toSorted())
  return entries.flatMap((entry) => {
    if (entry.role === 'tool_call') return [callLine(entry)]
    return entry.role === 'tool_result' && entry.orphan ? [orphanLine(entry)] : []
  })
}

type Entry<Role> = Extract<TimelineEntry, { role: Role }>

function callLine(entry: Entry<'tool_call'>): string {
  const { tool_name, tool_call_id, observation_id, result_observation_id } = entry
  return line([tool_name, tool_call_id, observation_id, result_observation_id])
}

function resultLine(entry: Entry<'tool_result'>): string {
  const { tool_name, tool_call_id, observation_id, call_observation_id } = entry
  return line([tool_name, tool_call_id, call_observation_id, observation_id])
}

function orphanLine({ tool_call_id, observation_id }: Entry<'tool_result'>): string {
  return line(['result', tool_call_id, observation_id])
}

/** Lists what the tool calls of a task show, in their order. */
function inToolCalls(rows: readonly Observation[]): string[] {
  return toolCallsOf(reconstruct(rows)).map((call) => {
    const { name, tool_call_id, asked_by, answered_by } = call
    const isUnasked = call.orphan === 'result' && call.latency_ms === null
    if (isUnasked) return line(['result', tool_call_id, asked_by.observation_id])
    return line([name, tool_call_id, asked_by.observation_id, answered_by?.observation_id ?? null])
  })
}

function inOrder(rows: readonly Observation[]): Observation[] {
  return rows.toSorted((a, b) => {
    if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
    return a.observation_id < b.observation_id ? -1 : 1
  })
}

describe.each(['as stored', 'proxy', 'otlp', 'otlp_no_content', 'api'] as const)(
  'the timeline and the tool calls of a run, %s',
  (source) => {
    test('have the same tool calls with the same results, in the same order', () => {
      const differing = corpus.flatMap((run) => {
        const rows = inOrder(source === 'as stored' ? run.observations() : run.toldBy(source))
        const [timeline, toolCalls] = [inTimeline(rows), inToolCalls(rows)]
        const isSame = timeline.join('\n') === toolCalls.join('\n')
        const first = timeline.findIndex((shown, index) => shown !== toolCalls[index])
        const about = { of: [timeline.length, toolCalls.length] }
        return isSame
          ? []
          : [{ run: run.name, ...about, timeline: timeline[first], toolCalls: toolCalls[first] }]
      })
      expect(differing).toEqual([])
    })
  },
)
