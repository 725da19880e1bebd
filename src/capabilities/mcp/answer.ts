import { fence } from './fence.ts'
import { fitJson } from './fit-json.ts'

/** Maximum characters of the recorded data in one answer of a tool: some 6,000 tokens. */
export const answer_characters_max = 24_000

/** The content of a tool's answer, for the protocol. */
export type ToolAnswer = { content: { type: 'text'; text: string }[]; isError?: true }

/** Writes the result of a tool: its data inside a fence, and how to get what was left out. */
export function answerWith(
  result: unknown,
  more: string,
  characters_max = answer_characters_max,
): ToolAnswer {
  const { text, characters, is_cut, items_cut } = fitJson(result, characters_max)
  const lines = [fence(text), `cut: ${is_cut}`]
  if (is_cut) lines.push(`The whole result has ${characters} characters. ${more}`)
  if (items_cut) {
    lines.push(
      'Items of lists were left out: repeat the call with a smaller limit before a cursor.',
    )
  }
  return { content: [{ type: 'text', text: lines.join('\n') }] }
}

/** Writes the error of a tool. */
export function answerWithFault(message: string): ToolAnswer {
  return { content: [{ type: 'text', text: message }], isError: true }
}
