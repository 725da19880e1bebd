import type { Segment } from '../sentence/segments.ts'
import { signs, type Topic, topics } from '../vocabulary/topics.ts'

/** A topic in a segment, with its position. */
export type TopicHit = { topic: Topic; start: number; end: number; said: string }

const signTopics = signs.map(
  ([marks, words]): Topic => ({ slot: `sign:${marks}`, some: 'some', none: 'none', words }),
)
const letter =
  "(?:the )?(?:letters?|vowel|consonant|buchstaben?|letra|lettre|字母)(?: of the alphabet)? ?(?:⟦\\d+⟧|[\"'(]?\\p{L}(?![\\p{L}\\p{N}']))"
const all: readonly (Topic & { pattern: RegExp })[] = [
  ...topics,
  ...signTopics,
  { slot: 'letter', none: 'none', words: letter },
].map((topic) => ({ ...topic, pattern: patternOf(topic.words) }))

function patternOf(words: string): RegExp {
  return new RegExp(
    `(?<![\\p{Script=Latin}\\p{N}_-])(?:${words})(?![\\p{Script=Latin}\\p{N}_])`,
    'iuy',
  )
}

const anyTopic = new RegExp(all.map(({ pattern }) => pattern.source).join('|'), 'giu')

/** Finds the topics of a text from left to right; at each place, the longest. */
export function findTopics(text: string): TopicHit[] {
  const found: TopicHit[] = []
  anyTopic.lastIndex = 0
  for (let hit = anyTopic.exec(text); hit !== null; hit = anyTopic.exec(text)) {
    const longest = topicsAt(text, hit.index)
    found.push(...longest)
    anyTopic.lastIndex = Math.max(hit.index + 1, longest[0]?.end ?? 0)
  }
  return found
}

function topicsAt(text: string, start: number): TopicHit[] {
  let longest: TopicHit[] = []
  for (const topic of all) {
    topic.pattern.lastIndex = start
    const said = topic.pattern.exec(text)?.[0]
    if (said === undefined) continue
    const hit = { topic, start, end: start + said.length, said }
    const end = longest[0]?.end ?? 0
    if (hit.end > end) longest = [hit]
    else if (hit.end === end) longest.push(hit)
  }
  return longest
}

/** Finds quoted marks: no "?", no "—" or ";"; and bare ones: "the characters # and $". */
export function findMarks(segment: Segment): TopicHit[] {
  const { text } = segment
  const bare = /(?<!\p{L})(?:characters?|signs?|symbols?)(?!\p{L})/iu.test(text)
    ? [...text.matchAll(/(?<=^|[\s(])[#$%&*@~^+=<>|](?=[\s,.;)]|$)/g)]
    : [
        ...text.matchAll(
          /(?<=(?:these|those|your|the|any|no) )[;…–—*#](?= (?:things?|ones?|marks?)(?!\p{L}))/giu,
        ),
      ]
  const marks = bare.map(
    ({ 0: said, index }): TopicHit => ({
      topic: { slot: `sign:${said}`, none: 'none', words: '' },
      start: index,
      end: index + 1,
      said,
    }),
  )
  return [...marks, ...findQuotedMarks(segment)]
}

function findQuotedMarks({ text, phrases }: Segment): TopicHit[] {
  return [...text.matchAll(/⟦(\d+)⟧/g)].flatMap(({ 0: said, 1: at, index }) => {
    const phrase = phrases[Number(at)] ?? ''
    if (!/^[^\p{L}\p{N}\s⟦]{1,3}$/u.test(phrase)) return []
    return {
      topic: { slot: `sign:${phrase}`, none: 'none', words: '' },
      start: index,
      end: index + said.length,
      said,
    }
  })
}
