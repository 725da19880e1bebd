import { mentions, sentencesOf, wordsOf } from '../../../provenance/text/index.ts'
import type { DeclaredTool, Message, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { callOf } from '../finding-parts.ts'
import { remember } from '../remember.ts'
import { argumentsOf } from '../tools/tool-words.ts'
import { isHedged, isWish } from './needs.ts'

/** An argument for which the user had named another of its choices. */
type OtherChoice = { said: Message; quote: string; taken: string; wanted: string }

/**
 * Finds an argument that takes one of several choices, of which the user had asked for another one: the
 * system text names them (“window or aisle”), or the schema of the tool lists them.
 */
export function findOtherChoice(
  run: TaskRun,
  use: ToolUse,
  before: readonly Message[],
): OtherChoice | undefined {
  const groups = groupsOf(run, use, before)
  for (const [key, value] of Object.entries(argumentsOf(use))) {
    if (typeof value !== 'string') continue
    const taken = value.toLowerCase()
    const group = groups.find((one) => (one.key ?? key) === key && one.choices.has(taken))
    if (group === undefined || before.some((one) => isSpoken(one) && mentions(one.text, taken)))
      continue
    const others = [...group.choices].filter((choice) => choice !== taken && choice.length > 2)
    const found = findWish(before, others)
    if (found !== undefined) return { ...found, taken }
  }
  return undefined
}

function isSpoken({ role }: Message): boolean {
  return role === 'user' || role === 'assistant'
}

function findWish(before: readonly Message[], others: readonly string[]) {
  for (const said of before) {
    if (said.role !== 'user' || said.is_harness === true) continue
    for (const quote of sentencesOf(said.text)) {
      const isWanted = isWish(quote) && !isHedged(quote)
      const wanted = isWanted ? others.find((choice) => mentions(quote, choice)) : undefined
      if (wanted !== undefined) return { said, quote, wanted }
    }
  }
  return undefined
}

/** Choices of which one excludes the others; of an argument, if its schema lists them. */
type Choices = { choices: ReadonlySet<string>; key?: string }

function groupsOf(run: TaskRun, use: ToolUse, before: readonly Message[]): readonly Choices[] {
  const step = run.steps[use.step ?? -1]
  const declared = step && callOf(run, step)?.tools?.find(({ name }) => name === use.name)
  const told = before.flatMap((said) => (said.role === 'system' ? choicesIn(said) : []))
  return declared === undefined ? told : [...choicesOfSchema(declared), ...told]
}

const choicesOfSchema = remember(({ schema }: DeclaredTool): readonly Choices[] =>
  Object.entries(Object(schema?.['properties'])).flatMap(([key, property]) => {
    const listed: unknown = Object(property).enum
    const words = Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : []
    return words.length < 2
      ? []
      : [{ key, choices: new Set(words.map((one) => one.toLowerCase())) }]
  }),
)

/** Reads the choices of a system text: two words, or more between commas, with an “or”. */
const choicesIn = remember(({ text }: Message): readonly Choices[] =>
  [...text.slice(0, text_chars_max).matchAll(alternatives)].map(([list]) => ({
    choices: new Set(wordsOf(list).filter((word) => !joining.has(word))),
  })),
)

const text_chars_max = 8_000
const alternatives =
  /(?<!\p{L})\p{L}{3,20}(?:, \p{L}{3,20}){0,5},? (?:or|oder|ou|o) \p{L}{3,20}(?!\p{L})/giu
const joining = new Set(['or', 'oder', 'ou', 'o'])
