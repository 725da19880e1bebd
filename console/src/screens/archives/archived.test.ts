import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ArchiveRun } from '../../api/schema.gen.d.ts'
import { archivedSpans } from './archived.ts'

const kinds = ['observations', 'traces', 'events', 'links', 'correlations'] as const
const hour_ms = 3_600_000
const at = (hour: number) => new Date(hour * hour_ms).toISOString()
const run = fc.record({
  from: fc.nat(60),
  hours: fc.integer({ min: 1, max: 12 }),
  state: fc.constantFrom('succeeded', 'failed', 'running'),
  isWhole: fc.boolean(),
  isFiltered: fc.boolean(),
})

test('an hour is in a span exactly if one whole, verified archive has it', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 8 }), (all) => {
      const runs = all.map(({ from, hours, state, isWhole, isFiltered }) => ({
        state,
        window: { from: at(from), to: at(from + hours) },
        kinds: isWhole ? kinds : kinds.slice(1),
        where: isFiltered ? { field: 'source', op: 'eq', value: 'otlp' } : null,
        result: state === 'succeeded' ? { rows: 1 } : null,
      })) as unknown as ArchiveRun[]
      const spans = archivedSpans(runs)
      for (let hour = 0; hour < 75; hour += 1) {
        const wanted = all.some(
          (each) =>
            each.state === 'succeeded' &&
            each.isWhole &&
            !each.isFiltered &&
            hour >= each.from &&
            hour < each.from + each.hours,
        )
        expect(spans.some(({ from, to }) => at(hour) >= from && at(hour) < to)).toBe(wanted)
      }
      for (const [index, { to }] of spans.entries()) {
        const next = spans[index + 1]
        if (next !== undefined) expect(to < next.from).toBe(true)
      }
    }),
  )
})
