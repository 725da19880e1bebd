import { expect, test } from 'vitest'
import { endsStream, streamEnd_bytes } from './stream-end.ts'

const lastOf = (stream: string) => Buffer.from(stream).subarray(-streamEnd_bytes)

test.each(['data: [DONE]\n\n', 'data:[DONE]\r\n\r\n', 'data: {"id":"c"}\n\ndata: [DONE]\n\n'])(
  '%j is an end',
  (stream) => {
    expect(endsStream(lastOf(stream))).toBe(true)
  },
)

test.each(['', 'data: {"content":"data: [DONE]"}\n\n', 'data: [DONE]\n\ndata: {"id":"c"}\n\n'])(
  '%j is none',
  (stream) => {
    expect(endsStream(lastOf(stream))).toBe(false)
  },
)
