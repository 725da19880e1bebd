import { expect, test } from 'vitest'
import type { TaskRun } from '../reconstruction/index.ts'
import { wasteOfCalls } from './finding-parts.ts'

test('the waste of calls ends at what a finding can store', () => {
  const call = { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 7, nano_dollars: 10n ** 18n }
  const small = { input_tokens: 3, output_tokens: null, nano_dollars: null }
  const run = { calls: [small, ...Array.from({ length: 200 }, () => call)] } as unknown as TaskRun
  expect(wasteOfCalls(run, new Set([0]))).toEqual({
    ...{ wasted_tokens: 3, wasted_nano_dollars: 0n, wasted_calls: [0] },
  })
  expect(wasteOfCalls(run, new Set(run.calls.keys()))).toMatchObject({
    wasted_tokens: Number.MAX_SAFE_INTEGER,
    wasted_nano_dollars: 99_999_999_999n * 10n ** 9n,
  })
})
