import {
  isForbiddenKey,
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { ToolCall } from '../../../../model/observation.ts'
import type { Growing } from '../answer/merge-delta.ts'

/** Most steps of a path, and most values of one call. */
const steps_max = 32
const values_max = 10_000

/**
 * Assembles the arguments of a call that Gemini streams piece by piece: each piece has a path
 * (`$.recipe.steps[1]`) and a value, and pieces of text at one path are joined.
 */
export class PartialArguments {
  #call: ToolCall | undefined
  #root: Growing = {}
  #values = 0

  /** Takes a piece of a call. Returns false for a call that is not streamed in pieces. */
  take(call: JsonObject, calls: ToolCall[]): boolean {
    const isOpen = this.#call !== undefined
    const name = textFrom(call['name'])
    const isPiece = call['partialArgs'] !== undefined || call['willContinue'] === true
    if (!isPiece && !(isOpen && name === '')) return false
    if (name !== '' || !isOpen) {
      this.finish()
      this.#call = { id: textFrom(call['id']), name, arguments: '{}' }
      calls.push(this.#call)
    }
    for (const piece of itemsOf(call['partialArgs'])) this.#add(objectFrom(piece))
    if (call['willContinue'] !== true) this.finish()
    return true
  }

  /** Ends the open call with what came of its arguments. */
  finish(): void {
    if (this.#call === undefined) return
    this.#call.arguments = jsonText(this.#root)
    this.#call = undefined
    this.#root = {}
    this.#values = 0
  }

  #add(piece: JsonObject | undefined): void {
    const path = pathOf(textFrom(piece?.['jsonPath']))
    if (piece === undefined || path === undefined || ++this.#values > values_max) return
    const value = pieceValue(piece)
    if (value !== undefined) setAt(this.#root, path, value)
  }
}

type Step = string | number

function pathOf(text: string): Step[] | undefined {
  const steps = [...text.matchAll(/\.([^.[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]/g)].map(
    ([, name, index, quoted]): Step =>
      index === undefined ? (name ?? quoted ?? '') : Number(index),
  )
  const isSafe = steps.every((step) => typeof step === 'number' || !isForbiddenKey(step))
  return steps.length > 0 && steps.length <= steps_max && isSafe ? steps : undefined
}

function pieceValue(piece: JsonObject): unknown {
  const { stringValue, numberValue, boolValue } = piece
  if ('nullValue' in piece) return null
  return stringValue ?? numberValue ?? boolValue
}

/** Sets the value at a path, and makes what is missing on the way. */
function setAt(root: Growing, path: readonly Step[], value: unknown): void {
  let holder: Growing = root
  for (const [at, step] of path.entries()) {
    if (!canHold(holder, step)) return
    const next = path[at + 1]
    const known = holder[step]
    if (next === undefined) {
      const isJoined = typeof known === 'string' && typeof value === 'string'
      holder[step] = isJoined ? known + value : value
      return
    }
    const isHolder = typeof known === 'object' && known !== null
    if (!isHolder) holder[step] = typeof next === 'number' ? [] : {}
    holder = holder[step] as Growing
  }
}

/**
 * A list grows by one item at a time: a provider could otherwise name an index, or `length`, that makes
 * a list of any size.
 */
function canHold(holder: Growing, step: Step): boolean {
  return !Array.isArray(holder) || (typeof step === 'number' && step <= holder.length)
}
