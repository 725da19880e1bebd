import type { ToolUse } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { argumentsOf, commandOf, isReadOnlyShell, toWordSet, wordsOfTool } from './tool-words.ts'

/** Effect of a call on the outside world. */
type ToolEffect = 'reads' | 'changes'

/**
 * Reads the effect of a call: from its shell command, query statement or request method, otherwise
 * from the first verb of its name. Without a known verb (`hotel_reviews`) the result decides: a
 * change is acknowledged. Waiting counts as a change, because the next answer can differ.
 */
export const effectOfTool = remember((use: ToolUse): ToolEffect => {
  const given = argumentsOf(use)
  return (
    effectOfStatement(given) ?? effectOfMethod(given) ?? effectOfCommand(use) ?? effectOfName(use)
  )
})

const statementKeys = ['sql', 'query', 'q', 'statement']

function effectOfStatement(given: Readonly<Record<string, unknown>>): ToolEffect | undefined {
  for (const key of statementKeys) {
    const value = given[key]
    if (typeof value !== 'string') continue
    const [verb = ''] = value.slice(0, 64).trimStart().toLowerCase().split(/\s+/)
    if (/^(select|show|describe|explain|with|pragma|match)$/.test(verb)) return 'reads'
    if (/^(insert|update|delete|drop|alter|create|truncate|merge|grant)$/.test(verb))
      return 'changes'
  }
  return undefined
}

function effectOfMethod({ method, command }: Readonly<Record<string, unknown>>) {
  if (typeof method === 'string') {
    if (/^(get|head|options)$/i.test(method)) return 'reads'
    if (/^(post|put|patch|delete)$/i.test(method)) return 'changes'
  }
  if (command === 'view') return 'reads'
  return undefined
}

function effectOfCommand(use: ToolUse): ToolEffect | undefined {
  const command = commandOf(use)
  if (command === undefined) return undefined
  return isReadOnlyShell(command) ? 'reads' : 'changes'
}

function effectOfName({ name, result }: ToolUse): ToolEffect {
  const words = wordsOfTool(name)
  const verb = words.find((word) => readingVerbs.has(word) || changingVerbs.has(word))
  if (verb === 'run') return words.some((word) => checkWords.has(word)) ? 'reads' : 'changes'
  if (verb === undefined) return saysDone(result) ? 'changes' : 'reads'
  return readingVerbs.has(verb) ? 'reads' : 'changes'
}

/** Tells whether the first known verb of a tool's name reads; false for a name without one. */
export function isReadingName(name: string): boolean {
  const verb = wordsOfTool(name).find((word) => readingVerbs.has(word) || changingVerbs.has(word))
  return verb !== undefined && readingVerbs.has(verb)
}

const acknowledgement_chars_max = 80
const acknowledgement =
  /^\W{0,4}(ok|done|success|accepted)\b|\b(created|updated|saved|deleted|written|sent|added|removed|moved|booked|cancelled|edited)\b|"(ok|success)": ?true/i

/** Tells whether a call changes something and its result is only an acknowledgement. */
export function isAcknowledged(use: ToolUse): boolean {
  return effectOfTool(use) === 'changes' && saysDone(use.result)
}

function saysDone(result: string | null): boolean {
  return (
    result !== null && result.length <= acknowledgement_chars_max && acknowledgement.test(result)
  )
}

const checkWords = toWordSet('test tests lint linter check checks query search')

const readingVerbs = toWordSet(
  'get list read search find fetch view query lookup look describe show check count grep glob ls cat ' +
    'retrieve load open inspect select head browse scrape summarize summarise translate calculate ' +
    'calc compute convert validate verify analyze analyse think recall logs log diff quote price ' +
    'weather forecast geocode stock balance schema info details history status poll promql metrics',
)

const changingVerbs = toWordSet(
  'add append apply approve assign back book buy cancel change charge checkout click clear close ' +
    'commit complete continue copy create delete deploy disable download drag drop edit enable ' +
    'execute exec fill forward goto insert install invite issue login logout mark merge modify move ' +
    'navigate next notify order patch pay place post press publish purchase push put refund register ' +
    'reject reload remove rename replace reply reserve reset restart restore return roll run save ' +
    'schedule scroll select_option send set sleep start step stop submit subscribe swipe transfer ' +
    'type undo unsubscribe update upload upsert wait write hover handoff str_replace replace',
)

/**
 * Nature of a tool as far as its name tells: `isEffect` changes something outside, `isOnce` does so
 * again with each run (a second mail, a second booking), `isEnd` delivers the task's result.
 */
type ToolNature = { isEffect: boolean; isOnce: boolean; isShell: boolean; isEnd: boolean }

/**
 * Reads the nature from a tool's name, such as `get_order`, `sendEmail` or `github.create_issue`.
 */
export function natureOfTool(name: string): ToolNature {
  const before = naturesByName.get(name)
  if (before !== undefined) return before
  if (naturesByName.size >= natures_max) naturesByName.clear()
  const nature = readName(name)
  naturesByName.set(name, nature)
  return nature
}

/** Cached by name, because runs use few different tools. */
const naturesByName = new Map<string, ToolNature>()
const natures_max = 1_024

function readName(name: string): ToolNature {
  const words = wordsOfTool(name)
  const isShell = words.some((word) => shellWords.has(word))
  const isEnd = isEnding(words)
  const isEffect = !isShell && !isEnd && isEffectful(words)
  const isOwn =
    words.some((word) => scratchWords.has(word)) || (words.length === 1 && isBare(words[0]))
  const isOnce = isEffect && !isOwn && !words.some((word) => settingWords.has(word))
  return { isEffect, isOnce, isShell, isEnd }
}

/**
 * Tells whether the first verb changes something; a name that ends in a noun of reading
 * (`order_status`) does not.
 */
function isEffectful(words: readonly string[]): boolean {
  if (endsInReading(words)) return false
  const verb = words.find((word) => isEffectWord(word) || readingWords.has(word))
  return verb !== undefined && !readingWords.has(verb)
}

/** Tells whether a name ends in a noun of what is read: `refund_state`, `cancellation_terms`. */
export function endsInReading(words: readonly string[]): boolean {
  return askingWords.has(words.at(-1) ?? '')
}

function isEffectWord(word: string): boolean {
  return onceWords.has(word) || settingWords.has(word)
}

function isEnding(words: readonly string[]): boolean {
  if (words.some((word) => endWords.has(word))) return true
  const [first, second] = words
  if (first === 'transfer') return second === 'to'
  if (first === 'stop') return second === undefined
  if (first === 'submit') return second === undefined || outcomeWords.has(second)
  const isOfTask = words.includes('task') || words.includes('completion')
  return isOfTask && words.some((word) => word.startsWith('complet') || word === 'end')
}

const shellWords = toWordSet(
  'bash shell terminal exec execute command cmd powershell console python',
)

const outcomeWords = toWordSet('answer final patch result results solution report')

const endWords = toWordSet(
  'finish finished done final terminate exit handoff answer respond structured ask conclude',
)

const readingWords = toWordSet(
  'get list search find query read fetch check lookup look show describe view count preview ' +
    'validate estimate inspect calculate compute think verify test ls cat grep glob open browse ' +
    'scrape retrieve parse summarize translate convert analyze simulate is has',
)

const askingWords = toWordSet(
  'status state progress list search history preview quote quotes lookup count details info query draft ' +
    'estimate options slots times availability eligibility policy rules terms fee fees cost costs price prices',
)

/** Verbs whose repetition has its effect again. */
const onceWords = toWordSet(
  'send email sms notify publish post tweet book reserve order buy purchase pay charge refund ' +
    'transfer withdraw deposit issue invite schedule create insert append payment process place submit',
)

/** Verbs whose repetition changes nothing, or is reported as such. */
const settingWords = toWordSet(
  'add update edit write patch set put save delete remove drop cancel move rename upload deploy ' +
    'replace merge commit push install apply modify change exchange return register subscribe ' +
    'approve reject enable disable restart reset assign close',
)

/**
 * Tells whether a verb alone names an editor's command: `create` makes a file, `insert` adds lines.
 */
function isBare(word: string | undefined): boolean {
  return word === 'create' || word === 'insert' || word === 'append' || word === 'post'
}

/** Objects of an agent's own workspace, of a page or of a file, where a repetition does no harm. */
const scratchWords = toWordSet(
  'plan todo todos note notes memory thought draft temp session branch log file files directory ' +
    'folder keys key text input click tab window page element http request api query line',
)
