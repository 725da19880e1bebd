/** A limit that the words around a number state. */
export type Bound = 'at least' | 'at most' | 'more than' | 'less than'

export type Hedges = { bound: Bound | undefined; isAbout: boolean }

const bounds: readonly (readonly [pattern: RegExp, bound: Bound])[] = [
  [
    /(?:\b(?:at least|a minimum of|no less than|not less than|mindestens|au moins|al menos)|≥)\W{0,4}$/i,
    'at least',
  ],
  [
    /(?:\b(?:no more than|not more than|at most|up to|a maximum of|höchstens|bis zu|maximal|jusqu'à|hasta)|≤)\W{0,4}$/i,
    'at most',
  ],
  [
    /(?:(?<!\p{L})(?:more than|over|above|exceed(?:s|ing)|mehr als|über|plus de|más de)|>)\W{0,4}$/iu,
    'more than',
  ],
  [
    /(?:(?<!\p{L})(?:less than|fewer than|under|below|weniger als|unter|moins de|menos de)|<)\W{0,4}$/iu,
    'less than',
  ],
]
const about =
  /(?:(?<!\p{L})(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|just|well|close to|circa|ca\.|rund|etwa|ungefähr|environ|unos|unas|cerca de)|~|≈)\W{0,4}$/iu

const hedge_chars = 32

/** Reads what the words around a number, from `start` to `end`, say about it. */
export function readHedges(text: string, start: number, end: number): Hedges {
  const before = text.slice(Math.max(0, start - hedge_chars), start)
  const stated = bounds.find(([pattern]) => pattern.test(before))?.[1]
  return {
    bound: stated ?? readBoundBehind(text.slice(end, end + 16)),
    isAbout: about.test(before),
  }
}

function readBoundBehind(after: string): Bound | undefined {
  const isMinimum = /^\+|^\W{0,2}(?:or more|oder mehr|ou plus)/i.test(after)
  return isMinimum ? 'at least' : undefined
}
