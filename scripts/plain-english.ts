/** Words that make a sentence hard to read, and what to write instead. */
const words: readonly (readonly [RegExp, string])[] = [
  [
    /\b(so many|so much|as many as|of no use|no more\b(?! than)|any more|by and by|anew)\b/i,
    'name the amount or the time',
  ],
  [/\b(whoever|whatever|nobody|somebody)\b/i, 'name who or what'],
  [/\b(is|are|was|has|have) none\b/i, 'say that there is no …, or that it is empty'],
  [/\b(told|tells? (?:of|apart))\b/i, 'reported, listed, distinguished'],
  [/\b(stands?|stood)\b(?! for\b)/i, 'is, is listed, is stored'],
  [/\b(out of reach|is away|are away|went away)\b/i, 'unavailable'],
  [/\b(set apart|buried|burial)\b/i, 'dead-lettered'],
  [/\blaps?\b/i, 'iteration'],
  [/^What\b(?!-).*[^?]$/, 'begin with the noun'],
  [/\b(from which on|in vain|for want of|at first sight|of its own making)\b/i, 'say it plainly'],
]

/** A sentence to rewrite. */
export type HardToRead = { text: string; instead: string }

/** Returns the texts that use a word of the list. Code in backticks and quoted names are skipped. */
export function findHardToRead(texts: Iterable<string>): HardToRead[] {
  const found: HardToRead[] = []
  for (const text of texts) {
    const prose = text.replaceAll(/`[^`]*`|"[\w-]+"/g, '')
    const word = words.find(([pattern]) => pattern.test(prose))
    if (word !== undefined) found.push({ text: text.trim().slice(0, 160), instead: word[1] })
  }
  return found
}

/** Returns the lines of comments of a source file, without their marks. */
export function commentsIn(source: string): string[] {
  return source
    .split('\n')
    .filter((line) => /^\s*(\/\*\*|\*|\/\/)/.test(line))
    .map((line) => line.replace(/^\s*(\/\*\*|\*\/|\*|\/\/)\s*/, ''))
}

/** Returns the string literals of a source file that hold a sentence: four words or more. */
export function sentencesIn(source: string): string[] {
  return source
    .split('\n')
    .filter((line) => !/^\s*(\/\*\*|\*|\/\/)/.test(line))
    .flatMap((line) => [...line.matchAll(/'((?:[^'\\]|\\.)*)'|"([^"]*)"|`([^`]*)`/g)])
    .map(([, single, double, template]) => single ?? double ?? template ?? '')
    .filter((text) => text.trim().split(/\s+/).length >= 4)
}
