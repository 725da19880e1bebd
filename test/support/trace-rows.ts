import fc from 'fast-check'
import type { TraceRow } from '../../src/capabilities/traces/tree/contract.ts'
import { observationOf } from './observations.ts'

/** Start of the traces of tests; times of rows are milliseconds after it. */
export const traceStartNs = 1_790_000_000_000_000_000n
const project_id = '0198c0de-0000-7000-8000-0000000000aa'

type GivenRow = Partial<TraceRow> & { id: string; at: number; took: number; parent?: string }

/** A row of a trace that starts `at` and takes `took` milliseconds. */
export function rowOf({ id, at, took, parent = '', ...given }: GivenRow): TraceRow {
  const start_time = traceStartNs + BigInt(at) * 1_000_000n
  return observationOf({
    project_id,
    observation_id: id,
    parent_observation_id: parent,
    type: 'span',
    name: id,
    source: 'otlp',
    start_time,
    end_time: start_time + BigInt(took) * 1_000_000n,
    ...noUsage,
    ...given,
  })
}

/** An observation's fields if it reports no tokens and no cost. */
const noUsage = {
  input_uncached_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  output_visible_tokens: null,
  reasoning_tokens: null,
  cost_usd: null,
}

const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')
const tokens = fc.option(fc.integer({ min: 0, max: 1000 }))

/** Any trace, valid or not: cycles, orphans, repeated ids, ends before starts, several roots. */
export const anyRows: fc.Arbitrary<TraceRow[]> = fc.array(
  fc
    .record({
      id: ids,
      parent: fc.option(fc.oneof(ids, fc.constant('gone')), { nil: '' }),
      at: fc.integer({ min: 0, max: 50 }),
      took: fc.integer({ min: -5, max: 60 }),
      type: fc.constantFrom('generation', 'tool', 'agent', 'chain', 'span', 'embedding'),
      status: fc.constantFrom('ok', 'error', 'cancelled'),
      service_name: fc.constantFrom('', 'x', 'y'),
      source: fc.constantFrom('otlp', 'proxy'),
      span_kind: fc.constantFrom('', 'consumer', 'producer'),
      name: fc.constantFrom('n', 'm'),
      input_uncached_tokens: tokens,
      output_visible_tokens: tokens,
      cost_usd: fc.option(fc.constantFrom('0.5', '0.000000001', '12')),
    } as const)
    .map(rowOf),
  { maxLength: 14 },
)
