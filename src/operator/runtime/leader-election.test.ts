import { expect, test } from 'vitest'
import { type ManualTiming, manualTiming } from '../../../test/support/manual-timing.ts'
import { createLogger } from '../../platform/telemetry/index.ts'
import { createLeaderElection, type LeaderElection } from './leader-election.ts'
import type { LeaseRecord, SeenLease } from './lease.ts'

const settings = { lease_ms: 15_000, renew_deadline_ms: 10_000, retry_ms: 2_000 }
const logger = createLogger({ role: 'test', level: 'silent' })

/** A Lease in memory; as in the API server, a write of an old version is refused. */
function leaseInMemory() {
  let lease: SeenLease | undefined
  let fault: 'none' | 'refused' | 'silent' = 'none'
  let version = 0
  const write = (spec: SeenLease['spec']): SeenLease => {
    version += 1
    lease = { resource_version: String(version), uid: 'uid', spec }
    return lease
  }
  const answered = async <T>(work: () => T): Promise<T> => {
    if (fault === 'refused') throw new Error('refused')
    if (fault === 'silent') return new Promise<T>(() => undefined)
    return work()
  }
  const record: LeaseRecord = {
    read: () => answered(() => lease),
    create: (spec) => answered(() => (lease === undefined ? write(spec) : undefined)),
    replace: (seen, spec) =>
      answered(() => (lease?.resource_version === seen.resource_version ? write(spec) : undefined)),
  }
  return {
    record,
    spec: () => lease?.spec,
    write,
    be: (next: typeof fault) => {
      fault = next
    },
  }
}

function candidate(identity: string, record: LeaseRecord, timing: ManualTiming) {
  const election: LeaderElection = createLeaderElection({
    ...{ record, identity, settings, timing, logger },
  })
  const stop = new AbortController()
  const state = { led: 0, ended: undefined as string | undefined }
  const done = election
    .run(() => {
      state.led += 1
    }, stop.signal)
    .then(
      () => {
        state.ended = 'stopped'
      },
      (error: Error) => {
        state.ended = error.message
      },
    )
  const end = async () => {
    stop.abort()
    await done
    await election.release()
  }
  return { election, state, end }
}

test('the first process acquires a free Lease and keeps it', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  expect(lease.spec()).toMatchObject({
    ...{ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 },
    renewTime: '2026-01-01T00:00:00.000000Z',
  })
  await timing.advance(60_000)
  expect(a.state).toEqual({ led: 1, ended: undefined })
  expect(a.election.isLeader()).toBe(true)
  expect(lease.spec()?.renewTime).toBe('2026-01-01T00:01:00.000000Z')
  expect(lease.spec()?.acquireTime).toBe('2026-01-01T00:00:00.000000Z')
})

test('another process waits while the Lease is renewed, and takes it over when it expires', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  const b = candidate('b', lease.record, timing)
  await timing.advance(120_000)
  expect([a.state.led, b.state.led]).toEqual([1, 0])
  lease.be('refused')
  await timing.advance(12_000)
  expect(a.state.ended).toBe('the Lease was not renewed in time')
  expect(a.election.isLeader()).toBe(false)
  lease.be('none')
  await timing.advance(2_000)
  expect(b.state.led).toBe(0)
  await timing.advance(4_000)
  expect(b.state.led).toBe(1)
  expect(lease.spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
})

test('a Lease that expired long ago is still observed first, because clocks may differ', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  lease.write({ holderIdentity: 'gone', renewTime: '2020-01-01T00:00:00.000000Z' })
  const a = candidate('a', lease.record, timing)
  await timing.advance(14_000)
  expect(a.state.led).toBe(0)
  await timing.advance(2_000)
  expect(a.state.led).toBe(1)
})

test('a released Lease is acquired at the next attempt', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  const b = candidate('b', lease.record, timing)
  await timing.advance(5_000)
  await a.end()
  expect(a.state.ended).toBe('stopped')
  expect(lease.spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 })
  await timing.advance(2_000)
  expect(b.state.led).toBe(1)
})

test('a process suspended past its deadline is not a leader when it resumes', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  lease.be('silent')
  await timing.advance(9_999)
  expect(a.election.isLeader()).toBe(true)
  await timing.advance(1)
  expect(a.election.isLeader()).toBe(false)
  await timing.advance(6_000)
  expect(a.state.ended).toBe('the Lease was not renewed in time')
})

test('a single hanging request does not lose the Lease', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  lease.be('silent')
  await timing.advance(2_000)
  lease.be('none')
  await timing.advance(30_000)
  expect(a.state.ended).toBeUndefined()
  expect(a.election.isLeader()).toBe(true)
})

test('a leader whose Lease was taken over ends at once', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  lease.write({ holderIdentity: 'thief' })
  await timing.advance(2_000)
  expect(a.state.ended).toBe('another process holds the Lease')
})

test('a leader whose renewal was written but not answered keeps the Lease', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  const a = candidate('a', lease.record, timing)
  await timing.advance(0)
  lease.write({ ...lease.spec(), renewTime: 'written by us, never heard of' })
  await timing.advance(10_000)
  expect(a.state.ended).toBeUndefined()
  expect(lease.spec()?.holderIdentity).toBe('a')
})

test('a process that never led releases nothing', async () => {
  const [lease, timing] = [leaseInMemory(), manualTiming()]
  lease.write({ holderIdentity: 'other' })
  const a = candidate('a', lease.record, timing)
  await timing.advance(4_000)
  await a.end()
  expect(lease.spec()).toEqual({ holderIdentity: 'other' })
  expect(a.state).toEqual({ led: 0, ended: 'stopped' })
})
