import type { ToolUse } from '../contract.ts'
import { digestOf, masked_chars_max, maskVolatile } from '../reading/digests.ts'
import { stripReminders } from '../reading/harness-texts.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import { holdText, lengthIfCut, type RunState } from '../run-state.ts'
import { findFault, isGuessedFault } from './tool-fault.ts'

/** A result found in a call. */
export type CallResult = Pick<
  HistoryMessage,
  'text' | 'tool_call_id' | 'tool_name' | 'is_error'
> & {
  /** Content is off: only the id is known. */
  is_hidden?: boolean
}

type HeldResult = Pick<ToolUse, 'result' | 'masked' | 'out' | 'result_chars'>

/** Keeps the arguments of a tool use. */
export function holdArguments(
  state: RunState,
  text: string,
): Pick<ToolUse, 'arguments' | 'arguments_chars'> {
  const held = holdText(state, text)
  const { chars } = lengthIfCut(text, held)
  return chars === undefined ? { arguments: held } : { arguments: held, arguments_chars: chars }
}

/** Keeps the result of a tool use, and finds whether the tool failed. */
export function holdResult(
  state: RunState,
  reported: Pick<CallResult, 'text' | 'is_error' | 'is_hidden'>,
  { name, arguments: args }: Pick<ToolUse, 'name' | 'arguments'>,
): HeldResult & Pick<ToolUse, 'fault' | 'is_guessed'> {
  if (reported.is_hidden === true) return { result: null, masked: null, out: null, fault: null }
  const { is_error } = reported
  const use = { tool: name, arguments: args ?? '', is_error, span_error: undefined }
  const fault = findFault(reported.text, use)
  const held = { ...holdResultText(state, reported.text), fault }
  return fault !== null && isGuessedFault(reported.text, use) ? { ...held, is_guessed: true } : held
}

/** Keeps the text of a result, and its masked form and digest, which ignore volatile tokens. */
export function holdResultText(state: RunState, text: string): HeldResult {
  const result = holdText(state, text)
  const masked = maskVolatile(stripReminders(text))
  const isSame = masked === text
  const out = digestOf(masked)
  const { chars } = lengthIfCut(text, result)
  const whole = chars === undefined ? {} : { result_chars: chars }
  if (isSame) return { result, masked: result, out, ...whole }
  return { result, masked: holdText(state, masked.slice(0, masked_chars_max)), out, ...whole }
}
