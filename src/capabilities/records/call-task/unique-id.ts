/** Characters of a part of an id that can be random. */
const part_chars_min = 8

/**
 * Returns whether an id is made to be unique: one of its parts is long and not a word. Some servers
 * number the calls of a request (`call_1`, `functions.search:0`), and the numbers repeat.
 */
export function isUniqueId(id: string): boolean {
  if (id.length > 256) return false
  if (uuid.test(id)) return true
  return id.split(/[^A-Za-z0-9]+/).some(isRandom)
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

function isRandom(part: string): boolean {
  if (part.length < part_chars_min) return false
  const [letters] = part.split(/\d{1,3}$/, 1)
  return !words.test(letters ?? part)
}

/** `search`, `SEARCH`, `searchDocuments`, `SearchDocuments`, or only digits of a small number. */
const words = /^(?:[a-z]*(?:[A-Z][a-z]+)*|[A-Z]+|\d{1,9})$/
