/**
 * The data of each event of a stream: parsed JSON, but `[DONE]` as text. Newlines may be LF or
 * CRLF.
 */
export function dataOf(body: Buffer): unknown[] {
  return body
    .toString('utf8')
    .split(/\r?\n\r?\n/)
    .map((event) => event.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .filter((lines) => lines.length > 0)
    .map((lines) =>
      lines
        .map((line) => line.slice(5))
        .join('\n')
        .trim(),
    )
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)))
}

/** A chat completion chunk, with the fields that tests read. */
export type Chunk = {
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[]
  usage?: { total_tokens: number } | null
}

/** The chunks of a streamed chat completion, without `[DONE]`. */
export function chunksOf(body: Buffer): Chunk[] {
  return dataOf(body).filter((data) => data !== '[DONE]') as Chunk[]
}

/** Concatenates the text of one choice of a stream. */
export function contentOf(body: Buffer, index = 0): string {
  const choices = chunksOf(body).flatMap((chunk) => chunk.choices)
  const mine = choices.filter((choice) => choice.index === index)
  return mine.map((choice) => choice.delta['content'] ?? '').join('')
}
