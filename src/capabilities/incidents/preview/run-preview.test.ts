import { expect, test } from 'vitest'
import type { MeasuredSample } from '../ports.ts'
import { ruleBody } from '../rules/rule-faults.ts'
import { checkSlots, type PreviewParts, runPreview } from './run-preview.ts'

const rule = ruleBody.parse({
  ...{ name: 'dear', severity: 'high' },
  condition: { signal: 'cost', window: '10m', threshold: 5 },
})
const day_ms = 86_400_000
const range = { from_ms: 0, to_ms: day_ms }
const empty = { kind: 'condition', value: null, samples: 0, lag_ms: 0 } as const

/** Slots without an end, of which each is counted. */
function endless() {
  const world = { slots: 0, isClosed: false }
  async function* slots(): AsyncGenerator<MeasuredSample> {
    try {
      for (;;) {
        world.slots += 1
        yield { end_ms: world.slots * 60_000, groups: [], empty }
      }
    } finally {
      world.isClosed = true
    }
  }
  const parts: PreviewParts = {
    measureRange: async () => ({ available_from_ms: 0, earlier: [], slots: slots() }),
    readMatches: () => Promise.reject(new Error('no findings')),
  }
  return { world, parts }
}

test('a preview ends with its request, and closes the measurement', async () => {
  const { world, parts } = endless()
  const stop = new AbortController()
  const run = runPreview(parts, { project_id: 'p', rule, range, signal: stop.signal })
  setImmediate(() => stop.abort(new Error('the client left')))
  await expect(run).rejects.toThrow('the client left')
  expect(world.isClosed).toBe(true)
})

test('a preview ends at its time limit', async () => {
  const { world, parts } = endless()
  const { signal } = new AbortController()
  const run = runPreview(parts, { project_id: 'p', rule, range, signal, time_ms_max: 20 })
  await expect(run).rejects.toMatchObject({ code: 'query_too_expensive' })
  expect(world.isClosed).toBe(true)
})

test('a range has at most 40,320 slots', () => {
  const of = (interval: string, days: number) => () =>
    checkSlots({ ...rule, interval }, { from_ms: 0, to_ms: days * day_ms })
  expect(of('1m', 28)).not.toThrow()
  expect(of('10s', 4)).not.toThrow()
  expect(of('10s', 5)).toThrow('43200 slots of 10s, expected at most 40320')
})
