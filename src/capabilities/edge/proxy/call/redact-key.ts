/** A shorter one is no key of any provider, and may be a word of the answer. */
const key_characters_min = 12
/** In a stream an error stands at the end; only that is searched, so that a stream costs 1 µs. */
const streamTail_bytes = 4_096

const redacted = Buffer.from('[redacted]')

/** What decides how much of an answer is searched. */
export type AnswerKind = { failed: boolean; streamed: boolean }

/**
 * The recorded copy of an answer without the caller's key for the provider: providers repeat a
 * wrong key in their errors. An error is searched whole, a stream at its end; any other answer is
 * no error and is handed back as it is. `authorization` is the header's value.
 */
export function withoutKey(answer: Buffer, authorization: string, kind: AnswerKind): Buffer {
  if (!kind.failed && !kind.streamed) return answer
  const key = authorization.replace(/^bearer +/i, '').trim()
  if (key.length < key_characters_min) return answer
  const from = kind.failed ? 0 : Math.max(0, answer.length - streamTail_bytes)
  const parts: Buffer[] = []
  let kept = 0
  for (let at = answer.indexOf(key, from, 'latin1'); at !== -1; ) {
    parts.push(answer.subarray(kept, at), redacted)
    kept = at + key.length
    at = answer.indexOf(key, kept, 'latin1')
  }
  return parts.length === 0 ? answer : Buffer.concat([...parts, answer.subarray(kept)])
}
