import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../../../test/support/eventually.ts'
import { plainFacts } from '../../../../../test/support/exchange-facts.ts'
import { newId } from '../../../../kernel/ids.ts'
import { systemClock } from '../../../../kernel/time.ts'
import type { Exchange, ExchangeFacts } from '../../../../model/exchange.ts'
import { decodeFrame } from '../../../../model/exchange-frame.ts'
import type { LedgerEntry } from '../../../../model/ledger-entry.ts'
import { absentJournal, type Journal, openJournal } from '../../../../platform/journal/index.ts'
import { MessageTooLarge, type OutgoingMessage } from '../../../../platform/queue/index.ts'
import { createLogger, createMetrics } from '../../../../platform/telemetry/index.ts'
import { compilePolicy } from '../../../records/capture/index.ts'
import { createRecorder, frameLimits, type RecorderOptions } from './recorder.ts'

let parent: string

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'looptrace-call-journal-'))
})

afterAll(() => rm(parent, { recursive: true }))

const project_id = '01900000-0000-7000-8000-000000000001'
const decompressed_bytes_max = 64 * 1024 * 1024

function exchangeOf(marker: string, bytes = 100): Exchange {
  const facts: ExchangeFacts = {
    ...plainFacts,
    ingest_request_id: newId(),
    project_id,
    trace_id: newId(),
    request_bytes: bytes,
    response_bytes: 2,
    task_id: marker,
  }
  return { facts, request: Buffer.alloc(bytes, marker), response: Buffer.from('{}') }
}

const open = (folder: string): Promise<Journal> =>
  openJournal({ folder, bytes_max: 100_000_000, onFault: () => undefined })

function recorderOf(options: Partial<RecorderOptions>) {
  const messages: OutgoingMessage[] = []
  const entries: LedgerEntry[] = []
  const metrics = createMetrics()
  const recorder = createRecorder({
    publish: async (message) => {
      messages.push({ ...message, data: Buffer.from(message.data) })
    },
    ...frameLimits,
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 64 * 1024 * 1024,
    clock: systemClock,
    newId,
    metrics,
    logger: createLogger({ role: 'test', level: 'silent' }),
    retry: { attempts_max: 1, delay_ms: 1 },
    onAccepted: (more) => entries.push(...more),
    ...options,
  })
  const exchanges = () => messages.flatMap(({ data }) => decodeFrame(data, decompressed_bytes_max))
  return { recorder, messages, entries, exchanges, metrics }
}

/** The calls that a process finds which starts after a kill at this moment. */
async function leftIn(folder: string): Promise<Exchange[]> {
  const journal = await open(await copyOf(folder))
  const left = journal.left.flatMap(({ data }) => decodeFrame(data, decompressed_bytes_max))
  journal.close()
  return left
}

/** Copies a folder, again if a file was deleted meanwhile. */
async function copyOf(folder: string): Promise<string> {
  const copy = join(await mkdtemp(join(parent, 'copy-')), 'journal')
  try {
    await cp(folder, copy, { recursive: true })
    return copy
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return copyOf(folder)
    throw error
  }
}

const markersOf = (exchanges: readonly Exchange[]) => exchanges.map(({ facts }) => facts.task_id)

test('when an answer may end, its record is on the disk; the calls of a turn share a write', async () => {
  const folder = join(parent, 'written')
  const journal = await open(folder)
  // The queue never answers.
  const { recorder, metrics } = recorderOf({ journal, publish: () => new Promise(() => undefined) })
  const sizes = [100, 60_000, 60_000, 60_000, 400_000]
  const written: string[] = []
  const sent = sizes.map((bytes, at) => exchangeOf(`call ${at}`, bytes))
  const ended = Promise.withResolvers<void>()
  for (const exchange of sent) {
    recorder.record(exchange, () => {
      written.push(exchange.facts.task_id)
      if (written.length === sizes.length) ended.resolve()
    })
  }
  expect(written).toEqual([])
  await ended.promise
  expect(written).toEqual(markersOf(sent))
  const left = await leftIn(folder)
  expect(markersOf(left).toSorted()).toEqual(markersOf(sent))
  for (const { facts, request } of sent) {
    const found = left.find((one) => one.facts.task_id === facts.task_id)
    expect(found?.facts).toEqual(facts)
    expect(Buffer.from(found?.request ?? []).equals(request)).toBe(true)
  }
  expect((await metrics.expose()).body).toContain(
    'looptrace_proxy_journal_records_total{result="written",reason=""} 5',
  )
  journal.close()
})

test('what the queue has is not left; the rest is published by the next process, under its id', async () => {
  const folder = join(parent, 'recovered')
  const killed = await open(folder)
  const answered = Promise.withResolvers<void>()
  const ids: string[] = []
  let isAway = false
  const first = recorderOf({
    journal: killed,
    publish: async ({ id }) => {
      // The queue has the message, and its answer never comes.
      ids.push(id)
      if (isAway) await new Promise(() => undefined)
    },
  })
  first.recorder.record(exchangeOf('settled'), () => undefined)
  await first.recorder.flush()
  isAway = true
  first.recorder.record(exchangeOf('sent'), () => undefined)
  await eventually('it is sent', () => ids.length === 2)
  first.recorder.record(exchangeOf('open'), () => undefined)
  first.recorder.record(exchangeOf('large', 2_000_000), () => answered.resolve())
  await answered.promise
  killed.close()

  const second = recorderOf({ journal: await open(folder) })
  await eventually('all are published', () => second.exchanges().length === 3)
  expect(markersOf(second.exchanges()).toSorted()).toEqual(['large', 'open', 'sent'])
  const again = second.messages.find(({ data }) => {
    const [exchange] = decodeFrame(data, decompressed_bytes_max)
    return exchange?.facts.task_id === 'sent'
  })
  expect(again?.id).toBe(ids[1])
  for (const { data } of second.messages) expect(data.length).toBeLessThan(1024 * 1024)
  const accepted = second.entries.map(({ message_id }) => message_id)
  expect(accepted.toSorted()).toEqual(second.messages.map(({ id }) => id).toSorted())
  expect(second.recorder.stats()).toMatchObject({ seen: 0, published: 0 })
  await eventually('they are forgotten', async () => (await leftIn(folder)).length === 0)
  expect((await second.metrics.expose()).body).toContain(
    'looptrace_proxy_journal_recovered_total{result="published"} 3',
  )
  await second.recorder.close()
})

test('while neither queue nor spool accepts them, recovered calls stay in the journal', async () => {
  const folder = join(parent, 'stays')
  const killed = await open(folder)
  const first = recorderOf({ journal: killed, publish: () => new Promise(() => undefined) })
  const answered = Promise.withResolvers<void>()
  first.recorder.record(exchangeOf('one'), () => answered.resolve())
  await answered.promise
  killed.close()
  let tries = 0
  const journal = await open(folder)
  const second = recorderOf({
    journal,
    publish: async () => {
      tries += 1
      throw new Error('away')
    },
  })
  await eventually('it is tried', () => tries > 0)
  await second.recorder.close()
  journal.close()
  expect(markersOf(await leftIn(folder))).toEqual(['one'])
})

test('calls of a project whose policy leaves something out are never in the journal', async () => {
  const folder = join(parent, 'policy')
  const journal = await open(folder)
  const policy = compilePolicy({ content: 'metadata_only', sample_rate: 1, masks: [] })
  const { recorder, metrics } = recorderOf({
    journal,
    capture: {
      policyOf: () => policy,
      take: () => new Promise(() => undefined),
    },
  })
  const answered = Promise.withResolvers<void>()
  recorder.record(exchangeOf('secret'), () => answered.resolve())
  await answered.promise
  expect(await leftIn(folder)).toEqual([])
  expect((await metrics.expose()).body).toContain(
    'looptrace_proxy_journal_records_total{result="skipped",reason="policy"} 1',
  )
  journal.close()
})

test('a policy that changed before the next start holds for what is recovered', async () => {
  const folder = join(parent, 'changed')
  const killed = await open(folder)
  const first = recorderOf({ journal: killed, publish: () => new Promise(() => undefined) })
  const answered = Promise.withResolvers<void>()
  first.recorder.record(exchangeOf('one'), () => undefined)
  first.recorder.record(exchangeOf('two'), () => answered.resolve())
  await answered.promise
  killed.close()
  const taken: string[] = []
  const second = recorderOf({
    journal: await open(folder),
    capture: {
      policyOf: async () => compilePolicy({ content: 'metadata_only', sample_rate: 1, masks: [] }),
      take: async ({ facts }) => {
        taken.push(facts.task_id)
        return facts.task_id === 'one'
          ? { state: 'published' }
          : { state: 'refused', reason: 'sampled' }
      },
    },
  })
  await eventually('both are taken', () => taken.length === 2)
  await eventually('they are forgotten', async () => (await leftIn(folder)).length === 0)
  expect(second.messages).toEqual([])
  expect(second.entries.map(({ rejected }) => rejected)).toEqual([{ sampled: 1 }])
})

test.each([
  ['by the bound of this process', { message_bytes_max: 1 }],
  [
    'for the queue, which has become smaller',
    { publish: () => Promise.reject(new MessageTooLarge('no')) },
  ],
])(
  'calls that are too large %s are lost in the ledger, and not published',
  async (how, options) => {
    const folder = join(parent, how)
    const killed = await open(folder)
    const first = recorderOf({ journal: killed, publish: () => new Promise(() => undefined) })
    const answered = Promise.withResolvers<void>()
    first.recorder.record(exchangeOf('one'), () => undefined)
    first.recorder.record(exchangeOf('two'), () => answered.resolve())
    await answered.promise
    killed.close()
    const second = recorderOf({ journal: await open(folder), ...options })
    await eventually('they are forgotten', async () => (await leftIn(folder)).length === 0)
    const metrics = (await second.metrics.expose()).body
    expect(metrics).toContain('looptrace_proxy_journal_recovered_total{result="too_large"} 2')
    expect(metrics).not.toContain('looptrace_proxy_journal_recovered_total{result="published"}')
    expect(second.entries).toHaveLength(2)
    for (const entry of second.entries) {
      expect(entry).toMatchObject({ items: 1, lost: { too_large: 1 }, message_id: '' })
    }
  },
)

test('recovered calls keep their content: they wait while their policy cannot be read', async () => {
  const folder = join(parent, 'unknown')
  const killed = await open(folder)
  const first = recorderOf({ journal: killed, publish: () => new Promise(() => undefined) })
  const answered = Promise.withResolvers<void>()
  first.recorder.record(exchangeOf('one'), () => answered.resolve())
  await answered.promise
  killed.close()
  let reads = 0
  const second = recorderOf({
    journal: await open(folder),
    capture: {
      policyOf: async () => {
        reads += 1
        const isKnown = reads > 1
        const known = compilePolicy({ content: 'full', sample_rate: 1, masks: [] })
        return isKnown ? known : { ...known, keeps_all: false, is_unknown: true }
      },
      take: () => Promise.reject(new Error('it must not be taken without its policy')),
    },
  })
  await eventually('it is published', () => second.exchanges().length === 1)
  expect(reads).toBe(2)
  expect(second.exchanges()[0]?.request).toHaveLength(100)
})

test('answers end, and calls are recorded, when the journal fails', async () => {
  const journal: Journal = { ...absentJournal, isKept: true, write: () => 'failed' }
  const { recorder, exchanges, metrics } = recorderOf({ journal })
  const answered = Promise.withResolvers<void>()
  recorder.record(exchangeOf('one'), () => answered.resolve())
  await answered.promise
  await recorder.flush()
  expect(markersOf(exchanges())).toEqual(['one'])
  expect((await metrics.expose()).body).toContain(
    'looptrace_proxy_journal_records_total{result="skipped",reason="failed"} 1',
  )
})
