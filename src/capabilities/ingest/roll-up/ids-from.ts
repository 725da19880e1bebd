const digits = 12
const numbers = 2 ** (4 * digits)

/**
 * Ids that follow one after the other from a UUIDv7, itself the first: as unique as that one, which
 * begins anywhere among 2^48, and much cheaper than a new one each, of which a batch may need
 * ten thousand.
 */
export function idsFrom(first: string): () => string {
  const head = first.slice(0, -digits)
  let next = Number.parseInt(first.slice(-digits), 16)
  return () => {
    const id = head + next.toString(16).padStart(digits, '0')
    next = (next + 1) % numbers
    return id
  }
}
