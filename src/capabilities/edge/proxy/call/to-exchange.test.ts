import { describe, expect, test } from 'vitest'
import { isFinal } from './to-exchange.ts'

const now_s = 1_790_000_000
const day_s = 24 * 60 * 60
const facts = {
  endpoint: 'responses.retrieve',
  outcome: 'complete',
  streamed: false,
  content_state: 'full',
  start_time: `${now_s}000000000`,
} as const
const streamed = { ...facts, streamed: true }
const interaction = { ...facts, endpoint: 'interactions.retrieve' } as const

/** A response as the API writes it: its members in the order of the alphabet. */
function response(status: string, { age_s = 60, text = '' } = {}): string {
  const output = [{ id: 'msg_1', type: 'message', status: 'completed', content: [{ text }] }]
  const head = { background: true, created_at: now_s - age_s, id: 'resp_1' }
  return JSON.stringify({ ...head, object: 'response', output, status })
}

function stream(age_s: number, text = ''): string {
  const event = { type: 'response.completed', response: {} }
  const started = `event: response.in_progress\ndata: {"type":"response.in_progress"}\n\n`
  const ended = JSON.stringify(event).replace('{}', response('completed', { age_s, text }))
  return `${started}event: response.completed\ndata: ${ended}\n\n`
}

const at = (answer: string, of: Parameters<typeof isFinal>[1], isStreamEnded = false) =>
  isFinal(Buffer.from(answer), of, isStreamEnded)

describe('a response of an hour ago is final, one of days ago was recorded before', () => {
  const long = 'x'.repeat(300 * 1024)
  test.each([
    ['short', (age_s: number) => at(response('completed', { age_s }), facts)],
    ['long', (age_s: number) => at(response('completed', { age_s, text: long }), facts)],
    ['streamed', (age_s: number) => at(stream(age_s), streamed, true)],
    [
      'cut',
      (age_s: number) =>
        at(response('completed', { age_s }).slice(0, 90), { ...facts, content_state: 'truncated' }),
    ],
    [
      'an interaction',
      (age_s: number) => {
        const created = new Date((now_s - age_s) * 1000).toISOString()
        return at(JSON.stringify({ id: 'v1_1', status: 'completed', created }), interaction)
      },
    ],
    [
      'a streamed interaction',
      (age_s: number) => {
        const created = new Date((now_s - age_s) * 1000).toISOString()
        const event = { interaction: { id: 'v1_1', status: 'completed', created } }
        const text = `event: interaction.completed\ndata: ${JSON.stringify(event)}\n\nevent: done\ndata: [DONE]\n\n`
        return at(text, { ...interaction, streamed: true }, true)
      },
    ],
  ])('%s', (_name, isFinalAt) => {
    expect([60 * 60, day_s, day_s + 60].map(isFinalAt)).toEqual([true, true, false])
  })
})

describe('a capture that was cut', () => {
  const cut = { ...facts, content_state: 'truncated' } as const

  test('is final, unless it says that the work still runs', () => {
    const kept = (status: string) => {
      const whole = response(status, { text: 'x'.repeat(9_000) })
      return at(whole.slice(0, 4_000) + whole.slice(-200), cut)
    }
    expect(['completed', 'failed', 'cancelled', 'queued', 'in_progress'].map(kept)).toEqual([
      ...[true, true, true],
      ...[false, false],
    ])
  })

  test('of a stream is final, because its last event may be longer than its kept end', () => {
    const whole = stream(60, 'x'.repeat(90_000))
    const kept = whole.slice(0, 200) + whole.slice(-64 * 1024)
    expect(at(kept, { ...streamed, content_state: 'truncated' })).toBe(true)
    expect(at(kept, { ...cut, streamed: true, outcome: 'upstream_cut' })).toBe(false)
  })
})

test('a stream whose last event is longer than its end that is read for it is final', () => {
  expect(at(stream(60, 'x'.repeat(1_100_000)), streamed, false)).toBe(true)
})

test('texts of an answer do not date it', () => {
  const text = JSON.stringify({ created_at: 1, created: '1970-01-01T00:00:00Z' })
  expect(at(stream(60, text), streamed, true)).toBe(true)
  expect(at(response('completed', { text: text.repeat(9_000) }), facts)).toBe(true)
})

test('work that runs, failed polls, other texts and streams that did not end are not final', () => {
  for (const status of ['queued', 'in_progress', ''])
    expect(at(response(status), facts)).toBe(false)
  expect(at('{"error":{}}', { ...facts, outcome: 'provider_error' })).toBe(false)
  expect(at('not json', facts)).toBe(false)
  expect(at(stream(60).slice(0, 80), streamed, false)).toBe(false)
})
