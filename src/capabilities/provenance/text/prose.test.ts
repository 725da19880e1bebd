import { expect, test } from 'vitest'
import { sentencesOf } from './prose.ts'

test.each([
  ['The U.S. market is open. It closes at 5 p.m. today.', 2],
  ['Ship it to the U.K. office, e.g. on Monday. Thanks.', 2],
  ['Dr. Kim lives at 3 Main St. in Kiel! Really?', 2],
])('abbreviations do not end a sentence: %s', (text, count) => {
  expect(sentencesOf(text)).toHaveLength(count)
})
