import { randomBytes } from 'node:crypto'

/** Opcodes of WebSocket frames (RFC 6455, 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Codes of close frames (RFC 6455, 7.4.1). */
export const closeCodes = {
  going_away: 1001,
  protocol_error: 1002,
  too_big: 1009,
  try_later: 1013,
} as const

/** Maximum bytes of the payload of a control frame. */
export const maxControlPayloadBytes = 125

/** Returns a text frame of a server. */
export function textFrame(text: string): Buffer {
  return frame(opcodes.text, Buffer.from(text), false)
}

/** Returns a close frame; a client masks its frames, a server does not. */
export function closeFrame(code: number, reason: string, sender: 'client' | 'server'): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
  payload.writeUInt16BE(code)
  payload.write(reason, 2)
  return frame(opcodes.close, payload, sender === 'client')
}

function frame(opcode: number, payload: Buffer, isMasked: boolean): Buffer {
  const head = Buffer.concat([Buffer.from([0x80 | opcode]), lengthBytes(payload.length, isMasked)])
  if (!isMasked) return Buffer.concat([head, payload])
  const mask = randomBytes(4)
  return Buffer.concat([head, mask, unmask(payload, mask, 0)])
}

function lengthBytes(length: number, isMasked: boolean): Buffer {
  const bit = isMasked ? 0x80 : 0
  if (length <= maxControlPayloadBytes) return Buffer.from([bit | length])
  const bytes = Buffer.alloc(length <= 0xffff ? 3 : 9)
  bytes[0] = bit | (length <= 0xffff ? 126 : 127)
  if (length <= 0xffff) bytes.writeUInt16BE(length, 1)
  else bytes.writeBigUInt64BE(BigInt(length), 1)
  return bytes
}

/** Returns bytes with a mask applied, or removed; `at` is the position of the first in its frame. */
export function unmask(bytes: Buffer, mask: Buffer, at: number): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length)
  for (let i = 0; i < bytes.length; i += 1) {
    plain[i] = (bytes[i] ?? 0) ^ (mask[(at + i) & 3] ?? 0)
  }
  return plain
}
