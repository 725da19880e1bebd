/** Ends of sentences: a line break, or a mark before a space. */
const ends = /\n|[.!?](?!\S)/g
/** The same, and the borders of cells. */
const cellEnds = /[\n|]|[.!?](?!\S)/g

/** Returns the last sentence of a text, which may go on behind it. Linear, unlike a search for its end. */
export function openSentence(text: string, { inCell = false } = {}): string {
  let start = 0
  for (const { index } of text.matchAll(inCell ? cellEnds : ends)) start = index + 1
  return text.slice(start)
}
