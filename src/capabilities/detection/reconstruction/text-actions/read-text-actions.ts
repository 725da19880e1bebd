import { readCodeActions } from './code-actions.ts'
import { readJsonActions } from './json-actions.ts'
import { readPageActions } from './page-actions.ts'
import { readRunnerActions, readTagActions } from './tag-actions.ts'
import {
  action_chars_max,
  actions_max,
  isSpeech,
  type TextAction,
  type TextFormat,
  toArguments,
} from './text-action.ts'

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

/** `Action:`, `Action 2:`, `**Action:**`, `> act:`, `Action - `. */
const label = /^[ \t>*_#-]*(?:action|act|tool|aktion|acción)(?: ?#?\d{1,3})?[ \t*_]*:[ \t*_]*/im
const inputLabel =
  /^[ \t>*_]*(?:(?:action|tool)[ _]?inputs?|action arguments?|inputs?|arguments?|args|parameters?|eingabe|entrada)[ \t*_]*:[ \t*_]*/im
const observationLabel =
  /^[ \t>*_]*(?:obs|observation|beobachtung|observación)(?: ?#?\d{1,3})?[ \t*_]*:[ \t*_]*/im
/** Labels after which the words of the model go on. */
const nextLabel =
  /^[ \t>*_]*(?:thoughts?|think|final answer|answer|reflection|plan|question|action|act|tool|gedanke|antwort|pensamiento|respuesta)(?: ?#?\d{1,3})?[ \t*_]*:/im

/** Reads the actions of ReAct: a label, a name and its input, perhaps with an observation. */
function readLabelledActions(text: string, format: TextFormat | undefined): TextAction[] {
  const actions: TextAction[] = []
  const [first = '', ...later] = text.split(new RegExp(observationLabel.source, 'gim'), actions_max)
  let own = first
  for (const part of [...later, undefined]) {
    const action = readOwnAction(own, format)
    const at = part === undefined ? -1 : (nextLabel.exec(part)?.index ?? part.length)
    const observation = part?.slice(0, at).trim()
    if (action !== undefined) {
      actions.push(
        observation === undefined || observation === '' ? action : { ...action, observation },
      )
    }
    own = part === undefined ? '' : part.slice(at)
  }
  return actions
}

/** Reads the first action of a part without observations. */
function readOwnAction(part: string, format: TextFormat | undefined): TextAction | undefined {
  const head = label.exec(part)
  if (head === null) return format === undefined ? undefined : readSignedLine(part, format)
  const rest = part.slice(head.index + head[0].length)
  const input = inputLabel.exec(rest)
  if (input !== null) {
    const name = toName(rest.slice(0, input.index))
    const given = cutWords(rest.slice(input.index + input[0].length))
    return name === undefined ? undefined : toAction(name, unfence(given))
  }
  return readValue(cutWords(rest).trim())
}

/** Cuts what follows an action: the next label. */
function cutWords(text: string): string {
  const at = nextLabel.exec(text)?.index
  return at === undefined ? text : text.slice(0, at)
}

const name_chars_max = 128
const signature = /^[`"']?([\p{L}_][\w.-]{0,63})[`"']? ?[[(]([\s\S]*)[\])][.`*_]*$/u
const command = /^[`"']?([\p{L}_][\w.-]{0,63})[`"']?(?:[:;,]?[ \t]+(.{1,500}))?$/u
/** Words with which a sentence begins, not an action. */
const sentence =
  /^(?:i|we|the|a|an|no|none|n\/a|nothing|let|let's|now|then|since|it|this|that|you)$/i

function readValue(value: string): TextAction | undefined {
  if (value[0] === '{' || value.startsWith('```')) return readJsonActions(value, undefined)[0]
  const [line = ''] = value.split('\n', 1)
  const signed = signature.exec(value) ?? signature.exec(line.trim())
  const [, name = '', input = ''] = signed ?? command.exec(line.trim()) ?? []
  if (name === '' || sentence.test(name) || isSpeech(name)) return undefined
  return toAction(name, input)
}

/** Reads the line of a tool whose signature the instructions show, such as `search[query]`. */
function readSignedLine(part: string, { signatures }: TextFormat): TextAction | undefined {
  const text = part.trimEnd()
  const line = text.slice(text.lastIndexOf('\n') + 1).trim()
  const [, name = '', input = ''] = signature.exec(line) ?? []
  return signatures.has(name) ? toAction(name, input) : undefined
}

function toName(text: string): string | undefined {
  const name = text.trim().replaceAll(/^[`"'*_[]+|[`"'*_\]]+$/g, '')
  const isName = name !== '' && name.length <= name_chars_max && !name.includes('\n')
  return isName && !isSpeech(name) ? name : undefined
}

function toAction(name: string, input: string): TextAction {
  return { name, args: toArguments(input) }
}

/** Removes the code fence around an input. */
function unfence(text: string): string {
  const found = /^\s*```[\w-]{0,16}\n([\s\S]*?)\n?```\s*$/.exec(text)
  return found?.[1] ?? text
}
