import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyCapture, endsStream, streamEndBytes } from './bodies.ts'

const tail_bytes = 64 * 1024

test('keeps a body below the limit unchanged, and a single chunk uncopied', () => {
  const chunk = Buffer.from('all of it')
  const capture = new BodyCapture(100)
  capture.add(chunk)
  expect(capture.truncated).toBe(false)
  expect(capture.take()).toBe(chunk)
})

test('keeps head and tail of any longer body', () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(200_000)), { maxLength: 8 })
  fc.assert(
    fc.property(fc.nat(1000), sizes, (head_bytes_max, chunkSizes) => {
      const body = Buffer.alloc(chunkSizes.reduce((sum, size) => sum + size, 0))
      for (let at = 0; at < body.length; at += 1) body[at] = (at * 31 + (at >> 8)) & 0xff
      const capture = new BodyCapture(head_bytes_max)
      let at = 0
      for (const size of chunkSizes) {
        capture.add(body.subarray(at, at + size))
        at += size
      }
      const fits = body.length <= head_bytes_max + tail_bytes
      const tail = body.subarray(Math.max(body.length - tail_bytes, 0))
      expect(capture.bytes).toBe(body.length)
      expect(capture.truncated).toBe(!fits)
      expect(capture.last(32).equals(body.subarray(-32))).toBe(true)
      const expected = fits ? body : Buffer.concat([body.subarray(0, head_bytes_max), tail])
      expect(capture.take().equals(expected)).toBe(true)
    }),
    { numRuns: 150 },
  )
})

test('is empty after `take`', () => {
  const capture = new BodyCapture(4)
  capture.add(Buffer.from('123456'))
  capture.take()
  expect(capture.take()).toHaveLength(0)
})

const lastOf = (stream: string, event: Parameters<typeof endsStream>[1]) =>
  Buffer.from(stream).subarray(-streamEndBytes[event])

const stopped = 'event: message_stop\ndata: {"type":"message_stop"               }\n\n'
const completed = 'event: response.completed\ndata: {"type":"response.completed"}\n\n'

test.each([
  ['done', 'data: [DONE]\n\n'],
  ['done', 'data:[DONE]\r\n\r\n'],
  ['done', 'data: {"id":"c"}\n\ndata: [DONE]\n\n'],
  ['done', ': keep-alive\r\n\r\nevent: done\r\ndata: [DONE]\r\n\r\n'],
  ['message_stop', stopped],
  ['message_stop', `event: ping\ndata: {}\n\n${stopped.replaceAll('\n', '\r\n')}`],
  ['response_end', completed],
  ['response_end', `event: x\ndata: {}\n\n${completed.replace('completed', 'incomplete')}`],
  ['response_end', completed.replace('{', `{"text":"${'x'.repeat(100_000)}",`)],
  ['response_end', `${completed}data: [DONE]\n\n`],
] as const)('%s: %j is an end', (event, stream) => {
  expect(endsStream(lastOf(stream, event), event)).toBe(true)
})

test.each([
  ['done', ''],
  ['done', 'data: {"content":"data: [DONE]"}\n\n'],
  ['done', 'data: [DONE]\n\ndata: {"id":"c"}\n\n'],
  ['message_stop', 'data: {"text":"event: message_stop"}\n\n'],
  ['message_stop', stopped.slice(0, -2)],
  ['message_stop', `${stopped}event: error\ndata: {}\n\n`],
  ['response_end', 'event: response.created\ndata: {}\n\n'],
  ['response_end', completed.slice(0, -1)],
] as const)('%s: %j is not an end', (event, stream) => {
  expect(endsStream(lastOf(stream, event), event)).toBe(false)
})
