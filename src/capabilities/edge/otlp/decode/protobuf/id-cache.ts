const hexDigits = Buffer.from('0123456789abcdef')
/** Span ids to remember: parents, which come with each of their children. A power of two. */
const spanIds = 256

/**
 * Ids as text, from their bytes. The last trace id and some span ids are remembered, since spans
 * come in traces and below the same parents. An id of zeros is none: ''.
 */
export class IdCache {
  private readonly trace = new Int32Array(4)
  private traceText = ''
  private readonly spans = new Int32Array(spanIds * 2)
  private readonly spanTexts = new Array<string>(spanIds).fill('')
  private readonly scratch = Buffer.alloc(36)

  /** The 16 bytes at `at` as a UUID, lower case. */
  traceId(bytes: Buffer, view: DataView, at: number): string {
    const a = view.getInt32(at, true)
    const b = view.getInt32(at + 4, true)
    const c = view.getInt32(at + 8, true)
    const d = view.getInt32(at + 12, true)
    const last = this.trace
    if (last[0] === a && last[1] === b && last[2] === c && last[3] === d) return this.traceText
    if ((a | b | c | d) === 0) return ''
    last[0] = a
    last[1] = b
    last[2] = c
    last[3] = d
    this.traceText = this.uuid(bytes, at)
    return this.traceText
  }

  /** The 8 bytes at `at` as 16 hex digits, lower case. */
  spanId(bytes: Buffer, view: DataView, at: number): string {
    const a = view.getInt32(at, true)
    const b = view.getInt32(at + 4, true)
    const place = (a ^ Math.imul(b, 0x9e37_79b1)) & (spanIds - 1)
    if (this.spans[place * 2] === a && this.spans[place * 2 + 1] === b) {
      return this.spanTexts[place] as string
    }
    if ((a | b) === 0) return ''
    this.spans[place * 2] = a
    this.spans[place * 2 + 1] = b
    const text = this.hex(bytes, at)
    this.spanTexts[place] = text
    return text
  }

  private uuid(bytes: Buffer, at: number): string {
    const scratch = this.scratch
    let to = 0
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) scratch[to++] = 0x2d
      const byte = bytes[at + i] as number
      scratch[to++] = hexDigits[byte >> 4] as number
      scratch[to++] = hexDigits[byte & 15] as number
    }
    return scratch.toString('latin1', 0, 36)
  }

  private hex(bytes: Buffer, at: number): string {
    const scratch = this.scratch
    for (let i = 0; i < 8; i++) {
      const byte = bytes[at + i] as number
      scratch[i * 2] = hexDigits[byte >> 4] as number
      scratch[i * 2 + 1] = hexDigits[byte & 15] as number
    }
    return scratch.toString('latin1', 0, 16)
  }
}
