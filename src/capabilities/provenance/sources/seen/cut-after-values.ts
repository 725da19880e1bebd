import { numberWords } from '../../values/index.ts'

/** Starts of what may be a value: digits, an e-mail address, a path. */
const mark = /\d+|[@/]/g

/**
 * Cuts a text behind its first `max` values, so that a table of millions of numbers takes bounded
 * time and memory. The count is an estimate: a date counts as three numbers.
 */
export function cutAfterValues(text: string, max: number): { text: string; values: number } {
  const marks = countUpTo(text, mark, max)
  const words = countUpTo(marks.text, numberWords, max - marks.count)
  return { text: words.text, values: marks.count + words.count }
}

function countUpTo(text: string, pattern: RegExp, max: number): { text: string; count: number } {
  let count = 0
  for (const { index } of text.matchAll(pattern)) {
    if (count >= max) return { text: text.slice(0, index), count }
    count += 1
  }
  return { text, count }
}
