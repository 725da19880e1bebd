import { readCodeActions } from './code-actions.ts'
import { readJsonActions } from './json-actions.ts'
import { readLabelledActions } from './labelled-actions.ts'
import { readPageActions } from './page-actions.ts'
import { readRunnerActions, readTagActions } from './tag-actions.ts'
import { action_chars_max, actions_max, type TextAction, type TextFormat } from './text-action.ts'

/** Tells whether a text can have an action at all: most answers cannot. */
export function mayAct(said: string): boolean {
  const text = said.slice(0, action_chars_max)
  return possible.test(text) || text.trimEnd().slice(-end_chars).includes(')')
}

const possible = /\bact(?:ion)?\b[^\n]{0,12}:|[<{[`]|^[a-z_]+(?: \S.{0,200})?$|^[A-Z_]{3,}\b/im
const end_chars = 4

/**
 * Reads the actions of an answer in the dialects that the agent's instructions ask for; empty for an
 * answer that only talks.
 */
export function readTextActions(said: string, format: TextFormat): TextAction[] {
  const text = said.slice(0, action_chars_max)
  const { dialects } = format
  const isJson = dialects.has('json') && /^\s*(?:```(?:json)?\s*)?[{[]/.test(text)
  const readers = [
    () => (isJson ? readJsonActions(text, format) : []),
    () => (dialects.has('labels') ? readLabelledActions(text, format) : []),
    () => (dialects.has('tags') ? readTagActions(text, format) : []),
    () => (dialects.has('json') && !isJson ? readJsonActions(text, format) : []),
    () => (dialects.has('code') ? readCodeActions(text, format) : []),
    () => (dialects.has('page') ? readPageActions(text, format) : []),
  ]
  for (const read of readers) {
    const actions = read()
    if (actions.length > 0) return actions.slice(0, actions_max)
  }
  return []
}

/** Reads the actions of an answer in the dialect that the instructions only hint at. */
export function readLikelyActions(said: string, format: TextFormat): TextAction[] {
  if (format.likely !== 'code') return []
  const text = said.slice(0, action_chars_max)
  const actions = readCodeActions(text, format)
  return actions.length > 0 ? actions : readRunnerActions(text, format)
}

/**
 * Reads the action of an answer that a result written as text follows, without regard to the
 * instructions; undefined if it only talks. An observation in the answer itself was invented.
 */
export function readMarkedAction(said: string): TextAction | undefined {
  const text = said.slice(0, action_chars_max)
  const action =
    readLabelledActions(text, undefined)[0] ??
    readCodeActions(text, undefined)[0] ??
    readJsonActions(text, undefined)[0] ??
    readTagActions(text, undefined)[0]
  return action && { name: action.name, args: action.args }
}
