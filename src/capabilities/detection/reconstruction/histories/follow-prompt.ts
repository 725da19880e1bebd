import { readAddedObservation } from '../reading/harness-texts.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import type { Head } from './heads.ts'

/** A prompt that replaces the prompt of the last call. */
export type WrittenPrompt = {
  head: Head
  /** The new prompt. */
  prompt: HistoryMessage
  /** The part of the prompt about the last answer: its result. */
  report: string
}

const said_chars_min = 16
/** Browser Use sends one message with its whole history, the task and the page. */
const rolling = /^\s*<agent_history>/
const page = /<browser_state>([\s\S]*?)(?:<\/browser_state>|$)/

/**
 * Finds the history whose last message became another one. ReAct agents add the answer and its
 * observation to the prompt, and Browser Use replaces its message. Undefined if the earlier
 * messages differ, or the last one is another text.
 */
export function findWrittenPrompt(
  heads: readonly Head[],
  messages: readonly HistoryMessage[],
): WrittenPrompt | undefined {
  const prompt = messages.at(-1)
  if (prompt?.role !== 'user') return undefined
  for (const head of heads.toReversed()) {
    if (head.prompt === '' || head.digests.length !== messages.length) continue
    const report = head.left_by === undefined ? readReport(head, prompt.text) : undefined
    const isSame = (digest: string, at: number) => digest === messages[at]?.digest
    if (report !== undefined && head.digests.slice(0, -1).every(isSame)) {
      return { head, prompt, report }
    }
  }
  return undefined
}

function readReport({ prompt, answer }: Head, text: string): string | undefined {
  const said = answer?.reported
  if (said === undefined) return undefined
  if (rolling.test(text) && rolling.test(prompt)) return page.exec(text)?.[1] ?? ''
  const before = prompt.trimEnd()
  const words = said.text.trim()
  if (words.length < said_chars_min || !text.startsWith(before)) return undefined
  const added = text.slice(before.length).trimStart()
  if (!added.startsWith(words)) return undefined
  // Without an observation the prompt can be a talk with a person.
  return readAddedObservation(added.slice(words.length))?.replace(thought, '').trim()
}

/** The words with which a prompt asks for the next thought. */
const thought = /\n[ \t]*Thought:\s*$/
