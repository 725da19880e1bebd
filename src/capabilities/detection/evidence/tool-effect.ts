import type { ToolUse } from '../reconstruction/contract.ts'
import { remember } from './remember.ts'
import { isReadOnlyShell } from './shell-command.ts'
import { argumentsOf, commandOf, wordsOfTool } from './tool-words.ts'

/** What a call does to the world. */
export type ToolEffect = 'reads' | 'changes'

/**
 * Reads the effect of a call from its name and arguments: what a shell runs, the statement of a
 * query, the method of a request, else the first verb of the name; of a name without a known verb
 * (`hotel_reviews`) from its result, which a change acknowledges. Waiting counts as a change,
 * because after it another answer may be right.
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
  const verb = words.find((word) => reading.has(word) || changing.has(word))
  if (verb === 'run') return words.some((word) => checks.has(word)) ? 'reads' : 'changes'
  if (verb === undefined) return saysDone(result) ? 'changes' : 'reads'
  return reading.has(verb) ? 'reads' : 'changes'
}

const acknowledgement_chars_max = 80
const acknowledgement =
  /^\W{0,4}(ok|done|success|accepted)\b|\b(created|updated|saved|deleted|written|sent|added|removed|moved|booked|cancelled|edited)\b|"(ok|success)": ?true/i

/** Whether a call changes something and its result says no more than that it did. */
export function isAcknowledged(use: ToolUse): boolean {
  return effectOfTool(use) === 'changes' && saysDone(use.result)
}

function saysDone(result: string | null): boolean {
  return (
    result !== null && result.length <= acknowledgement_chars_max && acknowledgement.test(result)
  )
}

const checks = wordSet('test tests lint linter check checks query search')

const reading = wordSet(
  'get list read search find fetch view query lookup look describe show check count grep glob ls cat ' +
    'retrieve load open inspect select head browse scrape summarize summarise translate calculate ' +
    'calc compute convert validate verify analyze analyse think recall logs log diff quote price ' +
    'weather forecast geocode stock balance schema info details history status poll promql metrics',
)

const changing = wordSet(
  'add append apply approve assign back book buy cancel change charge checkout click clear close ' +
    'commit complete continue copy create delete deploy disable download drag drop edit enable ' +
    'execute exec fill forward goto insert install invite issue login logout mark merge modify move ' +
    'navigate next notify order patch pay place post press publish purchase push put refund register ' +
    'reject reload remove rename replace reply reserve reset restart restore return roll run save ' +
    'schedule scroll select_option send set sleep start step stop submit subscribe swipe transfer ' +
    'type undo unsubscribe update upload upsert wait write hover handoff str_replace replace',
)

function wordSet(words: string): Set<string> {
  return new Set(words.split(' '))
}
