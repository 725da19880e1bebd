/**
 * Returns whether a text matches a glob: `*` matches any characters, `?` one character (a code point,
 * as in the stores). The time is at most the product of both lengths, so that a hostile pattern
 * cannot stall the process.
 */
export function matchesGlob(text: string, glob: string): boolean {
  return matches(characters(text), characters(glob))
}

const astral = /[\ud800-\udfff]/

/** Splits a text into code points where it has any that are two UTF-16 code units. */
function characters(text: string): ArrayLike<string> {
  return astral.test(text) ? [...text] : text
}

function matches(text: ArrayLike<string>, glob: ArrayLike<string>): boolean {
  let [at, of] = [0, 0]
  // The last `*`, and the text position up to which it matches.
  let [star, starTo] = [-1, 0]
  while (at < text.length) {
    if (glob[of] === '*') {
      star = of
      starTo = at
      of += 1
    } else if (of < glob.length && (glob[of] === '?' || glob[of] === text[at])) {
      at += 1
      of += 1
    } else if (star >= 0) {
      starTo += 1
      at = starTo
      of = star + 1
    } else return false
  }
  while (glob[of] === '*') of += 1
  return of === glob.length
}
