/** A claim with its place in the answer, in UTF-16 offsets. */
type Placed = { claim_id: string; text: string; at: readonly number[] }

/** A part of the answer: text between claims, or the text of one claim. */
export type AnswerPart<C> = { key: string; text: string; claim: C | undefined }

/**
 * Finds the answer in the recorded output of a model: the text with the claims at their offsets.
 * An output can be a text, or JSON with it inside. Undefined if the content is not recorded.
 */
export function findAnswer(
  output: string,
  chars: number,
  claims: readonly Placed[],
): string | undefined {
  return textsIn(output).find(
    (text) =>
      text.length === chars &&
      claims.every((each) => text.slice(each.at[0], each.at[1]) === each.text),
  )
}

const depth_max = 12

function textsIn(output: string): string[] {
  const texts = [output]
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null && depth < depth_max) {
      for (const child of Object.values(value)) visit(child, depth + 1)
    }
  }
  try {
    visit(JSON.parse(output), 0)
  } catch {
    // A plain text.
  }
  return texts
}

/** Splits an answer at its claims. A claim that overlaps an earlier one is left out. */
export function splitAnswer<C extends Placed>(
  answer: string,
  claims: readonly C[],
): AnswerPart<C>[] {
  const sorted = claims.toSorted((one, other) => (one.at[0] ?? 0) - (other.at[0] ?? 0))
  const parts: AnswerPart<C>[] = []
  let shown = 0
  for (const claim of sorted) {
    const [start = 0, end = 0] = claim.at
    if (start < shown || end <= start || end > answer.length) continue
    if (start > shown) {
      parts.push({ key: String(shown), text: answer.slice(shown, start), claim: undefined })
    }
    parts.push({ key: claim.claim_id, text: answer.slice(start, end), claim })
    shown = end
  }
  if (shown < answer.length) {
    parts.push({ key: String(shown), text: answer.slice(shown), claim: undefined })
  }
  return parts
}
