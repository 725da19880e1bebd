import type { SentCall, SentMessage } from './sent-history.ts'

/** The latest turn of a person in the history of a call. */
export type UserTurn = {
  /** Number of the turn, from 1; 0 if no person speaks in the history. */
  number: number
  /** The words of the person in the turn. */
  text: string
  /** The words of the person in the first turn. */
  first_text: string
  /** The first tool call of an answer since the turn began. */
  first_call: SentCall | undefined
  /**
   * The first answer since the turn began, if it has no tool call: only text of a harness can follow it
   * in the same turn. Empty without one.
   */
  first_answer: string
  /** The history has an answer of the model. */
  has_answer: boolean
}

/**
 * Finds the latest turn in the messages of a request. A message of a person starts a turn, together
 * with those that follow it directly. Text right after the result of a tool continues the turn: the
 * model has not answered yet, so that it comes from the harness. The same holds for reminders of a
 * harness wherever they are.
 */
export function findUserTurn(messages: readonly SentMessage[]): UserTurn {
  const turn: UserTurn = {
    number: 0,
    text: '',
    first_text: '',
    first_call: undefined,
    first_answer: '',
    has_answer: false,
  }
  let last: SentMessage['role'] = 'assistant'
  for (const message of messages) {
    if (message.role === 'other') continue
    if (message.role === 'user') {
      const said = message.texts.map(personsText).filter((text) => text !== '')
      if (last === 'tool' || (said.length === 0 && !message.hasMedia)) continue
      takeText(turn, said, last === 'user')
    } else if (message.role === 'assistant') {
      turn.has_answer = true
      turn.first_call ??= message.calls[0]
      turn.first_answer ||= message.texts.join('').trim()
    }
    last = message.role
  }
  return turn
}

function takeText(turn: UserTurn, said: readonly string[], continues: boolean): void {
  if (!continues) {
    turn.number += 1
    turn.first_call = undefined
    turn.first_answer = ''
  }
  turn.text = [...(continues ? [turn.text] : []), ...said].join('\n')
  if (turn.number === 1) turn.first_text = turn.text
}

/** Returns what a person said in a text; empty for a text that a harness wrote. */
function personsText(text: string): string {
  const said = withoutReminders(text).trim()
  return harness.test(said) ? '' : said
}

const opening = '<system-reminder>'
const closing = '</system-reminder>'

/** Removes the reminders that a harness puts into messages. One without an end reaches to the end. */
function withoutReminders(text: string): string {
  let kept = ''
  let at = 0
  for (;;) {
    const from = text.indexOf(opening, at)
    if (from === -1) return kept + text.slice(at)
    kept += text.slice(at, from)
    const to = text.indexOf(closing, from)
    if (to === -1) return kept
    at = to + closing.length
  }
}

/** Other words with which harnesses begin the text that they add to a history. */
const harness = /^(?:<environment_context>|<user_instructions>|\[system reminder\]|Observation:)/i
