/** Bytes that a length takes as LEB128. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  return value < 0x1000_0000 ? 4 : 5
}

/** Writes a length as LEB128, as ClickHouse has them; returns where it ends. */
export function putVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let position = at
  while (rest >= 0x80) {
    bytes[position++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 128)
  }
  bytes[position++] = rest
  return position
}
