import type { BlobContent } from '../contract.ts'

/**
 * The bytes of a content in pieces of exactly `part_bytes`, the last one shorter; at most one piece
 * is in memory. `seen` is told of every chunk as it comes.
 */
export async function* partsOf(
  content: BlobContent,
  part_bytes: number,
  seen: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  let kept: Uint8Array[] = []
  let length = 0
  const keep = (bytes: Uint8Array) => {
    kept.push(bytes)
    length += bytes.length
  }
  const taken = () => {
    const part = Buffer.concat(kept, length)
    kept = []
    length = 0
    return part
  }
  for await (const chunk of content) {
    seen(chunk)
    let rest = chunk
    while (length + rest.length >= part_bytes) {
      const missing = part_bytes - length
      keep(rest.subarray(0, missing))
      yield taken()
      rest = rest.subarray(missing)
    }
    if (rest.length > 0) keep(rest)
  }
  if (length > 0) yield taken()
}
