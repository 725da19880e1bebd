import { jsonText, objectFrom, parsedJson } from '../../../../kernel/json-values.ts'

/** How an agent writes its actions, when it does not call tools by the API of its model. */
export type Dialect = 'labels' | 'tags' | 'json' | 'code' | 'page'

/** An action in an answer's text. `args` is JSON; `observation` is a result in the same text. */
export type TextAction = { name: string; args: string; observation?: string }

/** The form of an agent’s actions, as its instructions describe it. */
export type TextFormat = {
  /** Dialects that the instructions ask for. */
  dialects: ReadonlySet<Dialect>
  /** A dialect that they name without saying who runs it; what follows an answer decides. */
  likely: Dialect | undefined
  /** Words of the instructions as written: names of tools are among them. */
  words: ReadonlySet<string>
  /** Verbs of actions that are one line, as the instructions write them. */
  verbs: ReadonlySet<string>
  /** Names written with brackets, such as `search[query]`. */
  signatures: ReadonlySet<string>
  /** Languages of code blocks that run; empty: any language of commands. */
  languages: ReadonlySet<string>
  /** Keys of JSON that the instructions quote. */
  keys: ReadonlySet<string>
}

/** Maximum actions of one answer. */
export const actions_max = 64
/** Maximum characters read of an answer. */
export const action_chars_max = 16_384

/** Returns an input as the arguments of a call: an object as it is, any other text as `input`. */
export function toArguments(given: string): string {
  const input = given.trim()
  if (input === '') return '{}'
  if (input[0] === '{' && objectFrom(parsedJson(input)) !== undefined) return input
  return jsonText({ input })
}

/** Words that say what an answer is, not which tool it uses. */
const speech = new Set(
  (
    'answer ask say reply respond response report message text content final final_answer result ' +
    'output thought thoughts thinking think reasoning reason plan explanation note notes summary ' +
    'comment comments status error question clarify clarification observation none null no'
  ).split(' '),
)

/** Tells whether a key or tag holds words for a reader, so that it is not the name of a tool. */
export function isSpeech(name: string): boolean {
  return speech.has(
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  )
}
