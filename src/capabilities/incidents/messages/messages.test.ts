import { describe, expect, test } from 'vitest'
import { afterAttempt, attemptDelaysMs } from './delivery.ts'
import { decideEnds, sendAt, sendable, superseded, type Waiting } from './outbox.ts'

const hour_ms = 3_600_000

describe('attempts', () => {
  const delays = (random: number) =>
    [1, 2, 3, 4, 5, 6, 7].map((attempt) => {
      const next = afterAttempt(attempt, { status: 500 }, random)
      return next.kind === 'retry' ? next.delay_ms / 1000 : next.kind
    })

  test('delays are between attempts: 5 s, 30 s, 2 m, 10 m, 1 h, 3 h, 8 h', () => {
    expect(delays(0.5)).toEqual([5, 30, 120, 600, 3600, 10_800, 28_800])
    expect(attemptDelaysMs).toHaveLength(7)
  })

  test('jitter ± 10 %', () => {
    expect(delays(0).slice(0, 3)).toEqual([4.5, 27, 108])
    expect(delays(1).slice(0, 3)).toEqual([5.5, 33, 132])
  })

  test('after the eighth attempt the message is dead', () => {
    const dead = { kind: 'dead', disables_channel: false }
    expect(afterAttempt(8, { status: 500 }, 0.5)).toEqual(dead)
    expect(afterAttempt(8, { error: 'timeout' }, 0.5)).toEqual(dead)
    expect(afterAttempt(7, { error: 'timeout' }, 0.5).kind).toBe('retry')
  })

  test.each([200, 202, 299])('%d is a delivery', (status) => {
    expect(afterAttempt(1, { status }, 0.5)).toEqual({ kind: 'delivered' })
  })

  test.each([301, 302, 408, 425, 429, 500, 503])('%d is attempted again', (status) => {
    expect(afterAttempt(1, { status }, 0.5)).toEqual({ kind: 'retry', delay_ms: 5000 })
  })

  test.each([400, 401, 404, 413])('%d is final', (status) => {
    expect(afterAttempt(1, { status }, 0.5)).toEqual({ kind: 'dead', disables_channel: false })
  })

  test('410 is final and disables the channel', () => {
    expect(afterAttempt(1, { status: 410 }, 0.5)).toEqual({ kind: 'dead', disables_channel: true })
  })

  test('`Retry-After` is honoured, capped at 8 h, and never shortens a wait', () => {
    const asked = (retry_after_s: number) => afterAttempt(1, { status: 429, retry_after_s }, 0.5)
    expect(asked(60)).toEqual({ kind: 'retry', delay_ms: 60_000 })
    expect(asked(1)).toEqual({ kind: 'retry', delay_ms: 5000 })
    expect(asked(1e12)).toEqual({ kind: 'retry', delay_ms: 8 * hour_ms })
    expect(asked(-5)).toEqual({ kind: 'retry', delay_ms: 5000 })
  })
})

describe('groups of messages', () => {
  const grouping = { wait: '30s', interval: '5m', repeat: '4h' }
  const at = (first_waiting_ms: number | null, last_sent_ms: number | null) =>
    sendAt({ first_waiting_ms, last_sent_ms }, grouping)

  test('the first message waits 30 s, later ones for the interval, resolves too', () => {
    expect(at(1000, null)).toBe(31_000)
    expect(at(40_000, 31_000)).toBe(331_000)
    expect(at(900_000, 31_000)).toBe(930_000)
    expect(at(null, 31_000)).toBeNull()
  })
})

describe('the outbox', () => {
  const message = (event_seq: number, reason: Waiting['reason'], more: Partial<Waiting> = {}) => ({
    incident: 'i',
    event_seq,
    channel: 'c',
    reason,
    attempts: 0,
    late: false,
    ...{ muted: false, announced: false },
    ...more,
  })

  test('a fresh resolve supersedes an open that was never attempted', () => {
    const [open, raised, resolve] = [
      message(1, 'opened'),
      message(2, 'raised'),
      message(3, 'resolved'),
    ]
    expect(superseded([open, raised, resolve])).toEqual([open, raised])
  })

  test('an open that was attempted, even if it timed out, is not superseded', () => {
    expect(superseded([message(1, 'opened', { attempts: 1 }), message(2, 'resolved')])).toEqual([])
  })

  test('a late opening is always sent: open, then resolved', () => {
    expect(superseded([message(1, 'opened', { late: true }), message(2, 'resolved')])).toEqual([])
  })

  test('an end that no message can have preceded tells the opening as well, or is dropped muted', () => {
    const end = message(2, 'resolved')
    expect(decideEnds([end])).toEqual({ dropped: [], joined: [end] })
    const muted = message(2, 'resolved', { muted: true })
    expect(decideEnds([muted])).toEqual({ dropped: [muted], joined: [] })
  })

  test('an end after a message that arrived, may have arrived, or is on its way is only an end', () => {
    const nothing = { dropped: [], joined: [] }
    expect(decideEnds([message(2, 'resolved', { announced: true, muted: true })])).toEqual(nothing)
    expect(decideEnds([message(2, 'resolved', { attempts: 1 })])).toEqual(nothing)
    const attempted = message(1, 'opened', { attempts: 1 })
    expect(decideEnds([attempted, message(2, 'resolved')])).toEqual(nothing)
  })

  test('other channels, other incidents and later messages are not superseded', () => {
    const waiting = [
      message(1, 'opened', { channel: 'other' }),
      message(1, 'opened', { incident: 'other' }),
      message(2, 'resolved'),
      message(3, 'reopened'),
    ]
    expect(superseded(waiting)).toEqual([])
  })

  test('the order per incident and channel is kept while an attempt is repeated', () => {
    const waiting = [
      message(3, 'resolved'),
      message(1, 'opened', { attempts: 2 }),
      message(3, 'resolved', { channel: 'other' }),
    ]
    expect(sendable(waiting)).toEqual([waiting[1], waiting[2]])
  })
})
