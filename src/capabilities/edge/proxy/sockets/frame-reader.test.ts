import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClientMessages } from './client-messages.ts'
import { FrameFault, FrameReader } from './frame-reader.ts'
import { closeFrame, opcodes, textFrame, unmask } from './frames.ts'

type Frame = { opcode: number; isFinal: boolean; payload: Uint8Array }
type Read = { opcode: number; payload: string }

/** Writes a frame the simple way, with the length in its longest form. */
function written({ opcode, isFinal, payload }: Frame, mask: Buffer | undefined): Buffer {
  const head = Buffer.alloc(10)
  head[0] = (isFinal ? 0x80 : 0) | opcode
  head[1] = (mask ? 0x80 : 0) | 127
  head.writeBigUInt64BE(BigInt(payload.length), 2)
  const plain = Buffer.from(payload)
  if (opcode >= opcodes.close) {
    const short = Buffer.from([head[0], (mask ? 0x80 : 0) | payload.length])
    return Buffer.concat(mask ? [short, mask, unmask(plain, mask, 0)] : [short, plain])
  }
  return Buffer.concat(mask ? [head, mask, unmask(plain, mask, 0)] : [head, plain])
}

const control = fc.record({
  opcode: fc.constantFrom(opcodes.ping, opcodes.pong),
  payload: fc.uint8Array({ maxLength: 125 }),
})
const message = fc.record({
  opcode: fc.constantFrom(opcodes.text, opcodes.binary),
  parts: fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.option(control)), {
    minLength: 1,
    maxLength: 4,
  }),
})

/** The frames of messages, with control frames between the parts. */
function framesOf(messages: readonly (typeof message extends fc.Arbitrary<infer T> ? T : never)[]) {
  const frames: Frame[] = []
  const expected: Read[] = []
  for (const { opcode, parts } of messages) {
    for (const [index, [payload, between]] of parts.entries()) {
      const isFinal = index === parts.length - 1
      frames.push({ opcode: index === 0 ? opcode : opcodes.continuation, isFinal, payload })
      if (isFinal) {
        const whole = Buffer.concat(parts.map(([part]) => part))
        expected.push({ opcode: 0, payload: whole.toString('hex') })
      }
      if (between === null) continue
      frames.push({ ...between, isFinal: true })
      const payloadText = Buffer.from(between.payload).toString('hex')
      expected.push({ opcode: between.opcode, payload: payloadText })
    }
  }
  return { frames, expected }
}

/** Cuts bytes at any places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length]
  let start = 0
  return ends
    .sort((a, b) => a - b)
    .map((end) => {
      const piece = bytes.subarray(start, end)
      start = end
      return piece
    })
}

const cases = [fc.array(message, { maxLength: 5 }), fc.array(fc.nat()), fc.boolean()] as const

test('frames are read as they were written, in any pieces', () => {
  const property = fc.property(...cases, (messages, places, isMasked) => {
    const { frames, expected } = framesOf(messages)
    const mask = isMasked ? Buffer.from([1, 200, 3, 77]) : undefined
    const bytes = Buffer.concat(frames.map((frame) => written(frame, mask)))
    const read: Read[] = []
    let parts: Buffer[] = []
    const reader = new FrameReader(
      { isMasked, message_bytes_max: 10_000 },
      {
        part: (payload) => parts.push(payload),
        message: () => {
          read.push({ opcode: 0, payload: Buffer.concat(parts).toString('hex') })
          parts = []
        },
        control: ({ opcode, payload }) => read.push({ opcode, payload: payload.toString('hex') }),
      },
    )
    for (const piece of cutAt(bytes, places)) reader.push(piece)
    expect(read).toEqual(expected)
    expect(reader.isAtBoundary).toBe(true)
  })
  fc.assert(property)
})

test('the units of a client are its bytes, in any pieces', () => {
  const property = fc.property(cases[0], cases[1], (messages, places) => {
    const { frames } = framesOf(messages)
    const mask = Buffer.from([9, 8, 7, 6])
    const bytes = Buffer.concat(frames.map((frame) => written(frame, mask)))
    const reader = new ClientMessages(10_000)
    const units = cutAt(bytes, places).flatMap((piece) => reader.take(piece))
    expect(Buffer.concat(units.map(({ raw }) => raw))).toEqual(bytes)
    const payloads = units.flatMap(({ payload }) => (payload ? [payload.toString('hex')] : []))
    const whole = messages.map(({ parts }) => Buffer.concat(parts.map(([part]) => part)))
    expect(payloads).toEqual(whole.map((one) => one.toString('hex')))
  })
  fc.assert(property)
})

test.each([
  ['an extension', [0xc1, 0x00], 1002],
  ['a mask of a server', [0x81, 0x80], 1002],
  ['a continuation of nothing', [0x80, 0x00], 1002],
  ['a message inside a message', [0x01, 0x00, 0x81, 0x00], 1002],
  ['an unknown opcode', [0x83, 0x00], 1002],
  ['a control frame in parts', [0x09, 0x00], 1002],
  ['a control frame that is too long', [0x89, 126, 0, 126], 1002],
  ['a message that is too long', [0x81, 101], 1009],
  ['parts that are too long', [0x01, 100, ...Buffer.alloc(100), 0x80, 1], 1009],
])('%s is a fault', (_name, bytes, code) => {
  const sink = { part: () => undefined, message: () => undefined, control: () => undefined }
  const reader = new FrameReader({ isMasked: false, message_bytes_max: 100 }, sink)
  const fault = (() => {
    try {
      return reader.push(Buffer.from(bytes))
    } catch (error) {
      return error
    }
  })()
  expect(fault).toBeInstanceOf(FrameFault)
  expect(fault).toHaveProperty('close_code', code)
})

test.each([0, 1, 125, 126, 65_535, 65_536])('our text frame of %i bytes is read', (length) => {
  const parts: Buffer[] = []
  const sink = { part: (part: Buffer) => parts.push(part), message: () => undefined }
  const limits = { isMasked: false, message_bytes_max: 100_000 }
  const reader = new FrameReader(limits, { ...sink, control: () => undefined })
  reader.push(textFrame('x'.repeat(length)))
  expect(Buffer.concat(parts).toString()).toBe('x'.repeat(length))
  expect(reader.isAtBoundary).toBe(true)
})

test.each(['client', 'server'] as const)('our close frame of a %s is read', (sender) => {
  const read: string[] = []
  const reader = new FrameReader(
    { isMasked: sender === 'client', message_bytes_max: 1 },
    {
      part: () => undefined,
      message: () => undefined,
      control: ({ payload }) => read.push(`${payload.readUInt16BE()} ${payload.subarray(2)}`),
    },
  )
  reader.push(closeFrame(1001, 'the end', sender))
  expect(read).toEqual(['1001 the end'])
})
