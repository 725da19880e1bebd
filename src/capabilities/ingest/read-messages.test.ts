import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { observationsIn } from '../../../test/support/decode-rows.ts'
import { plainFacts } from '../../../test/support/exchange-facts.ts'
import type { ExchangeFacts } from '../../model/exchange.ts'
import { compressedFrameOf, exchangeParts, frameOf } from '../../model/exchange-frame.ts'
import { createPricing } from '../records/pricing/index.ts'
import { readMessage } from './read-messages.ts'

const nothing = async () => {}
const countTokens = (text: string) => text.length
const partsOf = (given: object) =>
  exchangeParts({
    facts: { ...plainFacts, observation_id: 'o1', ...given } as ExchangeFacts,
    request: Buffer.from('{"messages":[]}'),
    response: Buffer.from('{}'),
  })
function read(data: Uint8Array, given: { countTokens?: typeof countTokens } = {}) {
  return readMessage(
    {
      id: 'm1',
      subject: 'ingest.p',
      data,
      attempt: 1,
      ack: nothing,
      retry: nothing,
      bury: nothing,
    },
    {
      pricing: createPricing(),
      countTokens,
      response_bytes_max: 1_000,
      frame_bytes_max: 100_000,
      ...given,
    },
  )
}

test('every exchange of a frame is a row that names its message', () => {
  const frame = frameOf([...partsOf({}), ...partsOf({ observation_id: 'o2' })])
  const { rows, faults } = read(frame)
  const stored = observationsIn(rows.bytes)
  expect(stored.map((row) => [row.observation_id, row.message_id])).toEqual([
    ['o1', 'm1'],
    ['o2', 'm1'],
  ])
  expect(faults).toEqual([])
})

test('a compressed frame is read, unless it exceeds the limit', () => {
  const small = Buffer.concat(partsOf({}))
  expect(read(compressedFrameOf(zstdCompressSync(small))).rows.kinds).toEqual(['observations'])
  const large = zstdCompressSync(Buffer.alloc(200_000))
  expect(read(compressedFrameOf(large)).faults).toEqual([
    { reason: 'the frame does not decompress' },
  ])
})

test.each([
  ['no bytes', Buffer.alloc(0), /version/],
  ['another version', Buffer.from([9, 0]), /version 9/],
  ['a cut frame', frameOf(partsOf({})).subarray(0, -3), /longer than its frame/],
  [
    'facts that are not JSON',
    frameOf([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('{')]),
    /not JSON/,
  ],
])('%s: no rows, one fault', (_name, data, fault) => {
  const message = read(data)
  expect(message.rows.kinds).toEqual([])
  expect(message.faults).toEqual([{ reason: expect.stringMatching(fault) }])
})

test('a trace id may be any 16 bytes, also with other UUID versions', () => {
  const trace_id = '5b8efff7-9803-f103-0269-b633813fc60c'
  const { rows, faults } = read(frameOf(partsOf({ trace_id })))
  expect(observationsIn(rows.bytes).map((row) => row.trace_id)).toEqual([trace_id])
  expect(faults).toEqual([])
})

describe('facts that cannot be stored', () => {
  test.each([
    ['project_id', { project_id: 'p' }],
    ['trace_id', { trace_id: '' }],
    ['observation_id', { observation_id: '' }],
    ['observation_id', { observation_id: 'o'.repeat(65) }],
    ['parent_observation_id', { parent_observation_id: 'o'.repeat(65) }],
    ['start_time', { start_time: 'now' }],
    ['start_time', { start_time: 1 }],
    ['end_time', { end_time: '9999999999999999999' }],
    ['first_token_time', { first_token_time: 5 }],
    ['outcome', { outcome: 'fine' }],
    ['content_state', { content_state: '' }],
    ['endpoint', { endpoint: 'x' }],
    ['streamed', { streamed: 1 }],
    ['status_code', { status_code: -1 }],
    ['request_bytes', { request_bytes: 1.5 }],
    ['user_id', { user_id: null }],
    ['attributes', { attributes: [] }],
  ])('%s: the other exchanges are read', (field, given) => {
    const { rows, faults } = read(frameOf([...partsOf(given), ...partsOf({})]))
    expect(rows.kinds).toEqual(['observations'])
    expect(faults).toEqual([
      { reason: expect.stringMatching(new RegExp(`^exchange 0: ${field}: `)) },
    ])
  })
})

test('when reading the content fails, the call is recorded without it', () => {
  const failing = (): number => {
    throw new RangeError('broken tokenizer')
  }
  const { rows, faults } = read(frameOf(partsOf({})), { countTokens: failing })
  expect(faults).toEqual([])
  expect(observationsIn(rows.bytes)[0]).toMatchObject({
    input: '',
    content_state: 'dropped',
    usage_source: 'none',
    attributes: { 'mapping.error': 'RangeError' },
  })
})
