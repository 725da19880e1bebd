import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planClaim, type WaitingRow } from './plan-claim.ts'

const grouping = { wait: '30s', interval: '5m', repeat: '4h' }
let ids = 0
const row = (more: Partial<WaitingRow> = {}): WaitingRow => {
  ids += 1
  return {
    ...{ id: `m${ids}`, incident: `i${ids}`, event_seq: 1, channel: 'c', reason: 'opened' },
    ...{ rule_name: 'r', grouping, attempts: 0, late: false, released: false },
    ...{ muted: false, announced: false },
    ...{ created_ms: 0, next_attempt_ms: 0 },
    ...more,
  }
}
const plan = (rows: WaitingRow[], now_s: number, last_sent_s?: number) =>
  planClaim(rows, new Map(last_sent_s === undefined ? [] : [['r', last_sent_s * 1000]]), {
    ...{ now_ms: now_s * 1000, messages_max: 50 },
  })
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

describe('a plan', () => {
  test('holds the first message for `wait`, and later ones for `interval`', () => {
    const first = row()
    expect(plan([first], 29)).toMatchObject({ claimed: [], deferred: [{ until_ms: 30_000 }] })
    expect(idsOf(plan([first], 30).claimed)).toEqual([first.id])
    expect(plan([first], 299, 0).deferred).toEqual([{ id: first.id, until_ms: 300_000 }])
    expect(idsOf(plan([first], 300, 0).claimed)).toEqual([first.id])
  })

  test('a later message joins the group without a wait of its own', () => {
    const rows = [row(), row({ created_ms: 29_000 })]
    expect(idsOf(plan(rows, 30).claimed)).toEqual(idsOf(rows))
  })

  test('a released or repeated message does not wait for the group', () => {
    const rows = [row({ released: true }), row({ attempts: 1, next_attempt_ms: 5000 })]
    expect(idsOf(plan(rows, 4, 0).claimed)).toEqual([rows[0]?.id])
    expect(idsOf(plan(rows, 5, 0).claimed)).toEqual(idsOf(rows))
  })

  test('a message behind an older one of its incident is due when that one is', () => {
    const head = row({ incident: 'i', attempts: 3, next_attempt_ms: 600_000 })
    const next = row({ incident: 'i', event_seq: 2, reason: 'resolved' })
    expect(plan([head, next], 60).deferred).toEqual([
      { id: head.id, until_ms: 600_000 },
      { id: next.id, until_ms: 600_000 },
    ])
  })
})

const arbitraryRow = fc
  .record({
    incident: fc.constantFrom('a', 'b', 'c'),
    event_seq: fc.integer({ min: 1, max: 5 }),
    reason: fc.constantFrom('opened', 'raised', 'resolved', 'reopened'),
    rule_name: fc.constantFrom('r', 's'),
    attempts: fc.integer({ min: 0, max: 2 }),
    late: fc.boolean(),
    muted: fc.boolean(),
    announced: fc.boolean(),
    released: fc.boolean(),
    created_ms: fc.integer({ min: 0, max: 100_000 }),
    next_attempt_ms: fc.integer({ min: 0, max: 100_000 }),
  })
  .map((fields) => row(fields as Partial<WaitingRow>))

const arbitraryRows = fc.uniqueArray(arbitraryRow, {
  selector: ({ incident, event_seq }) => `${incident} ${event_seq}`,
  maxLength: 15,
})

test('any plan keeps the order of an incident, one rule per attempt, and makes progress', () => {
  fc.assert(
    fc.property(arbitraryRows, fc.integer({ min: 0, max: 500 }), (rows, now_s) => {
      const result = plan(rows, now_s)
      const claimed = new Set(idsOf(result.claimed))
      expect(new Set(result.claimed.map(({ rule_name }) => rule_name)).size).toBeLessThan(2)
      for (const one of result.claimed) {
        const older = rows.filter(
          (other) => other.incident === one.incident && other.event_seq < one.event_seq,
        )
        expect(older.every(({ id }) => result.superseded.includes(id))).toBe(true)
      }
      for (const id of result.superseded) {
        const dropped = rows.find((one) => one.id === id)
        expect(dropped?.attempts).toBe(0)
        expect(dropped?.late === true && dropped.reason !== 'resolved').toBe(false)
        expect(claimed.has(id)).toBe(false)
      }
      for (const id of result.joined) {
        const end = rows.find((one) => one.id === id)
        expect(end).toMatchObject({
          reason: 'resolved',
          attempts: 0,
          announced: false,
          muted: false,
        })
      }
      // Otherwise a channel would be polled for ever without an attempt.
      const waits = new Set(idsOf(result.deferred))
      const rest = rows.filter(({ id }) => !result.superseded.includes(id))
      if (claimed.size === 0) expect(rest.every(({ id }) => waits.has(id))).toBe(true)
    }),
  )
})
