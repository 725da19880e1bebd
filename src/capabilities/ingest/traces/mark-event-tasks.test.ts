import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import { eventOf, rowsOf } from '../../../../test/support/records.ts'
import { newId } from '../../../kernel/ids.ts'
import type { RowUnit } from '../row-batch.ts'
import { markEventTasks } from './mark-event-tasks.ts'

const project_id = newId()

/** A message with these events, and with the heads of these traces' spans. */
function unitOf(eventTraces: readonly string[], spanTraces: readonly string[]): RowUnit {
  const encoded = rowsOf(
    'events',
    eventTraces.map((trace_id) => eventOf({ project_id, trace_id })),
  )
  const starts: number[] = []
  let at = 0
  for (const { length } of encoded) {
    starts.push(at)
    at += length
  }
  const spans = spanTraces.map((trace_id) => observationOf({ project_id, trace_id }))
  const rows = {
    bytes: Buffer.concat(encoded),
    kinds: [...encoded.map(() => 'events'), ...spans.map(() => 'observations')],
    starts: [...starts, ...spans.map(() => at)],
    ends: [],
    receipts: [],
    heads: [...encoded.map(() => undefined), ...spans],
  }
  const message = { rows, receipts: [], faults: [] } as unknown as RowUnit['message']
  return { message, from: 0, to: eventTraces.length + spanTraces.length }
}

test('marks the traces of events whose spans are not in the batch, each once', async () => {
  const [late, both] = [newId(), newId()]
  const marked: unknown[] = []
  const ports = {
    db: undefined as never,
    markKnownDue: async (_db: unknown, tasks: readonly unknown[]) => {
      marked.push(tasks)
    },
  }
  await markEventTasks(ports, [unitOf([late, both, late], []), unitOf([], [both])])
  expect(marked).toEqual([[{ project_id, task_id: late }]])
  await markEventTasks(ports, [unitOf([both], [both])])
  expect(marked).toHaveLength(1)
})

test('marks all traces of a large batch, some with each statement', async () => {
  const withSpans = Array.from({ length: 1_500 }, newId)
  const late = Array.from({ length: 2_300 }, newId)
  const marked: { task_id: string }[][] = []
  const ports = {
    db: undefined as never,
    markKnownDue: async (_db: unknown, tasks: readonly { task_id: string }[]) => {
      marked.push([...tasks])
    },
  }
  await markEventTasks(ports, [unitOf([...withSpans, ...late], withSpans)])
  expect(marked.map(({ length }) => length)).toEqual([1_000, 1_000, 300])
  expect(new Set(marked.flat().map(({ task_id }) => task_id))).toEqual(new Set(late))
})
