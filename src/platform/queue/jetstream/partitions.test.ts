import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DeadLetter } from '../contract.ts'
import { mergeDeadLetters, positionIn } from './partitioned-queue.ts'
import { countPartitions, partitionOf, partitionPrefix } from './partitions.ts'

test('the first partition has the names of a queue without partitions', () => {
  expect([0, 1, 12].map((at) => partitionPrefix('own', at))).toEqual(['own', 'own-p1', 'own-p12'])
  expect(countPartitions([], 'own')).toBe(1)
  expect(
    countPartitions(['own_queue', 'own-p2_queue', 'own-p7_dead', 'other-p9_queue'], 'own'),
  ).toBe(3)
})

test('a project has one partition for all kinds, and projects are spread evenly', () => {
  const counts = new Array<number>(7).fill(0)
  for (let at = 0; at < 7_000; at += 1) {
    const project = randomUUID()
    const partition = partitionOf(`ingest.${project}`, 7)
    expect(partitionOf(`ledger.${project}`, 7)).toBe(partition)
    expect(partitionOf(`ledger.${project}`, 1)).toBe(0)
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  // 1,000 each; seven standard deviations are 205.
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(205)
})

test('pages of merged dead letters are what one sorted list gives', () => {
  const lists = fc.array(fc.array(fc.nat(50), { maxLength: 12 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 7 }), (given, limit) => {
      const parts = given.map((times, part) =>
        times
          .toSorted((a, b) => a - b)
          .map((time, at) => letter(`${part}.${at}`, time, String(at + 1))),
      )
      const pages: DeadLetter[] = []
      for (let after: string | undefined; ; after = pages.at(-1)?.position) {
        const rest = parts.map((list, at) => list.filter((one) => isAfter(one, after, at)))
        const page = mergeDeadLetters(
          rest.map((list) => list.slice(0, limit)),
          limit,
        )
        if (page.length === 0) break
        pages.push(...page)
      }
      const naive = parts.flat().toSorted((a, b) => (a.buried_at < b.buried_at ? -1 : 1))
      expect(pages.map(({ buried_at }) => buried_at)).toEqual(
        naive.map(({ buried_at }) => buried_at),
      )
      expect(new Set(pages.map(({ id }) => id)).size).toBe(naive.length)
    }),
  )
})

/** Whether a partition lists a letter after a position, as the server does. */
function isAfter({ position, buried_at }: DeadLetter, after: string | undefined, at: number) {
  if (after === undefined) return true
  const start = positionIn(after, at)
  return start.startsWith('@') ? buried_at >= start.slice(1) : Number(position) > Number(start)
}

function letter(id: string, time: number, position: string): DeadLetter {
  const buried_at = new Date(time).toISOString()
  return { id, subject: 'ingest.a', reason: '', attempts: 1, buried_at, bytes: 1, position }
}
