import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../test/support/suite/budget.ts'
import { newId } from '../../kernel/ids.ts'
import { systemClock } from '../../kernel/time.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { OutgoingMessage } from '../../platform/queue/index.ts'
import { createLogger, createMetrics } from '../../platform/telemetry/index.ts'
import { acceptedEntry, lostEntry, rejectedEntry } from './ledger-entries.ts'
import { createLedgerReporter, type LedgerReporterOptions } from './report.ts'

const projects = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002']

function requestOf(project = 0) {
  const project_id = projects[project] ?? ''
  const received_at_ms = 1_790_000_000_000
  return { project_id, ingest_request_id: newId(), path: 'proxy', received_at_ms } as const
}

/** A reporter whose messages are kept by id, as a queue with deduplication does. */
function reporterOf(options: Partial<LedgerReporterOptions> = {}) {
  const stored = new Map<string, OutgoingMessage>()
  const metrics = createMetrics()
  const reporter = createLedgerReporter({
    publish: async (message) => {
      stored.set(message.id, message)
    },
    newId,
    clock: systemClock,
    metrics,
    logger: createLogger({ role: 'test', level: 'silent' }),
    interval_ms: 60_000,
    ...options,
  })
  return { reporter, stored, metrics, entries: () => [...stored.values()].flatMap(entriesOf) }
}

function entriesOf({ subject, data }: OutgoingMessage): LedgerEntry[] {
  const { entries } = JSON.parse(Buffer.from(data).toString()) as { entries: LedgerEntry[] }
  for (const { project_id } of entries) expect(subject).toBe(`ledger.${project_id}`)
  return entries
}

const byId = (entries: readonly LedgerEntry[]) =>
  entries.map((entry) => JSON.stringify(entry, Object.keys(entry).sort())).sort()

test('accepted, rejected and lost items are published unchanged, one message per project', async () => {
  const { reporter, stored, entries } = reporterOf()
  const told = [
    acceptedEntry(requestOf(), newId(), 1),
    acceptedEntry(requestOf(1), newId(), 7, 2),
    acceptedEntry({ ...requestOf(), ingest_request_id: 'a "quoted" id' }, newId(), 1),
    rejectedEntry(requestOf(), { sampled: 3, capture_off: 1 }),
    lostEntry(requestOf(), { inflight_full: 1 }),
  ]
  reporter.accepted(told)
  await reporter.flush()
  expect(stored.size).toBe(2)
  expect(byId(entries())).toEqual(byId(told))
  expect(told.map(({ items }) => items)).toEqual([1, 7, 1, 4, 1])
})

test('it publishes by itself', async () => {
  const published = Promise.withResolvers<OutgoingMessage>()
  const { reporter } = reporterOf({ interval_ms: 5, publish: async (m) => published.resolve(m) })
  reporter.accepted([acceptedEntry(requestOf(), newId(), 1)])
  expect(entriesOf(await published.promise)).toHaveLength(1)
})

test('no message exceeds 256 KiB, and no entry is left out', async () => {
  const { reporter, stored, entries } = reporterOf()
  const told = Array.from({ length: 5_000 }, () => acceptedEntry(requestOf(), newId(), 1))
  reporter.accepted(told)
  await reporter.flush()
  expect(stored.size).toBeGreaterThan(5)
  for (const { data } of stored.values()) expect(data.length).toBeLessThanOrEqual(256 * 1024)
  expect(byId(entries())).toEqual(byId(told))
})

test('items are counted by project, path and outcome', async () => {
  const { reporter, metrics } = reporterOf()
  reporter.accepted([
    acceptedEntry(requestOf(), newId(), 2, 1),
    acceptedEntry(requestOf(), newId(), 3),
    rejectedEntry(requestOf(), { sampled: 4 }),
    lostEntry(requestOf(1), { not_published: 5 }),
  ])
  const { body } = await metrics.expose()
  const lines = body.split('\n').filter((line) => line.startsWith('looptrace_ledger_items_total{'))
  const label = (project: number, outcome: string, reason: string) =>
    `looptrace_ledger_items_total{project="${projects[project]}",path="proxy",outcome="${outcome}",reason="${reason}"}`
  expect(lines.sort()).toEqual(
    [
      `${label(0, 'accepted', '')} 9`,
      `${label(0, 'masked', '')} 1`,
      `${label(0, 'rejected', 'sampled')} 4`,
      `${label(1, 'accepted', '')} 5`,
      `${label(1, 'lost', 'not_published')} 5`,
    ].sort(),
  )
})

test('beyond twenty projects the others share a label', async () => {
  const { reporter, metrics } = reporterOf()
  for (let i = 0; i < 30; i += 1) {
    reporter.accepted([acceptedEntry({ ...requestOf(), project_id: `p${i}` }, newId(), 1)])
  }
  const { body } = await metrics.expose()
  const lines = body.split('\n').filter((line) => line.startsWith('looptrace_ledger_items_total{'))
  expect(lines).toHaveLength(21)
  expect(lines.at(-1)).toMatch(/project="other".* 10$/)
})

describe('while queue and spool are unavailable', () => {
  const away = { publish: () => Promise.reject(new Error('away')) }

  test('items that only the edge knows are kept, merged', async () => {
    let isAway = true
    const stored: OutgoingMessage[] = []
    const { reporter, metrics } = reporterOf({
      entries_max: 100,
      publish: async (message) => {
        if (isAway) throw new Error('away')
        stored.push(message)
      },
    })
    for (let i = 0; i < 1_000; i += 1) {
      reporter.accepted([
        lostEntry(requestOf(i % 2), { not_published: 1 }),
        rejectedEntry(requestOf(i % 2), { sampled: 1 }),
      ])
      if (i === 500) await reporter.flush()
    }
    isAway = false
    await reporter.flush()
    const entries = stored.flatMap(entriesOf)
    expect(entries.length).toBeLessThan(400)
    const sum = (of: (entry: LedgerEntry) => number | undefined) =>
      entries.reduce((total, entry) => total + (of(entry) ?? 0), 0)
    expect(sum(({ items }) => items)).toBe(2_000)
    expect(sum(({ lost }) => lost['not_published'])).toBe(1_000)
    expect(sum(({ rejected }) => rejected['sampled'])).toBe(1_000)
    expect((await metrics.expose()).body).toContain('looptrace_ledger_entries_dropped_total 0')
  })

  test('the oldest entries with messages are dropped first and counted, and memory is bounded', async () => {
    const { reporter, metrics } = reporterOf({ ...away, entries_max: 100 })
    for (let i = 0; i < 1_000; i += 1) reporter.accepted([acceptedEntry(requestOf(), newId(), 1)])
    const { body } = await metrics.expose()
    const metric = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1])
    const pending = metric('looptrace_ledger_entries_pending')
    expect(pending).toBeLessThanOrEqual(100)
    expect(metric('looptrace_ledger_entries_dropped_total')).toBe(1_000 - pending)
  })
})

test('with any failures, each entry is published once or stays pending', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(40), { minLength: 1, maxLength: 12 }),
      fc.array(fc.constantFrom('taken', 'refused', 'taken and not reported'), { minLength: 1 }),
      async (batches, fates) => {
        let at = 0
        const stored = new Map<string, OutgoingMessage>()
        let isOver = false
        const { reporter } = reporterOf({
          publish: async (message) => {
            const fate = isOver ? 'taken' : fates[at++ % fates.length]
            if (fate !== 'refused') stored.set(message.id, message)
            if (fate !== 'taken') throw new Error('away')
          },
        })
        const told: LedgerEntry[] = []
        for (const size of batches) {
          const entries = Array.from({ length: size }, (_, i) =>
            i % 5 === 0
              ? lostEntry(requestOf(i % 2), { not_published: 1 })
              : acceptedEntry(requestOf(i % 2), newId(), 1),
          )
          told.push(...entries)
          reporter.accepted(entries)
          await Promise.all([reporter.flush(), reporter.flush()])
        }
        isOver = true
        await reporter.close()
        expect(byId([...stored.values()].flatMap(entriesOf))).toEqual(byId(told))
      },
    ),
    { numRuns: fuzzRuns(60) },
  )
})
