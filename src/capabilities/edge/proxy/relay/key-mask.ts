/**
 * Replaces a key in the bytes of an answer by as many asterisks. It holds back only an end that may
 * be the start of the key, so that streams are not delayed.
 */
export class KeyMask {
  readonly #key: Buffer
  #held: Buffer = Buffer.alloc(0)

  constructor(key: string) {
    this.#key = Buffer.from(key, 'latin1')
  }

  /** Bytes that are held back. */
  get held_bytes(): number {
    return this.#held.length
  }

  /** Returns the bytes that can go on. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const masked = this.#masked(bytes)
    const held = this.#startAtEnd(masked)
    this.#held = masked.subarray(masked.length - held)
    return masked.subarray(0, masked.length - held)
  }

  /** Returns the bytes that were held back. */
  end(): Buffer {
    const rest = this.#held
    this.#held = Buffer.alloc(0)
    return rest
  }

  #masked(bytes: Buffer): Buffer {
    let at = bytes.indexOf(this.#key)
    if (at === -1) return bytes
    const copy = Buffer.from(bytes)
    for (; at !== -1; at = copy.indexOf(this.#key, at)) copy.fill('*', at, at + this.#key.length)
    return copy
  }

  /** Returns the length of the longest end that is a start of the key. */
  #startAtEnd(bytes: Buffer): number {
    const longest = Math.min(bytes.length, this.#key.length - 1)
    for (let length = longest; length > 0; length -= 1) {
      const start = this.#key.subarray(0, length)
      if (bytes.subarray(bytes.length - length).equals(start)) return length
    }
    return 0
  }
}
