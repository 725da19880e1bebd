/** A sentence as what it is about, and whether it says yes or no to it. */
export type Assertion = {
  sentence: string
  words: ReadonlySet<string>
  isYes: boolean
  numbers: readonly string[]
}

/** Returns the assertions of a text: questions, conditions and offers assert nothing. */
export function readAssertions(sentences: readonly string[]): Assertion[] {
  return sentences.flatMap((sentence) =>
    /[?？]$|\/\//.test(sentence) || conditional.test(sentence)
      ? []
      : sentence
          .split(
            /[;:–—]|, (?:so|as|and|but|weil|da|aber)? ?|(?: so| as| and| but) (?=(?:it|your|the|you|there|nothing)\b)/,
          )
          .flatMap(toAssertion),
  )
}

const conditional =
  /\b(?:if|unless|would|could|should|might|wenn|falls|si|only|but|except|yesterday|was down|now)\b/i

function toAssertion(clause: string): Assertion[] {
  const low = clause
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\bnon-/g, 'not ')
    .replace(/[\s.!…]+$/, '')
  if (!verb.test(low) && !/^\W*(?:closed|open|no)\b/.test(low)) return []
  let text = ` ${low.replace(/\b(?:at|in|with|for) (?:our|your) \p{L}+$/u, '')} `
  let isYes = true
  for (const { no, yes, turns } of opposites) {
    text = text.replace(no, () => {
      if (turns) isYes = !isYes
      return ` ${yes} `
    })
  }
  const tokens = (text.match(/[\p{L}\d][\p{L}\d'.,:-]*/gu) ?? []).map((token) =>
    token.replace(/[.,:]+$/, ''),
  )
  const numbers = tokens.filter((token) => /^\d{1,3}$/.test(token) || spelled.includes(token))
  const words = tokens.filter((token) => !numbers.includes(token) && !fillers.has(token))
  if (words.length < words_min) return []
  const values = numbers.map((token) => (/\d/.test(token) ? token : `${spelled.indexOf(token)}`))
  return [{ sentence: clause.trim(), words: new Set(words.map(stemOf)), isYes, numbers: values }]
}

const verb =
  /\b(?:is|are|was|were|has|have|had|can|cannot|do|does|need|takes?|costs?|appl(?:y|ies)|allows?|permits?|includes?|ist|sind|hat|kann|est|sont|peut|es|está|puede)\b|'s|'re|n't/

const words_min = 2
const spelled = 'zero one two three four five six seven eight nine ten'.split(' ')
const fillers = new Set(
  "a an the is are am be been was were it its it's we're you're that this there i you we they your our my of to for with in on at by from has have had do does did can will yes no sorry i'm afraid unfortunately please note also still just really always any then so not yet correct right way than as me ist sind es die der das ihre ja nein leider bitte auch the".split(
    ' ',
  ),
)

/** Words that say no, or the opposite, and what they say no to; each one turns the sentence. */
const opposites = (
  [
    ['out of stock|sold out', 'in stock'],
    ["cannot|can't|can not", 'can'],
    ["isn't|aren't|is not|are not|wasn't", ''],
    ["doesn't|don't|do not|does not|hasn't|haven't|has not|have not", ''],
    ['not|no|never|without|nicht|kein\\p{L}*|ne|pas|sin', ''],
    ['inactive', 'active'],
    ['closed', 'open'],
    ['rejected|declined', 'approved'],
    ['expired|has ended', 'valid'],
    ['off', 'on'],
    ['next (?:working |business )?day', 'same day'],
    ['in transit|on its way', 'delivered'],
    ['over(?= and| but|,|\\s*$)', 'running'],
    ['under warranty', 'warranty valid', 'stays'],
  ] as const
).map(([no, yes, stays]: readonly string[]) => ({
  no: new RegExp(`(?<!\\p{L})(?:${no})(?!\\p{L})`, 'gu'),
  yes: yes ?? '',
  turns: stays === undefined,
}))

function stemOf(word: string): string {
  return word.replace(/^(free) of charge$/, '$1').replace(/(?<=\p{L}{4})(?:ed|es|s|e|ing)$/u, '')
}

/** Words that restrict an assertion to a time, a place or a case. */
const qualifiers = new Set(
  'after before until during outside inside without nach vor bis après avant después antes'.split(
    ' ',
  ),
)

/**
 * Tells whether an assertion says the opposite of an earlier one, or gives a number that is not known,
 * with no word of its own that could make a difference.
 */
export function isTurned(
  now: Assertion,
  then: Assertion,
  isTold: (number: string) => boolean,
): boolean {
  if ([...now.words].some((word) => qualifiers.has(word) && !then.words.has(word))) return false
  const shared = [...now.words].filter((word) => then.words.has(word)).length
  const own = now.words.size - shared
  const isKnown = (number: string) => isTold(number) || isTold(spelled[Number(number)] ?? '')
  if (now.isYes !== then.isYes) {
    const isSame = shared >= words_min && (own === 0 || (shared > words_min && own === 1))
    return isSame && now.numbers.every(isKnown) && then.words.size <= shared + 3
  }
  const [number = '', ...more] = now.numbers
  const [other = number, ...others] = then.numbers
  if (!now.isYes || more.length + others.length > 0 || number === other) return false
  return (
    shared >= words_min &&
    own <= shared - words_min &&
    then.words.size <= shared + own &&
    !isKnown(number)
  )
}
