/**
 * Buffers in which bodies are joined, used again: a new one of a megabyte for each request costs
 * more, in fresh pages and in work of the garbage collector, than to fill it. Kept for the next
 * bodies are at most `free_bytes_max`.
 */
export type BodyBuffers = {
  /** A buffer of at least `length` bytes; of what is in it nothing is known. */
  take(length: number): Buffer
  /** Nobody may look at a buffer that was given back. */
  give(buffer: Buffer): void
}

const smallest_bytes = 128 * 1024
const largest_bytes = 8 * 1024 * 1024

/** Sizes are powers of two; a body beyond the largest one gets a buffer of its own. */
export function createBodyBuffers(free_bytes_max: number): BodyBuffers {
  const free = new Map<number, Buffer[]>()
  let free_bytes = 0
  return {
    take(length) {
      if (length > largest_bytes) return Buffer.allocUnsafeSlow(length)
      const size_bytes = sizeFor(length)
      const buffer = free.get(size_bytes)?.pop()
      if (buffer === undefined) return Buffer.allocUnsafeSlow(size_bytes)
      free_bytes -= size_bytes
      return buffer
    },
    give(buffer) {
      const size_bytes = buffer.length
      if (size_bytes > largest_bytes || free_bytes + size_bytes > free_bytes_max) return
      const alike = free.get(size_bytes)
      if (alike === undefined) free.set(size_bytes, [buffer])
      else alike.push(buffer)
      free_bytes += size_bytes
    },
  }
}

function sizeFor(length: number): number {
  let size_bytes = smallest_bytes
  while (size_bytes < length) size_bytes *= 2
  return size_bytes
}
