/** A field that holds text, a message or bytes. Absent when empty, as proto3 has it. */
export function lengthField(field: number, content: string | Uint8Array): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (bytes.length === 0) return Buffer.alloc(0)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

/** A field that holds a whole number, 0 to 2^53 - 1. Absent when 0, as proto3 has it. */
export function numberField(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}
