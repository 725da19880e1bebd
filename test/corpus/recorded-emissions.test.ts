import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import { createReconstruction } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { PlainTraces } from '../support/otlp-messages.ts'
import { fuzzRuns } from '../support/suite/budget.ts'
import { type RecordedCase, readRecording, recordedStacks } from '../tools/emissions/recording.ts'
import {
  placed,
  rowsOfCalls,
  rowsOfExport,
  rowsOfExports,
  tracesOf,
  verdictsOf,
} from '../tools/emissions/replay.ts'
import { agentCases } from '../tools/emissions/scripted-agent.ts'
import { measureStack, stacksPage } from './stacks-page.ts'

/** What real stacks sent, replayed; scripts/record-stacks.ts records it. */

const stacks = recordedStacks()
const settings = defaultDetectionSettings()

test('stacks are recorded', () => {
  expect(stacks.length).toBeGreaterThanOrEqual(20)
})

test('docs/reference/stacks.md is fresh (make verdicts)', async () => {
  const page = await readFile('docs/reference/stacks.md', 'utf8')
  expect(page).toBe(stacksPage(stacks.map(measureStack)))
})

describe.each(stacks)('%s', (stack) => {
  const { cases } = readRecording(stack)

  test.each(cases)('the proxy reads each call of the case $name', (recorded) => {
    const rows = rowsOfCalls(recorded)
    expect(rows.map(({ status }) => status)).toEqual(recorded.calls.map(() => 'ok'))
    expect(rows.map(sumOfTokens)).toEqual(
      recorded.calls.map(({ usage }) => usage.input + usage.output),
    )
    expect(rows.every(({ cost_usd }) => Number(cost_usd) > 0)).toBe(true)
    const { paths } = recorded.name === 'work' ? agentCases.work : agentCases.loop
    const read = rows.flatMap(({ tool_calls }) => tool_calls.filter((call) => isRead(call)))
    expect(read.map((call) => JSON.parse(call.arguments ?? ''))).toEqual(
      paths.map((path) => ({ path })),
    )
  })

  test.each(cases)('the spans of the case $name become the same rows in both encodings', (one) => {
    for (const body of tracesOf(one)) {
      expect(rowsOfExport(body, 'protobuf')).toEqual(rowsOfExport(body, 'json'))
    }
  })

  test('spans in any split and order give the same rows and the same findings', () => {
    const recorded = fc.constantFrom(...cases)
    fc.assert(
      fc.property(recorded, fc.infiniteStream(fc.nat()), (one, choices) => {
        const next = () => choices.next().value ?? 0
        const batches = shuffledBatches(one, next)
        const rows = placed(batches.flatMap((body) => rowsOfExport(body, 'json')))
        const whole = rowsOfExports(one)
        expect(rows).toEqual(whole)
        expect(findingsInBatches(batches)).toEqual(verdictsOf(whole).map((said) => said.findings))
      }),
      { numRuns: fuzzRuns(20) },
    )
  })
})

const isRead = ({ name }: { name: string }) => name === 'read_file'

function sumOfTokens(row: Observation): number {
  const { input_uncached_tokens, cache_read_tokens, cache_write_tokens } = row
  const input = (input_uncached_tokens ?? 0) + (cache_read_tokens ?? 0) + (cache_write_tokens ?? 0)
  return input + (row.output_visible_tokens ?? 0) + (row.reasoning_tokens ?? 0)
}

/** Cuts the exports of a case into single spans, shuffles them, and joins some at random. */
function shuffledBatches(recorded: RecordedCase, next: () => number): PlainTraces[] {
  const single = tracesOf(recorded).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans, ...resource }) =>
      scopeSpans.flatMap(({ spans, ...scope }) =>
        spans.map((span) => ({ ...resource, scopeSpans: [{ ...scope, spans: [span] }] })),
      ),
    ),
  )
  const order = single.map((span) => ({ span, rank: next() })).toSorted((a, b) => a.rank - b.rank)
  const batches: PlainTraces[] = []
  for (const { span } of order) {
    const last = batches.at(-1)
    if (last === undefined || next() % 3 === 0) batches.push({ resourceSpans: [span] })
    else last.resourceSpans.push(span)
  }
  return batches
}

/**
 * The findings of each task as a worker has them in the end that reads after every batch: it continues
 * with what is new, and starts again where that belongs before what it has read.
 */
function findingsInBatches(batches: readonly PlainTraces[]) {
  const known: Observation[] = []
  const read = new Map<string, { rows: string; run: ReturnType<typeof createReconstruction> }>()
  for (const body of batches) {
    known.push(...rowsOfExport(body, 'json'))
    for (const [task_id, rows] of Map.groupBy(placed(known), (row) => row.task_id)) {
      const before = read.get(task_id)
      const texts = rows.map((row) => JSON.stringify(row, bigintAsText))
      const grown = before !== undefined && texts.join('\n').startsWith(before.rows)
      const from = grown ? before.rows.split('\n').length : 0
      const run = grown ? before.run : newReconstruction(rows)
      if (run.add(rows.slice(from)) !== 'rebuild') {
        read.set(task_id, { rows: texts.join('\n'), run })
        continue
      }
      const again = newReconstruction(rows)
      again.add(rows)
      read.set(task_id, { rows: texts.join('\n'), run: again })
    }
  }
  const tasks = new Set(placed(known).map(({ task_id }) => task_id))
  return [...tasks].map((task_id) => {
    const reconstruction = read.get(task_id)?.run
    if (reconstruction === undefined) throw new Error(`the task ${task_id} was never read`)
    return runDetectors(reconstruction.run(), settings).findings
  })
}

const bigintAsText = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : value

function newReconstruction([first]: readonly Observation[]) {
  const { project_id = '', task_id = '', conversation_id = '' } = first ?? {}
  return createReconstruction({ project_id, task_id, conversation_id })
}
