import { wordsOfTool } from '../../evidence/tool-words.ts'

/**
 * What a tool does, as far as its name says: `effect` changes something outside, `once` does so anew
 * each time it runs (a second mail, a second booking), `end` hands the task's result over.
 */
export type ToolNature = { isEffect: boolean; isOnce: boolean; isShell: boolean; isEnd: boolean }

/** Reads the name of a tool, such as `get_order`, `sendEmail` or `github.create_issue`. */
export function natureOfTool(name: string): ToolNature {
  const before = known.get(name)
  if (before !== undefined) return before
  if (known.size >= known_max) known.clear()
  const nature = readName(name)
  known.set(name, nature)
  return nature
}

/** Runs ask for the same few tools over and over. */
const known = new Map<string, ToolNature>()
const known_max = 1_024

function readName(name: string): ToolNature {
  const words = wordsOfTool(name)
  const isShell = words.some((word) => shellWords.has(word))
  const isEnd = isEnding(words)
  const isEffect = !isShell && !isEnd && isEffectful(words)
  const isOwn = words.some((word) => scratch.has(word)) || (words.length === 1 && isBare(words[0]))
  const isOnce = isEffect && !isOwn && !words.some((word) => settingWords.has(word))
  return { isEffect, isOnce, isShell, isEnd }
}

/** The verb comes first, and a name that ends as a question does asks: `order_status`. */
function isEffectful(words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  if (asking.has(last)) return false
  const verb = words.find((word) => isEffectWord(word) || reading.has(word))
  return verb !== undefined && !reading.has(verb)
}

function isEffectWord(word: string): boolean {
  return onceWords.has(word) || settingWords.has(word)
}

function isEnding(words: readonly string[]): boolean {
  if (words.some((word) => endWords.has(word))) return true
  const [first, second] = words
  if (first === 'transfer') return second === 'to'
  if (first === 'submit') return second === undefined || outcomes.has(second)
  const isOfTask = words.includes('task') || words.includes('completion')
  return isOfTask && words.some((word) => word.startsWith('complet') || word === 'end')
}

const shellWords = wordSet('bash shell terminal exec execute command cmd powershell console python')

const outcomes = wordSet('answer final patch result results solution report')

const endWords = wordSet(
  'finish finished done final terminate exit handoff answer respond structured ask conclude',
)

const reading = wordSet(
  'get list search find query read fetch check lookup look show describe view count preview ' +
    'validate estimate inspect calculate compute think verify test ls cat grep glob open browse ' +
    'scrape retrieve parse summarize translate convert analyze simulate is has',
)

const asking = wordSet(
  'status list search history preview quote lookup count details info query draft estimate',
)

/** Done again, these are done once more. */
const onceWords = wordSet(
  'send email sms notify publish post tweet book reserve order buy purchase pay charge refund ' +
    'transfer withdraw deposit issue invite schedule create insert append payment process place submit',
)

/** Done again, these leave things as they are, or say so. */
const settingWords = wordSet(
  'add update edit write patch set put save delete remove drop cancel move rename upload deploy ' +
    'replace merge commit push install apply modify change exchange return register subscribe ' +
    'approve reject enable disable restart reset assign close',
)

/** Said alone, these are of editors: `create` makes a file, `insert` puts lines into it. */
function isBare(word: string | undefined): boolean {
  return word === 'create' || word === 'insert' || word === 'append' || word === 'post'
}

/** What an agent keeps for itself, or does to a page or a file: twice harms nobody. */
const scratch = wordSet(
  'plan todo todos note notes memory thought draft temp session branch log file files directory ' +
    'folder keys key text input click tab window page element http request api query line',
)

function wordSet(words: string): Set<string> {
  return new Set(words.split(' '))
}
