import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventRing, maxRingEvents } from './event-ring.ts'

const changes = (id: string, ids = 1) => ({
  kind: 'task' as const,
  changed: Array.from({ length: ids }, (_, at) => ({ id: `${id}.${at}` })),
  many: false,
})

/** Reads on from a position, as a stream does. */
function readFrom(ring: EventRing, position: number) {
  const seen: string[] = []
  let at = position
  for (;;) {
    const event = ring.next(at)
    if (event === undefined) return { seen, at, missed: false }
    if (event === 'missed') return { seen, at, missed: true }
    seen.push(event.changed[0]?.id ?? '')
    at = event.position
  }
}

/** A ring beside a naive model, which keeps everything. */
class RingWithModel {
  readonly ring = new EventRing()
  /** All events since the start; null where events were lost. */
  readonly all: (string | null)[] = []
  readonly noted = [{ id: this.ring.idAt(0), length: 0 }]

  add(events: number, ids: number): void {
    for (let added = 0; added < events; added += 1) {
      this.ring.add(changes(`e${this.all.length}`, ids))
      this.all.push(`e${this.all.length}.0`)
    }
  }

  skip(): void {
    this.ring.skip()
    this.all.push(null)
  }

  /** Remembers the id of the newest event, as a client does. */
  note(): void {
    this.noted.push({ id: this.ring.idAt(this.ring.last), length: this.all.length })
  }
}

test('a reader sees each later event once and in order, or learns that it missed some', () => {
  const step = fc.oneof(
    fc
      .integer({ min: 1, max: 700 })
      .map((events) => (given: RingWithModel) => given.add(events, 1)),
    fc
      .integer({ min: 1, max: 60 })
      .map((events) => (given: RingWithModel) => given.add(events, 100)),
    fc.constant((given: RingWithModel) => given.skip()),
    fc.constant((given: RingWithModel) => given.note()),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const given = new RingWithModel()
      for (const apply of steps) apply(given)
      const { ring, all, noted } = given
      expect(ring.size).toBeLessThanOrEqual(maxRingEvents)
      for (const { id, length } of noted) {
        const position = ring.positionOf(id)
        expect(position).toBe(length)
        const later = all.slice(length)
        const isKept = later.length <= ring.size && !later.includes(null)
        const { seen, missed } = readFrom(ring, position ?? -1)
        expect({ seen, missed }).toEqual({ seen: isKept ? later : [], missed: !isKept })
      }
    }),
  )
})

test('keeps 1,000 events', () => {
  const ring = new EventRing()
  for (let at = 0; at < 1_500; at += 1) ring.add(changes(`e${at}`))
  expect(readFrom(ring, 500)).toMatchObject({ missed: false, at: 1_500 })
  expect(readFrom(ring, 499)).toMatchObject({ missed: true, seen: [] })
})

test('ids of another ring, of later events and other texts have no position', () => {
  const ring = new EventRing()
  ring.add(changes('e1'))
  expect(ring.positionOf(ring.idAt(1))).toBe(1)
  const others = [ring.idAt(2), new EventRing().idAt(0), '', 'x', '-1', `${ring.idAt(1)}x`]
  for (const id of others) expect(ring.positionOf(id)).toBeUndefined()
})
